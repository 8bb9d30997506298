package terms

import (
	"fmt"
	"math"
	"strings"

	"covey/internal/frame"
	"covey/internal/proposal"
	"covey/internal/study"
)

// Privacy says what a plan's parameters mean, a sentence or more each.
func Privacy(p *study.Plan) []string {
	s, t := p.Proposal.Spec, p.Thresholds
	unit := "one row"
	if s.Unit != "" {
		unit = fmt.Sprintf("all rows with one value of %q at one site", s.Unit)
	}
	words := []string{
		fmt.Sprintf("Everything that this study releases is together (ε = %g, δ = %g)-differentially private under replacement of one unit (%s): "+
			"for anyone who sees it all and does not break the cryptography, the odds that one unit was yours and not any other change by a factor of at most e^ε = %.3g, up to δ. "+
			"A unit is %s; their number is public.", s.Epsilon, s.Delta, p.Adjacency, math.Exp(s.Epsilon), unit),
		"Of one person at several sites: " + study.AtSites(p.SitesPerUnit) + ".",
		fmt.Sprintf("It charges ρ = %.6g (by %s) to the population's budget, over at most %s in %s.", p.Rho, p.Curve(), frame.Count(p.Queries.Left(0), "query", "queries"), frame.Count(p.Rounds, "round", "rounds")),
		fmt.Sprintf("A sum is opened only over at least %d of the %d sites, and with %d sites' signatures and shares; %s.",
			t.MinSurvivors, t.Sites, t.Quorum, t.Collusion()),
		noiseWords(p),
	}
	if share := p.Shares().Standardize; share > 0 {
		words = append(words, fmt.Sprintf("The study learns the columns' constants: for %.3g%% of its ρ it counts every unit by the magnitude and the place of each column's value, and asks twice for each column's mean and square.", 100*share))
	}
	if share := p.Shares().Levels; share > 0 {
		words = append(words, fmt.Sprintf("The study scales levels by how many units have each: for %.3g%% of its ρ it counts every unit in one level of each column that has any, every other text as \"other\".", 100*share))
	}
	words = append(words, pictureWords(p)...)
	if s.Components == proposal.ComponentsAuto {
		words = append(words, fmt.Sprintf("The study finds how many components there are, up to %d: from what it releases in any case. It asks and charges the same whatever the number is.", p.K))
	}
	if s.Method != proposal.MethodPower {
		words = append(words, "Method: "+p.Method.Rule()+".")
	}
	switch {
	case s.Waits():
		words = append(words, `on_dropout = "wait": every sum is over all sites; this agent signs no other set.`)
	case t.Whole():
		words = append(words, fmt.Sprintf(`on_dropout = "continue", but every sum needs all %d sites, so a site that is away holds up the study.`, t.Sites))
	default:
		words = append(words, `on_dropout = "continue": sums go on without a site that is away.`)
	}
	if s.KeepsGaps() {
		text := "A cell without a value counts as the center. "
		if s.Missing == proposal.MissingFill {
			text = "A cell without a value is set to what released components predict from its row's other cells, here at the site. "
		}
		words = append(words, text+"A text that cannot be read counts as no value. The share of such cells in each column, over all sites, is released with noise.")
	}
	if n := indicators(s.Columns); n > 0 {
		words = append(words, fmt.Sprintf("For %d of the columns the study also asks where they have no value: one number per row, 1 there and 0 elsewhere, enters its components like a separate column.", n))
	}
	if s.Missing == proposal.MissingDropRow {
		words = append(words, "A row with a missing value counts as a row of zeros.")
	}
	return words
}

// pictureWords says what pictures show, and of whom; none where a study has none.
func pictureWords(p *study.Plan) []string {
	s := p.Proposal.Spec
	if !s.Picture {
		return nil
	}
	pairs := make([]string, len(s.PicturePairs))
	for i, pair := range s.PicturePairs {
		pairs[i] = fmt.Sprintf("%d and %d", pair[0], pair[1])
	}
	text := fmt.Sprintf("For %.3g%% of its ρ the study counts every unit by its score on each component, and on the components %s together.", 100*p.Proposal.Spec.PictureShare, strings.Join(pairs, ", "))
	if s.PictureBy == proposal.PictureByColumn {
		text += fmt.Sprintf(" The latter counts are by level of %q.", s.PictureColumn)
	}
	if p.Honest == 0 {
		text += " With central noise the coordinator's leader sees these counts exact, over all sites: a bin that holds one unit shows where one is."
	}
	words := []string{text}
	if s.PictureBy == proposal.PictureBySite {
		words = append(words, `IT SHOWS THIS INSTITUTION: picture_by = "site" releases each site's counts of scores by themselves, with noise. ε and δ protect units, not the site: what is usual here, and how it differs from other sites, is in the result. Blocks are not authenticated: a corrupt site can fill another's.`)
	}
	return words
}

// indicators returns how many columns have a coordinate for missing values.
func indicators(columns []proposal.Column) int {
	n := 0
	for _, c := range columns {
		if c.Indicator {
			n++
		}
	}
	return n
}

// centralDetail is what the leader reads, with central noise, of columns that are counted or scaled
// one by one.
const centralDetail = "the coordinator's leader can read this site's exact sums of what this site alone has: a column that is constant elsewhere, values in a unit of measurement of its own, its most extreme values"

func noiseWords(p *study.Plan) string {
	if p.Honest == 0 {
		text := "Noise is central: the coordinator's leader sees exact sums over all sites that take part, and is trusted with them; sites and analysts see noised ones."
		if p.Proposal.Spec.CentralDetail {
			text += " central_detail = true: columns are counted and scaled one by one, so that " + centralDetail + "."
		}
		return text
	}
	t := p.Thresholds
	text := fmt.Sprintf("Noise is distributed: this agent adds its share before masking, so that nobody sees an exact sum, the coordinator included; "+
		"the shares of %s in a sum over all %d carry all the noise that the privacy needs", frame.Count(t.Sites-max(t.Corrupt, 1), "honest site", "honest sites"), t.Sites)
	if p.Noise.Removes() {
		text += fmt.Sprintf(", down to %d in one over %d: this agent adds enough for that, and lets the coordinator take away what more sites do not need", p.Honest, t.MinSurvivors)
	}
	return text + ". " + poolWords(p)
}

// poolWords says what sites learn that pool what they know, without the coordinator: each takes its
// own share off the released noise. Of h = |U| - max(η, 1) shares that carry the planned variance c
// then leave c/h of it, for h/c times the ρ.
func poolWords(p *study.Plan) string {
	few, all := p.Honest, p.Thresholds.Sites-max(p.Thresholds.Corrupt, 1)
	if all == 1 {
		return "Sites that pool what they know see no less noise: one honest site's share is all of it."
	}
	text := fmt.Sprintf("If %d or more sites pool what they know, without the coordinator, they see less noise", max(p.Thresholds.Corrupt, 1)+1)
	if few > 1 {
		text += fmt.Sprintf(": %d/%d of the planned variance, and the other sites' units then pay %.3g times the ρ", few-1, few, float64(few)/float64(few-1))
	}
	if all > 2 || few == 1 {
		text += fmt.Sprintf("; if all sites but one do, 1/%d and %d times", all, all)
	}
	return text + "."
}

package terms

import (
	"fmt"
	"math"

	"covey/internal/study"
)

// Privacy says what a plan's parameters mean, a sentence or more each.
func Privacy(p *study.Plan) []string {
	s, t := p.Proposal.Spec, p.Thresholds
	unit := "one row"
	if s.Unit != "" {
		unit = fmt.Sprintf("all rows of one value of %q at one site", s.Unit)
	}
	words := []string{
		fmt.Sprintf("Everything that this study releases is together (ε = %g, δ = %g)-differentially private under replacement of one unit (%s): "+
			"for whoever sees it all and does not break the cryptography, the odds that one unit was yours and not any other change by a factor of at most e^ε = %.3g, but for δ. "+
			"A unit is %s; their number is public.", s.Epsilon, s.Delta, p.Adjacency, math.Exp(s.Epsilon), unit),
		"Of one person at several sites: " + study.AtSites(p.SitesPerUnit()) + ".",
		fmt.Sprintf("It charges ρ = %.6g (by %s) to the population's budget, over %d queries in %d rounds.", p.Rho, p.Curve(), len(p.Queries), p.Rounds),
		fmt.Sprintf("A sum is opened only over at least %d of the %d sites, and with %d sites' signatures and shares; %s.",
			t.MinSurvivors, t.Sites, t.Quorum, t.Collusion()),
		noiseWords(p),
	}
	if s.Method != study.MethodPower {
		words = append(words, "Method: "+p.MethodRule()+".")
	}
	if s.OnDropout == study.DropoutWait {
		words = append(words, `on_dropout = "wait": every sum is over all sites; this agent signs no other set.`)
	} else {
		words = append(words, `on_dropout = "continue": sums go on without a site that is away.`)
	}
	if s.Missing == study.MissingDropRow {
		words = append(words, "A row with a missing value counts as a row of zeros.")
	}
	return words
}

func noiseWords(p *study.Plan) string {
	if p.Honest == 0 {
		return "Noise is central: the coordinator's leader sees exact sums over all sites that take part, and is trusted with them; sites and analysts see noised ones."
	}
	return fmt.Sprintf("Noise is distributed: this agent adds its share before masking, so that nobody sees an exact sum, the coordinator included; "+
		"the shares of %d honest sites in a sum carry all the noise that the privacy needs. ", p.Honest) + poolWords(p)
}

// poolWords says what sites learn that pool what they know, without the coordinator: each takes its
// own share off the released noise. Of h shares that carry the planned variance c then leave c/h of
// it, for h/c times the ρ.
func poolWords(p *study.Plan) string {
	t, h := p.Thresholds, p.Honest
	if h == 1 {
		return "Sites that pool what they know see no less: one honest site's share is all of it."
	}
	text := fmt.Sprintf("Sites that pool what they know, without the coordinator, see less from %d of them on", max(t.Corrupt, 1)+1)
	if t.MinSurvivors < t.Sites {
		text += fmt.Sprintf(" (from %d where all %d sites are in a sum)", t.Sites-h+1, t.Sites)
	}
	text += fmt.Sprintf(": %d/%d of the planned variance, and the other sites' units then pay %.3g times the ρ", h-1, h, float64(h)/float64(h-1))
	if h > 2 {
		text += fmt.Sprintf("; where one site alone is not among them, 1/%d and %d times", h, h)
	}
	return text + "."
}

package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"covey/internal/query"
)

// The bins of pictures: of each axis of a pair of components, and of one component's histogram.
// They are of equal width, PictureReach standard deviations to either side of the center; the
// outermost also hold what lies beyond.
const (
	PictureBins  = query.PictureBins
	ScoreBins    = query.ScoreBins
	PictureReach = query.PictureReach
)

// MaxPictures is the most pairs of components that a study may picture.
const MaxPictures = 6

// The values of Spec.PictureBy.
const (
	PictureByColumn = "column"
	PictureBySite   = "site"
)

// scoresPart is the part of picture_share that score histograms take; the pictures have the rest in
// equal parts.
const scoresPart = 0.2

// Picture is a noised histogram of the scores of all units on two components.
type Picture struct {
	Pair   [2]int   `json:"pair"` // components, from 1
	By     string   `json:"by,omitempty"`
	Column string   `json:"column,omitempty"`
	Groups []string `json:"groups,omitempty"` // levels, or sites; one unnamed where By is empty
	// X and Y are the bins' edges on the first component and on the second, PictureBins + 1 each,
	// in scores of scaled and centered rows.
	X []float64 `json:"x_edges"`
	Y []float64 `json:"y_edges"`
	// Counts are those of each group, a vector of PictureBins² with bin (ix, iy) at
	// ix·PictureBins+iy: units, noised, and so perhaps below zero.
	Counts [][]float64 `json:"counts"`
	Sigma  float64     `json:"sigma"` // the noise's standard deviation on one count
}

// ScoreHistogram is a noised histogram of the scores of all units on one component.
type ScoreHistogram struct {
	Component int       `json:"component"` // from 1
	Edges     []float64 `json:"edges"`     // ScoreBins + 1
	Counts    []float64 `json:"counts"`    // ScoreBins, as in Picture
	Sigma     float64   `json:"sigma"`
}

// resolvePicture fills in what a study with pictures leaves out.
func (s *Spec) resolvePicture() {
	if s.Picture {
		def(&s.PictureShare, 0.05)
		if s.PicturePairs == nil {
			s.PicturePairs = [][]int{{1, 2}}
		}
	}
}

// checkPicture checks what goes with pictures.
func (s *Spec) checkPicture() error {
	if !s.Picture {
		const why = "has no effect without picture = true"
		switch {
		case s.PicturePairs != nil:
			return fieldError("picture_pairs", why)
		case s.PictureBy != "":
			return fieldError("picture_by", why)
		case s.PictureColumn != "":
			return fieldError("picture_column", why)
		}
		return nil
	}
	switch {
	case s.mostComponents() < 2:
		return fieldError("picture", "needs at least 2 components, got %d", s.mostComponents())
	case s.ExplainedVariance != VariancePrivate:
		return fieldError("picture", `needs explained_variance = "private": its grid is made of released variances`)
	case s.Center == CenterPairs:
		return fieldError("picture", `is of rows; center = "pairs" has differences of them alone`)
	case len(s.PicturePairs) == 0 || len(s.PicturePairs) > MaxPictures:
		return fieldError("picture_pairs", "must be 1 to %d pairs of components, got %d", MaxPictures, len(s.PicturePairs))
	}
	for i, pair := range s.PicturePairs {
		if len(pair) != 2 || min(pair[0], pair[1]) < 1 || max(pair[0], pair[1]) > s.mostComponents() || pair[0] == pair[1] {
			return fieldError("picture_pairs", "must be pairs of two of the components 1 to %d, got %v", s.mostComponents(), pair)
		}
		if slices.ContainsFunc(s.PicturePairs[:i], func(other []int) bool {
			return slices.Equal(other, pair) || other[0] == pair[1] && other[1] == pair[0]
		}) {
			return fieldError("picture_pairs", "has the pair %v twice", pair)
		}
	}
	switch s.PictureBy {
	case "":
	case PictureByColumn:
		if !slices.ContainsFunc(s.Columns, func(c Column) bool { return c.Name == s.PictureColumn && len(c.Levels) > 0 }) {
			return fieldError("picture_column", "must be a column with levels, got %.80q", s.PictureColumn)
		}
	case PictureBySite:
		// Each site alone fills its block: the exact sum would be that site's exact counts.
		if s.Noise != NoiseDistributed {
			return fieldError("noise", `picture_by = "site" needs "distributed": with "central" the coordinator's leader would read each site's exact counts, and central_detail does not allow that`)
		}
	default:
		return fieldError("picture_by", "must be %q, %q or left out, got %.80q", PictureByColumn, PictureBySite, s.PictureBy)
	}
	if s.PictureColumn != "" && s.PictureBy != PictureByColumn {
		return fieldError("picture_column", "needs picture_by = %q", PictureByColumn)
	}
	return nil
}

// pictureValues is how many numbers the largest of a study's pictures has; by site, of the sites
// that are named.
func (s *Spec) pictureValues() int {
	groups := 1
	switch {
	case !s.Picture:
		return 0
	case s.PictureBy == PictureByColumn:
		groups = MaxLevels + 1
	case s.PictureBy == PictureBySite:
		groups = min(max(1, len(s.Sites)), MaxSites)
	}
	return PictureBins * PictureBins * groups
}

// pictureQueries are those of pictures, which come last of all: their grid is made of the released
// variances.
func (p *Plan) pictureQueries() []Query {
	s := p.Proposal.Spec
	if !s.Picture {
		return nil
	}
	out := []Query{{Kind: KindScores, share: s.PictureShare * scoresPart}}
	for pair := range s.PicturePairs {
		out = append(out, Query{Kind: KindPicture, Round: pair, share: s.PictureShare * (1 - scoresPart) / float64(len(s.PicturePairs))})
	}
	return out
}

// pictures reports whether a query counts scores.
func (q Query) pictures() bool { return q.Kind == KindScores || q.Kind == KindPicture }

// pictureGroups names the groups of each picture: levels, sites by roster index, or one that has no
// name. They are the proposal's, never the data's.
func (p *Plan) pictureGroups() []string {
	s := p.Proposal.Spec
	switch s.PictureBy {
	case PictureByColumn:
		at := p.pictureColumn()
		return append(slices.Clone(s.Columns[at].Levels), OtherLevel)
	case PictureBySite:
		var out []string
		for _, m := range p.Proposal.Roster {
			out = append(out, m.Name)
		}
		return out
	}
	return []string{""}
}

func (p *Plan) pictureColumn() int {
	s := p.Proposal.Spec
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == s.PictureColumn })
}

// PictureLevels returns the coordinates of the column that divides pictures, the first and how
// many; ok is false where none does.
func (p *Plan) PictureLevels() (first, width int, ok bool) {
	s := p.Proposal.Spec
	if s.PictureBy != PictureByColumn {
		return 0, 0, false
	}
	at := p.pictureColumn()
	return p.Places()[at], s.Columns[at].cells(), true
}

// Pair returns the indices of the two components that a picture is of, by falling variance.
func (p *Plan) Pair(q Query) (x, y int) {
	pair := p.Proposal.Spec.PicturePairs[q.Round]
	return pair[0] - 1, pair[1] - 1
}

// PictureShare is the part of the budget that pictures and score histograms take; 0 where a study
// has none.
func (p *Plan) PictureShare() float64 { return p.Proposal.Spec.PictureShare }

// PictureWords says for people what is pictured, and how large the noise of one count is.
func (p *Plan) PictureWords() string {
	s := p.Proposal.Spec
	by := ""
	switch s.PictureBy {
	case PictureByColumn:
		by = fmt.Sprintf(" by the levels of %q", s.PictureColumn)
	case PictureBySite:
		by = " by site, which shows institutions"
	}
	pairs := make([]string, len(s.PicturePairs))
	for i, pair := range s.PicturePairs {
		pairs[i] = fmt.Sprintf("%d and %d", pair[0], pair[1])
	}
	return fmt.Sprintf("scores of each component, and of components %s%s: ± %.3g units a bin of %d", strings.Join(pairs, ", "), by, p.pictureNoise(), PictureBins*PictureBins)
}

// pictureNoise is the noise's standard deviation on a count of a picture, in units; 0 where there
// is none.
func (p *Plan) pictureNoise() float64 {
	for _, q := range p.Queries {
		if q.Kind == KindPicture {
			return q.Multiplier * p.Sensitivity(q, 0) * p.grid(q, 0) * p.NoiseFactor
		}
	}
	return 0
}

// pictureClear is how many deviations of a count's noise a picture should have units, so that what
// is drawn is at most some 0.1 off the true picture in total variation (docs/experiments.md).
const pictureClear = 400

// pictureWarning returns what to tell of pictures of too few units for their noise, by public
// sizes; empty where they are not.
func (p *Plan) pictureWarning() string {
	units, of, noise := p.N, "all units", p.pictureNoise()
	switch p.Proposal.Spec.PictureBy {
	case PictureBySite:
		of = "the smallest site"
		for i := range p.Proposal.Roster {
			units = min(units, p.units(i))
		}
	case PictureByColumn:
		units, of = units/len(p.pictureGroups()), "a group of its even share"
	}
	if float64(units) >= pictureClear*noise {
		return ""
	}
	return fmt.Sprintf("pictures will be coarse: the noise of a bin is ± %.3g units, and %s has %d in all, where about %.0f show their shape; take fewer pairs or groups, or a larger picture_share", noise, of, units, pictureClear*noise)
}

// readVariance sets what pictures count in: the components by falling variance, each with its
// largest loading positive, as a result has them, and the deviation of scores along each. Both are
// of what the coordinator signed, to the last bit, so that no choice differs between processors. A
// variance that does not stand out of its noise is taken to be twice that: a grid that is too wide
// is still a grid.
func (p *Plan) readVariance(c *Course, r Release) {
	if !p.Proposal.Spec.Picture {
		return
	}
	z, vectors := r.Z(), split(r.X, p.D)
	var x []float64
	c.Deviations = nil
	for _, l := range falling(z) {
		x = append(x, orient(vectors[l])...)
		deviation := math.Sqrt(max(z[l], 2*r.Tau()) / c.rowsPerUnit())
		c.Deviations = append(c.Deviations, max(minScale, min(deviation, maxScale)))
	}
	c.X = x
}

// checkDeviations refuses numbers that scores cannot be divided by. CheckCourse compares them with
// those of the releases; privacy does not need them, since a unit has one bin whatever the grid is.
func (p *Plan) checkDeviations(q Query, a Ask) error {
	want := 0
	if q.pictures() {
		want = p.K()
	}
	if len(a.Deviations) != want {
		return mismatch(a.Query, "deviations", "are %d, the plan has %d", len(a.Deviations), want)
	}
	for _, v := range a.Deviations {
		if !(v >= minScale && v <= maxScale) {
			return mismatch(a.Query, "deviations", "are not in 2^-300..2^300")
		}
	}
	return nil
}

// scoreEdges are those of so many bins of equal width, within PictureReach deviations.
func scoreEdges(deviation float64, bins int) []float64 {
	out := make([]float64, bins+1)
	for i := range out {
		out[i] = deviation * (2*PictureReach*float64(i)/float64(bins) - PictureReach)
	}
	return out
}

// picture fills pictures and score histograms in. Of sites that are not in the sum a picture has no
// group: noise alone is in their blocks.
func (r *Result) picture(p *Plan, releases []Release) {
	s := p.Proposal.Spec
	for _, rel := range releases {
		counts := make([]float64, len(rel.Noised))
		for i, v := range rel.Noised {
			counts[i] = float64(v) * rel.Grid
		}
		sigma := rel.Spread() * rel.Grid
		switch rel.Kind {
		case KindScores:
			for l, deviation := range rel.Deviations {
				r.Scores = append(r.Scores, ScoreHistogram{Component: l + 1, Edges: scoreEdges(deviation, ScoreBins), Counts: counts[l*ScoreBins : (l+1)*ScoreBins], Sigma: sigma})
			}
			r.PictureNote = pictureNote(s)
		case KindPicture:
			x, y := p.Pair(p.Queries[rel.Query])
			picture := Picture{Pair: [2]int{x + 1, y + 1}, By: s.PictureBy, Column: s.PictureColumn, Sigma: sigma,
				X: scoreEdges(rel.Deviations[x], PictureBins), Y: scoreEdges(rel.Deviations[y], PictureBins)}
			const bins = PictureBins * PictureBins
			for at, name := range p.pictureGroups() {
				if s.PictureBy == PictureBySite && !slices.Contains(rel.Survivors, at) {
					continue
				}
				if s.PictureBy != "" {
					picture.Groups = append(picture.Groups, name)
				}
				picture.Counts = append(picture.Counts, counts[at*bins:(at+1)*bins])
			}
			r.Pictures = append(r.Pictures, picture)
		}
	}
}

// pictureNote says what pictures show and what they do not.
func pictureNote(s Spec) string {
	text := fmt.Sprintf("counts are of units, noised, and may be below zero; edges are within %d deviations of the released variance, and the outermost bins also hold what lies beyond; "+
		"scores are of rows as the components saw them, scaled, centered and filled, before any clipping", PictureReach)
	if s.standardizes() {
		text += fmt.Sprintf("; values of learned columns are within %d scales of their center", LearnedLimit)
	}
	if s.Unit != "" {
		text += "; a unit counts as the average of its rows"
	}
	switch s.PictureBy {
	case PictureByColumn:
		text += fmt.Sprintf("; groups are the levels of %q, and a row without one is in no group", s.PictureColumn)
	case PictureBySite:
		text += "; each group shows an institution: ε and δ protect units, not sites, and blocks are not authenticated, so that a corrupt site can fill another's"
	}
	return text
}

// PictureText says which pictures a result has; empty where it has none.
func (r *Result) PictureText() string {
	if len(r.Pictures) == 0 {
		return ""
	}
	var pairs []string
	for _, picture := range r.Pictures {
		pairs = append(pairs, fmt.Sprintf("%d and %d", picture.Pair[0], picture.Pair[1]))
	}
	first := r.Pictures[0]
	text := fmt.Sprintf("noised counts of scores on components %s, ± %.3g units a bin", strings.Join(pairs, ", "), first.Sigma)
	switch first.By {
	case PictureByColumn:
		text += fmt.Sprintf(", by %q", first.Column)
	case PictureBySite:
		text += ", by site: each group shows an institution, and blocks are not authenticated"
	}
	return text
}

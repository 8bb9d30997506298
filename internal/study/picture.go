package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"covey/internal/linalg"
	"covey/internal/proposal"
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

// scoresPart is the part of picture_share that score histograms take; the pictures have the rest in
// equal parts.
const scoresPart = 0.2

// pictureQueries are those of pictures, which come last of all: their grid is made of the released
// variances.
func (p *planner) pictureQueries() []Query {
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

// Pictures are what a plan counts scores in: the proposal's, never the data's. Nobody changes them.
type Pictures struct {
	// Groups are the names of each picture's groups: levels, sites by roster index, or one that has
	// no name.
	Groups []string
	// First and Width are the coordinates of the column that divides pictures, the first and how
	// many. Width is 0 where none does.
	First, Width int

	pairs [][]int // of components, from 1
}

func picturesOf(p *Plan) Pictures {
	s := p.Proposal.Spec
	out := Pictures{Groups: []string{""}, pairs: s.PicturePairs}
	switch s.PictureBy {
	case proposal.PictureByColumn:
		at := slices.IndexFunc(s.Columns, func(c proposal.Column) bool { return c.Name == s.PictureColumn })
		out.Groups = append(slices.Clone(s.Columns[at].Levels), proposal.OtherLevel)
		out.First, out.Width = p.Layout.Places()[at], s.Columns[at].Cells()
	case proposal.PictureBySite:
		out.Groups = nil
		for _, m := range p.Proposal.Roster {
			out.Groups = append(out.Groups, m.Name)
		}
	}
	return out
}

// Pair returns the indices of the two components that a picture is of, by falling variance.
func (p *Pictures) Pair(q Query) (x, y int) {
	pair := p.pairs[q.Round]
	return pair[0] - 1, pair[1] - 1
}

// PictureWords says for people what is pictured, and how large the noise of one count is.
func (p *Plan) PictureWords() string {
	s := p.Proposal.Spec
	by := ""
	switch s.PictureBy {
	case proposal.PictureByColumn:
		by = fmt.Sprintf(" by the levels of %q", s.PictureColumn)
	case proposal.PictureBySite:
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
			return q.Multiplier * p.Noise.Sensitivity(q, 0) * p.Noise.grid(q, 0) * p.NoiseFactor
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
	units, of, noise := p.N, "there are %d units in all", p.pictureNoise()
	switch p.Proposal.Spec.PictureBy {
	case proposal.PictureBySite:
		of = "the smallest site has %d"
		for i := range p.Proposal.Roster {
			units = min(units, p.units(i))
		}
	case proposal.PictureByColumn:
		units, of = units/len(p.Pictures.Groups), "a group of its even share has %d"
	}
	if float64(units) >= pictureClear*noise {
		return ""
	}
	return fmt.Sprintf("pictures will be coarse: the noise of a bin is ± %.3g units, and "+of+", where about %.0f show their shape; take fewer pairs or groups, or a larger picture_share", noise, units, pictureClear*noise)
}

// ByVariance returns the places of components in a release of their variances by falling variance;
// as they are where it says nothing of them.
func (r *Release) ByVariance() []int {
	if !r.Unread() {
		return linalg.Falling(r.Z())
	}
	out := make([]int, len(r.Noised))
	for i := range out {
		out[i] = i
	}
	return out
}

// variance sets what pictures count in: the components by falling variance, each with its
// largest loading positive, as a result has them, and the deviation of scores along each. Both are
// of what the coordinator signed, to the last bit, so that no choice differs between processors. A
// variance that does not stand out of its noise is taken to be twice that: a grid that is too wide
// is still a grid.
func (t *transition) variance() {
	c, r := t.c, t.r
	if !t.Proposal.Spec.Picture {
		return
	}
	z, vectors := r.Z(), linalg.Split(r.X, t.D)
	var x []float64
	c.Deviations = nil
	for _, l := range r.ByVariance() {
		x = append(x, linalg.Orient(vectors[l])...)
		deviation := math.Sqrt(max(z[l], 2*r.Tau()) / c.RowsPerUnit())
		c.Deviations = append(c.Deviations, max(minScale, min(deviation, maxScale)))
	}
	c.X = x
}

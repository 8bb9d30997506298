package study

import (
	"fmt"
	"math"
	"slices"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/standardize"
)

// LearnedLimit is how many learned scales from its center a value counts as at most in a
// covariance.
const LearnedLimit = standardize.RowLimit

// Limits returns the bounds on the magnitude of each coordinate's values after division by a
// learned scale; infinite without one. They keep one far value from losing a row to the clip if
// scales came out too small.
func (p *Plan) Limits(q Query) []float64 {
	scaled, out := p.form(q).scaled, make([]float64, p.D)
	for j := range out {
		switch {
		case q.Kind == KindMoments:
			out[j] = standardize.MomentLimit
		case scaled && q.Kind != KindTree && p.Layout.Learns(j):
			out[j] = LearnedLimit
		default:
			out[j] = math.Inf(1)
		}
	}
	return out
}

// Learning is what it takes to learn columns' constants, by public numbers alone; zero if none are
// learned. Nobody changes it.
type Learning struct {
	// Score is how far a plain column's counts are expected to stand out of the noise, in standard
	// deviations.
	Score float64

	shares         standardize.Shares // of the budget
	columns, sites int                // sites at which a unit may be
	multiplier     float64            // σ/Δ of the whole budget
}

func learningOf(p *Plan) Learning {
	if !p.Proposal.Spec.Standardizes() {
		return Learning{}
	}
	units, columns := p.N/p.SitesPerUnit, len(p.Layout.Single(KindTree))
	return Learning{
		Score:   standardize.Score(units, columns, p.fullMultiplier),
		shares:  standardize.SharesOf(units, columns, len(p.Layout.Single(KindMoments)), p.fullMultiplier),
		columns: columns, sites: p.SitesPerUnit, multiplier: p.fullMultiplier,
	}
}

// needed is how many units would have at least that score.
func (l *Learning) needed(score float64) int {
	return l.sites * standardize.NeededUnits(l.columns, l.multiplier, score)
}

// checkScore refuses a study of too many columns to count, or of which most scales would be noise.
func (p *planner) checkScore() error {
	if per := KindTree.Definition().Values(1, 0); p.Proposal.Spec.Standardizes() && len(p.Layout.Single(KindTree)) > proposal.MaxValues/per {
		return proposal.FieldErrorf("standardize", "at most %d columns can have learned constants, got %d", proposal.MaxValues/per, len(p.Layout.Single(KindTree)))
	}
	if score := p.Learning.Score; p.Proposal.Spec.Standardizes() && !(score >= standardize.RefuseScore) {
		return proposal.FieldErrorf("standardize", "%d units are too few to learn the constants of %d columns: a plain column's counts would exceed the noise by %.2g of its standard deviations, and at least %d are needed; "+
			"%d units would do, or fewer columns, a larger epsilon, or public offsets and scales", p.N, len(p.Layout.Single(KindTree)), score, standardize.RefuseScore, p.Learning.needed(standardize.RefuseScore))
	}
	return nil
}

// warning returns what may happen where a study is small for what it learns; empty where it is
// not.
func (l *Learning) warning() string {
	if l.sites == 0 || l.Score >= standardize.WarnScore {
		return ""
	}
	return fmt.Sprintf("a plain column's counts would exceed the noise by %.2g of its standard deviations, and below %d some columns get a wrong scale or are left out: %d units would do, or fewer columns, a larger epsilon, or public offsets and scales",
		l.Score, standardize.WarnScore, l.needed(standardize.WarnScore))
}

// learn reads columns' constants off the release of a query about single columns.
func (t *transition) learn() {
	learned := t.q.Kind == KindMoments && t.q.Round == standardize.MomentRounds-1
	t.c.Columns = t.columns(learned)
	t.constants(learned)
}

// columns returns what the release says of each column, empty of those that are not counted in it.
// learned is set with the last release about single columns.
func (t *transition) columns(learned bool) []standardize.Column {
	c, q, r := t.c, t.q, t.r
	all, columns := r.Z(), make([]standardize.Column, t.D)
	of := t.Layout.Single(q.Kind)
	if q.Kind == KindOctaves {
		c.Present = t.present(all, of)
	}
	for _, j := range t.Layout.Single(KindTree) {
		at, _ := slices.BinarySearch(of, j)
		z, asked := columnOf(q.Kind, all, at, len(of)), []standardize.Column{{}}
		if len(c.Columns) > 0 {
			asked[0] = c.Columns[j]
		}
		// of the units with a value there: the others have no counts, and in a moment query z = 0
		// and z² = 1
		kept := t.kept() * c.seen(j)
		if c.Present != nil {
			kept = c.Present[j]
		}
		if q.Kind == KindMoments {
			z[1] -= 1 - kept
		}
		for i := range z {
			z[i] /= kept
		}
		found, tau := asked, r.Tau()/kept
		switch q.Kind {
		case KindOctaves:
			found = standardize.Octaves(z, tau)
		case KindTree:
			found = standardize.Tree(z, tau, asked)
		case KindMoments:
			found = standardize.Moments(z, tau, asked)
			if learned && t.Layout.Learns(j) { // of others the center alone is needed
				found = standardize.Constants(found, tau)
			}
		}
		columns[j] = found[0]
	}
	return columns
}

// constants puts columns' centers and scales into force. It ends a study that is left with too few.
func (t *transition) constants(learned bool) {
	c := t.c
	center, scale := c.Center, c.Scale // of levels, where there are any
	c.Center, c.Scale = make([]float64, t.D), make([]float64, t.D)
	in := 0
	for j, column := range c.Columns {
		if t.Layout.Counted(j) {
			c.Center[j], c.Scale[j] = center[j], scale[j]
			if scale[j] > 0 {
				in++
			}
			continue
		}
		c.Center[j], c.Scale[j] = column.Center, column.Scale
		if learned && !t.Layout.Learns(j) { // its scale is public
			c.Scale[j] = 1
		}
		if c.Scale[j] > 0 || !t.Layout.Learns(j) {
			in++
		}
	}
	if in < t.K {
		c.End = CodeNoScale
		return
	}
	if learned {
		c.X = within(c.X, c.Scale)
	}
}

// UnitTrace returns the total variance that rows have when every column's learned scale is its
// standard deviation: for each column that is not left out one, or the share of rows in which it
// has a value. It is 0 where a column's scale was not learned: what its variance should be is not
// known.
func (p *Plan) UnitTrace(c Course) float64 {
	sum := 0.0
	for j, s := range c.Scale {
		if s != 0 && !p.Layout.Learns(j) {
			return 0
		}
		sum += p.UnitTraceOf(c, j)
	}
	return sum
}

// UnitTraceOf is a learned coordinate's part of UnitTrace, 0 of one that is left out.
func (p *Plan) UnitTraceOf(c Course, j int) float64 {
	if c.Scale[j] == 0 || !p.Layout.Learns(j) {
		return 0
	}
	return c.seen(j)
}

// LevelTrace returns the total variance that levels have by their shares, the standard deviation
// that the noise of these gives it, and how many learned columns are beside them: none where
// another column's variance is not known.
func (p *Plan) LevelTrace(c Course, releases []Release) (levels, tau, learned float64) {
	at := slices.IndexFunc(releases, func(r Release) bool { return r.Kind == KindLevels })
	if at < 0 || p.Proposal.Spec.KeepsGaps() {
		return 0, 0, 0
	}
	for j, s := range c.Scale {
		share := float64(s * s)
		switch {
		case s == 0:
		case p.Layout.Leveled(j):
			levels += 1 - share
			tau = math.Hypot(tau, (1-share)/share*releases[at].Tau())
		case !p.Layout.Learns(j):
			return 0, 0, 0
		default:
			learned++
		}
	}
	return levels, tau, learned
}

// ScaleDoubts returns, for each coordinate, the standard deviation of the logarithm of its variance
// in rows over their learned scales, as far as the noise of what set these leaves it open; 0 where
// nothing was learned.
func (p *Plan) ScaleDoubts(c Course, releases []Release) []float64 {
	out := make([]float64, p.D)
	for j, column := range c.Columns {
		if p.Layout.Learns(j) && c.Scale[j] > 0 {
			out[j] = column.Doubt
		}
	}
	moments := momentsOf(releases)
	if len(moments) == 0 || c.Method == proposal.MethodPower {
		return out
	}
	m := pooledMoment(moments) // its diagonal set them once more
	for j, at := 0, 0; j < p.D; j++ {
		if out[j] > 0 {
			out[j] = standardize.Doubt(max(0, m.Packed[at]), m.Tau, standardize.DiagonalDoubt)
		}
		at += p.D - j
	}
	return out
}

// columnOf are the numbers of column j of d in the answer of a query about single columns.
func columnOf(k Kind, z []float64, j, d int) []float64 {
	if k == KindMoments {
		return []float64{z[j], z[d+j]}
	}
	bins := len(z) / d
	return z[j*bins : (j+1)*bins]
}

// within is the block X without its part in coordinates that are left out, made orthonormal again.
func within(x, scale []float64) []float64 {
	d := len(scale)
	if !slices.Contains(scale, 0) {
		return x
	}
	vectors, fallback := linalg.Split(slices.Clone(x), d), [][]float64{}
	for _, v := range vectors {
		leave(v, scale)
	}
	for j, s := range scale { // as many as are in, of which any k of other vectors leave one
		if s > 0 && len(fallback) < len(vectors) {
			e := make([]float64, d)
			e[j] = 1
			fallback = append(fallback, e)
		}
	}
	return linalg.Flat(linalg.Orthonormalize(vectors, fallback))
}

// leave sets the coordinates of v that have scale 0 to 0. There is nothing in them but noise.
func leave(v, scale []float64) {
	for j, s := range scale {
		if s == 0 {
			v[j] = 0
		}
	}
}

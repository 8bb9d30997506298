package result

import (
	"fmt"
	"math"

	"covey/internal/proposal"
	"covey/internal/study"
)

// standard makes the scales of a study that learned all of them the columns' deviations, as far as
// the released total variance tells, and returns by how much it multiplies them; 1 where there is
// none, or the total is mostly noise, which would make scales of noise. A learned scale is of
// values that were clipped row by row, and more so where columns go together. All scales are too
// small by one factor then, and the total, which was hardly clipped, is too large by its square.
func (r *Result) standard(p *study.Plan, c study.Course, releases []study.Release) float64 {
	seen := p.UnitTrace(c)
	if r.TotalVariance > 0 && seen == 0 {
		r.besideLevels(p.LevelTrace(c, releases))
	}
	if !(seen > 0) || !(r.TotalVariance > 0) {
		return 1
	}
	spread := (r.TotalInterval[1] - r.TotalInterval[0]) / 2 / r.TotalVariance
	if !(spread <= mostSpread) {
		return 1
	}
	want := r.withFills(p, c, seen)
	ratio, doubts := want/r.TotalVariance, p.ScaleDoubts(c, releases)
	alike := 0.0
	for j, column := range c.Columns {
		if column.Most > mostPower {
			alike += p.UnitTraceOf(c, j)
		}
	}
	most, value := mostMoment, valueMoment
	if r.Method == proposal.MethodPower {
		most, value = mostPower, valuePower
	}
	for i, v := range r.ExplainedVariance {
		around, scales, lean := r.VarianceInterval[i], 0.0, 0.0
		for j, x := range r.Components[i] {
			part, tails := p.UnitTraceOf(c, j), tailDoubt
			if !(part > 0) {
				continue
			}
			if r.Method == proposal.MethodPower && c.Columns[j].Most > moreThanHalf {
				tails = valueDoubt
			}
			if c.Columns[j].Most > most {
				lean += x*x - part/seen
			}
			scales = math.Hypot(scales, (x*x-part/seen)*math.Hypot(doubts[j], tails))
		}
		half := around[1] - v                                               // around[0] may be cut at 0
		below := math.Hypot(half, v*math.Hypot(spread, scalesBelow*scales)) // of a ratio, to first order
		above := math.Hypot(half, v*math.Hypot(spread, normal95*scales))
		below, above = below+v*value*max(0, -lean), above+v*value*max(0, lean)
		r.ExplainedVariance[i] = v * ratio
		r.VarianceInterval[i] = [2]float64{max(0, v-below) * ratio, (v + above) * ratio}
	}
	r.TotalVariance = want
	r.TotalInterval = &[2]float64{max(0, 1-spread) * want, (1 + spread) * want}
	unit := 1 / math.Sqrt(ratio)
	for j := range r.Scale {
		r.Scale[j] *= unit
		r.Mean[j] /= unit
	}
	r.ScaleNote = scaleNote
	r.VarianceNote += varianceNotLearned
	if alike > mostAlike*seen {
		r.forget(varianceOneValue)
	}
	return unit
}

// withFills is the total variance that rows have when every column's scale is its deviation: seen
// is that of the cells with a value, and filled ones have about the part of their column's that
// the components have of it.
func (r *Result) withFills(p *study.Plan, c study.Course, seen float64) float64 {
	if p.Proposal.Spec.Missing != proposal.MissingFill {
		return seen
	}
	filled := 0.0
	for i, v := range r.ExplainedVariance {
		for j, x := range r.Components[i] {
			if c.Scale[j] > 0 {
				filled += float64((1 - p.UnitTraceOf(c, j)) * v * x * x)
			}
		}
	}
	all := 0.0
	for _, s := range c.Scale {
		if s > 0 {
			all++
		}
	}
	return min(all, seen/max(0.01, 1-filled/r.TotalVariance))
}

// besideLevels says in the note by how much the scales of so many learned columns are too small,
// where all others are levels, of a variance that is known but for tau. Components were found with
// these scales, so that it sets none.
func (r *Result) besideLevels(levels, tau, learned float64) {
	own := r.TotalVariance - levels
	half := math.Hypot((r.TotalInterval[1]-r.TotalInterval[0])/2, normal95*tau)
	if !(learned > 0) || !(half <= mostSpread*own) {
		return
	}
	r.ScaleNote = scaleNoteOf + fmt.Sprintf("; in components and variances learned columns weigh %.2f times (95%%: %.2f to %.2f, over the noise of total and shares) as much as columns of variance 1 would next to levels: their scales are too small by the square root of that, as the released total variance less that of the levels shows", own/learned, (own-half)/learned, (own+half)/learned)
}

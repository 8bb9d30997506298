package worth

import (
	"covey/internal/result"
	"covey/internal/study"
)

// apartSentence is for tables of two scales, such as costs. Among those of `accuracy fool` shares
// were a third of the true ones to five times as large.
const apartSentence = "No component's share of the total variance is shown: both are variances of clipped rows, each with a clip of its own, and here rows beyond the clip have much of them, or noise hides how much. Such a share can be several times too high or too low."

// apart reports whether released values show, or their noise may hide, rows that much of the total
// is clipped off of, and of a component's variance less or more.
func (out *Report) apart(p *study.Plan, r *result.Result) bool {
	switch {
	case r.TotalInterval == nil:
		return false
	case out.Uncalibrated == beyondWhy, out.Uncalibrated == belowWhy, out.Uncalibrated == alikeWhy:
		return true
	case p.Proposal.Spec.Standardizes() || r.LevelsNote != "" || r.Unit != "":
		return false
	}
	return out.Uncalibrated == heavyWhy || out.Alarm != nil && *out.Alarm || stretched(p, r)
}

// Shown returns r as people are to see it: without the components' shares of the total variance
// where these say nothing. A nil Report is not known yet, and takes nothing away.
func (out *Report) Shown(r *result.Result) *result.Result {
	if out == nil || !out.Apart {
		return r
	}
	shown := *r
	shown.VarianceRatio = nil
	return &shown
}

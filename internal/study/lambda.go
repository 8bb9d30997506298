package study

import (
	"math"

	"covey/internal/histogram"
	"covey/internal/proposal"
	"covey/internal/query"
)

// setGroups sizes the groups that a private Λ is read from (the paper, section 1: groups
// of Õ(d) points populate a histogram over powers of two of their top eigenvalues). The
// largest of 4d, 2d and d points leaves enough groups, or the study is refused: the
// larger a group, the less its eigenvalue overestimates λ1. The query is charged already.
func (p *planner) setGroups(q Query) error {
	needed := math.Ceil(2 * histogram.StandsOut(q.Multiplier*p.Noise.atSites(query.HistogramSensitivity), HistogramBins))
	if p.Noise.Chooses(q) {
		e, err := p.Curve().SelectEpsilon(q.Rho)
		if err != nil {
			return err
		}
		lo, hi := p.GroupBins(KindSelect)
		// The best score is within (2/ε0)·ln(candidates/β) of the largest but with
		// probability β (McSherry, Talwar 2007).
		f, _ := e.Float64()
		needed = math.Ceil(4 * p.Noise.atSites(1) / f * math.Log(float64(hi-lo+1)/histogram.FalseScale))
	}
	for _, size := range []int{4 * p.D, 2 * p.D, p.D} {
		p.Groups, p.GroupSize = 0, size
		for i := range p.Proposal.Roster {
			p.Groups += p.units(i) / size
		}
		if float64(p.Groups) >= needed {
			return nil
		}
	}
	return proposal.FieldErrorf("lambda", `"private" needs %.0f groups of at least d = %d units each, %.0f units in all, and has %d of %d: give a public lambda, a larger lambda_share, or radius = "private"`,
		needed, p.D, needed*float64(p.D), p.Groups, p.N)
}

// lambda takes the upper edge of the chosen octave for Λ, and the paper's radius.
func (t *transition) lambda() {
	c, q, r := t.c, t.q, t.r
	lo, _ := t.GroupBins(KindSelect)
	best := int(r.Noised[0])
	if !t.Noise.Chooses(q) {
		best = 0
		for j, v := range r.Noised {
			if v > r.Noised[best] {
				best = j
			}
		}
		if q.Kind == KindLambda && float64(r.Noised[best]) < histogram.StandsOut(r.Spread(), len(r.Noised)) {
			c.End = CodeNoScale
			return
		}
	}
	// of the kept rows: a group's other rows are zeros
	c.Lambda = math.Ldexp(1, lo+best-255) / t.kept()
	radius := t.paperRadius(c.Lambda)
	if !(radius >= query.MinRadius && radius <= query.MaxRadius) {
		c.End = CodeNoScale
		return
	}
	c.Radii[KindPower] = radius
}

// GroupBins are the octaves that an answer to a query about groups has; all for kinds
// other than select.
func (p *Plan) GroupBins(k Kind) (lo, hi int) {
	if r := p.Proposal.Spec.LambdaRange; r != nil && k == KindSelect {
		return query.Octave(r[0], 0), query.Octave(r[1], 0)
	}
	return 0, HistogramBins - 1
}

// PairOrder is the public permutation of a site's units by which center = "pairs" pairs
// them: it looks at no value, and the site does not choose it.
func (p *Plan) PairOrder(site int) []int {
	return Public(p.Digest, "pairs of "+p.Proposal.Roster[site].Name).Perm(p.Proposal.Roster[site].Units)
}

package study

import (
	"slices"

	"covey/internal/linalg"
	"covey/internal/proposal"
)

// parts are how a covariance is bought (docs/adr/0009-radii-and-auto.md), in several where its
// bound B² is private. What noise costs grows with B², so that rows are best clipped short; but a
// short clip turns the components of rows that come in groups, and hides a direction that only the
// longest rows have. Where noise is small there is one part, clipped high: a short clip would save
// less than it can turn. Else a first part is clipped at a low quantile of ‖y‖² and a small one at
// a high quantile, and by these two the last part is clipped low or high. Every part is clipped
// high where the histogram of ‖y‖² has two peaks: rows are then of several kinds; and where noise
// is small but for rows with a heavy tail, and lengths have none. With a public bound there is one
// part, too.
type parts struct {
	shares []float64 // of the covariance's budget, in the order in which the parts are asked
	sure   float64   // how many standard deviations the high clip must be ahead by
}

func (p *Plan) parts() parts {
	first, second, sure := 0.3, 0.04, 3.0
	if p.Method.Mixed {
		first = 0.25 // rounds may follow, and find more than the part
	}
	if p.Method.Mixed && p.K > 2 && p.Iota > iotaHalf {
		first = 0.15 // and those of several what it does not show
	}
	if p.Iota <= iotaEnough {
		sure = 2.5
	}
	if p.Iota <= iotaHeavy { // the high clip is nearly as good there, so that more is spent on it
		second = 0.16
	}
	few := p.D < heavyColumns && p.Iota <= iotaHeavy
	if p.Proposal.Spec.NormBound != proposal.BoundPrivate || few || p.Iota <= iotaSmall {
		return parts{[]float64{1}, sure}
	}
	return parts{[]float64{first, second, 1 - first - second}, sure}
}

// moment sets what follows from a part of the covariance: the next part's bound, or the components.
// Of earlier it reads the parts before and the histogram of ‖y‖².
func (t *transition) moment() error {
	c, r := t.c, t.r
	moments := append(momentsOf(t.earlier), r)
	if t.Queries.LastMoment(r.Query) {
		m, factors := t.Covariance(*c, moments)
		if factors != nil {
			c.Scale = slices.Clone(c.Scale)
			for j, f := range factors {
				c.Scale[j] *= f
			}
		}
		if t.Queries.Ends(r.Query) { // no query asks about the components, which may take seconds
			c.X = nil
			return nil
		}
		v, _, err := m.Principal(t.D, t.K)
		c.X = linalg.Flat(v)
		return err
	}
	low, high := t.bounds()
	switch len(moments) {
	case 1:
		c.Radii[KindMoment] = high
	case 2:
		c.Radii[KindMoment] = low
		misses, most, err := hidden(moments[0], moments[1], t.D, t.K, t.parts().sure)
		if err != nil {
			return err
		}
		hides := misses > most
		if hides {
			c.Radii[KindMoment] = high
		}
		if t.Method.Mixed {
			return t.mix(moments, low < high && !hides)
		}
	}
	return nil
}

// Covariance returns the matrix that components are taken of, after the last part of a covariance:
// its parts together, corrected for gaps and, where constants were learned, made one of
// correlations. It also returns the factors for the columns' scales, nil if none was learned.
func (p *Plan) Covariance(c Course, releases []Release) (m Moment, factors []float64) {
	moments := momentsOf(releases)
	m = pooledMoment(moments)
	if p.Proposal.Spec.Missing == proposal.MissingFill {
		m = c.corrected(m, p.D)
	}
	if !p.Proposal.Spec.Standardizes() {
		return m, nil
	}
	return m.correlation(p.Layout, moments[len(moments)-1].Scale)
}

func momentsOf(releases []Release) []Release {
	return slices.DeleteFunc(slices.Clone(releases), func(r Release) bool { return r.Kind != KindMoment })
}

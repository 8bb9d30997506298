package study

import (
	"math"
	"math/big"
	"slices"

	"covey/internal/histogram"
	"covey/internal/query"
)

// Grid is the grid step g of radius R ([query.Grid]).
func Grid(radius float64) float64 { return query.Grid(radius) }

// BinEdge is the upper edge of bin j ([query.BinEdge]).
func BinEdge(j int) float64 { return query.BinEdge(j) }

func up(z float64) float64 { return math.Nextafter(z, math.Inf(1)) }

// SelectEpsilon is the ε0 of a query's choice by the exponential mechanism, exact: what its charge
// allows, over the sites at which a unit may be. A unit at s sites changes every score by s at
// most, so that the choice has the range s·ε0 that is charged (docs/privacy.md).
func (p *Plan) SelectEpsilon(query int) (*big.Rat, error) {
	e, err := p.Curve().SelectEpsilon(p.Queries[query].Rho)
	if err != nil {
		return nil, err
	}
	return e.Quo(e, big.NewRat(int64(p.SitesPerUnit), 1)), nil
}

// Unread reports whether one of a study's histograms of lengths left no radius: a default that
// knows nothing of the rows was in force then, of the center or of what the components are of.
func (p *Plan) Unread(releases []Release) bool {
	return p.anyHistogram(releases, func(q Query, _ Release, lengths histogram.Noised, _ float64) bool {
		return lengths.Quantile(0.5) == 0 && q.Of != KindVariance && (q.Of != KindTotal || slices.ContainsFunc(p.Queries, func(o Query) bool { return o.Kind == KindMoment }))
	})
}

// Beyond reports whether a tenth of the units or more are so long that they are in the last bin of
// a histogram: nobody knows how long they are, and a clip there makes them shorter.
func (p *Plan) Beyond(releases []Release) bool {
	return p.anyHistogram(releases, func(q Query, _ Release, lengths histogram.Noised, _ float64) bool {
		return q.Of != KindRows && lengths.Quantile(0.9) > BinEdge(HistogramBins-2)
	})
}

// Below reports whether half of the units or more are so short that the first bin of a histogram
// holds them, surely: no radius is read from there. Units that have no row do not count.
func (p *Plan) Below(releases []Release) bool {
	return p.anyHistogram(releases, func(q Query, r Release, lengths histogram.Noised, rowed float64) bool {
		short, of := float64(lengths.Counts[0]), float64(lengths.Units)
		if rowed > 0 { // lengths takes every unit of the first bin for one without rows
			all := float64(r.Units) / r.Grid
			of = rowed * all
			short = of - (all - float64(r.Noised[0]))
		}
		return q.Of != KindRows && q.Of != KindVariance && short >= max(0.5*of, histogram.StandsOut(r.Spread(), HistogramBins))
	})
}

// anyHistogram reports whether one of a study's histograms of lengths is as asked: of what, its
// release, its counts without rows that were left out, and, where units of several rows may have
// lost all, the least share that has one.
func (p *Plan) anyHistogram(releases []Release, is func(q Query, r Release, lengths histogram.Noised, rowed float64) bool) bool {
	t, rowed := &transition{Plan: p, c: &Course{}}, 0.0
	for _, r := range releases {
		q := p.Queries[r.Query]
		if q.Kind == KindRows {
			t.r = r
			t.rows()
			if t.emptied() { // no unit counts for more rows than the radius
				rowed = max(0, min(1, (r.Z()[0]-2*r.Tau())/r.Radius))
			}
		}
		if q.Kind != KindHistogram || len(r.Noised) == 0 { // of a head
			continue
		}
		if is(q, r, t.lengths(r), rowed) {
			return true
		}
	}
	return false
}

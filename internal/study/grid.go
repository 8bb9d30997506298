package study

import (
	"math"
	"math/big"
	"slices"

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

// quantileRadius reads a radius off a noised histogram of units whose noise has standard
// deviation spread: bins that noise alone might fill are zeroed, and the quantile of what is
// left is given, between the edges of its bin in proportion; of quantile 1 the upper edge. Where
// zeroed bins hold more than a fifth of the units, neighboring bins are taken together, two,
// four, up to 32: few units for the noise still say where they are. 0 if noise left nothing, or
// less than half of the units: what noise makes up now and then is one bin, anywhere.
func quantileRadius(noised []int64, spread, quantile float64, units int) float64 {
	return quantileOf(noised, spread, quantile, units, tail{near: math.Inf(1)})
}

// reach is how many bins from others a tail or a second peak may be, four octaves.
const reach = 16

// tail says which bins within reach of those that stand out also count: one that holds near·spread
// or more, and n neighbors, up to together of them, that hold near·√n·spread or more. A tail stands
// out less than the middle does. A bin of noise alone may count, one time in 40 where near is 2.
type tail struct {
	near     float64
	together int
}

// quantileOf is quantileRadius where bins of a tail count, too.
func quantileOf(noised []int64, spread, quantile float64, units int, also tail) float64 {
	enough := 0.5 * float64(units)
	if quantile == 1 {
		enough = 0.8 * float64(units)
	}
	radius, most := 0.0, 0.0
	for width := 1; width <= widest && most < enough; width *= 2 {
		if width == widest && most >= 0.5*float64(units) {
			break // eight octaves together say little: a bound there would be of noise alone
		}
		if r, left := binsRadius(noised, spread, quantile, width, also, mostAlone*float64(units)); left > most {
			radius, most = r, left
		}
	}
	if most < 0.5*float64(units) {
		return 0
	}
	return radius
}

// Unread reports whether one of a study's histograms of lengths left no radius: a default that
// knows nothing of the rows was in force then, of the center or of what the components are of.
func (p *Plan) Unread(releases []Release) bool {
	return p.anyHistogram(releases, func(q Query, r Release, noised []int64, units int, _ float64) bool {
		radius := quantileRadius(noised, r.Spread(), 0.5, units)
		return radius == 0 && q.Of != KindVariance && (q.Of != KindTotal || slices.ContainsFunc(p.Queries, func(o Query) bool { return o.Kind == KindMoment }))
	})
}

// Beyond reports whether a tenth of the units or more are so long that the last bin of a histogram
// holds them: how long they are nobody knows, and whatever is clipped there is of shorter rows.
func (p *Plan) Beyond(releases []Release) bool {
	return p.anyHistogram(releases, func(q Query, r Release, noised []int64, units int, _ float64) bool {
		return q.Of != KindRows && quantileRadius(noised, r.Spread(), 0.9, units) > BinEdge(HistogramBins-2)
	})
}

// Below reports whether half of the units or more are so short that the first bin of a histogram
// holds them, surely: no radius is read from there. Units that have no row do not count.
func (p *Plan) Below(releases []Release) bool {
	return p.anyHistogram(releases, func(q Query, r Release, noised []int64, units int, rowed float64) bool {
		short, of := float64(noised[0]), float64(units)
		if rowed > 0 { // lengths takes every unit of the first bin for one without rows
			all := float64(r.Units) / r.Grid
			of = rowed * all
			short = of - (all - float64(r.Noised[0]))
		}
		return q.Of != KindRows && q.Of != KindVariance && short >= max(0.5*of, standsOut(r.Spread(), HistogramBins))
	})
}

// anyHistogram reports whether one of a study's histograms of lengths is as asked: of what, its
// release, its counts without rows that were left out, the units that they are of, and, where units
// of several rows may have lost all, the least share that has one.
func (p *Plan) anyHistogram(releases []Release, is func(q Query, r Release, noised []int64, units int, rowed float64) bool) bool {
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
		if noised, units := t.lengths(r); is(q, r, noised, units, rowed) {
			return true
		}
	}
	return false
}

// widest is how many bins are taken together at most, eight octaves.
const widest = 32

// mostAlone is the most of the units that a bin of noise alone may seem to hold: two of them are
// less than half. Where noise makes fuller ones, a bin must be surely times as full as others must.
const mostAlone, surely = 0.25, 2.0

// farther is how many times as high as others a bin must be that is farther than reach bins from
// the fullest: a radius there would be of another scale altogether, with its noise. That noise
// alone makes one of 1,024 bins so high has a probability below 10^-7.
const farther = 1.5

// binsRadius is quantileOf with bins of width together, and the count of those that stand out.
func binsRadius(noised []int64, spread, quantile float64, width int, also tail, alone float64) (radius, left float64) {
	spread *= math.Sqrt(float64(width))
	floor := standsOut(spread, len(noised)/width)
	if floor > alone {
		floor *= surely
	}
	counts := make([]float64, 0, len(noised)/width) // 0 where zeroed
	fullest := -1
	for at := 0; at < len(noised); at += width {
		sum := 0.0
		for _, c := range noised[at : at+width] {
			sum += float64(c)
		}
		// The lowest bin has no place: rows that were left out are in it.
		if at > 0 && (fullest < 0 || sum > counts[fullest]) {
			fullest = len(counts)
		}
		counts = append(counts, sum)
	}
	stands := func(j int) bool {
		if far := j != 0 && max(j-fullest, fullest-j) > reach/width; far {
			return counts[j] >= farther*floor
		}
		return counts[j] >= floor
	}
	first, last := -1, -1
	for j, sum := range counts {
		if stands(j) {
			left += sum
			if last = j; first < 0 {
				first = j
			}
		}
	}
	all, from, to := left, max(0, first-reach/width), min(len(counts), last+reach/width+1)
	counted := make([]bool, len(counts))
	for wide := 1; wide <= max(1, also.together/width); wide *= 2 {
		enough := float64(also.near*spread) * math.Sqrt(float64(wide))
		for j := from; j+wide <= to; j++ {
			sum := 0.0
			for _, c := range counts[j : j+wide] {
				sum += c
			}
			if sum >= enough {
				for i := range wide {
					counted[j+i] = true
				}
			}
		}
	}
	for j, sum := range counts {
		switch {
		case stands(j):
		case counted[j]:
			all += sum
		default:
			counts[j] = 0
		}
	}
	wanted, seen := float64(quantile*all), 0.0
	for j, c := range counts {
		if c > 0 && seen+c >= wanted {
			low, high := BinEdge(max(0, j*width-1)), BinEdge((j+1)*width-1)
			// Counts beyond 2^53 round, here to more than the whole bin.
			return min(high, low+float64((high-low)*((wanted-seen)/c))), left
		}
		seen += c
	}
	return 0, 0
}

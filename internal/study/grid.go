package study

import (
	"math"
	"math/big"

	"covey/internal/noise"
)

// Grid is the grid step g of radius R: the power of two with R/g in
// [2^16, 2^17). It restates clip.Grid, which this package may not import; a
// test at the root compares the two.
func Grid(radius float64) float64 {
	_, e := math.Frexp(radius) // radius = f·2^e, f in [1/2, 1)
	return math.Ldexp(1, e-1-16)
}

// SumSensitivity is Δ of a sum in grid units, rounded up (docs/privacy.md): 2R/g + √L
// for vectors of L numbers that point anywhere, √2·R/g + √L for those whose inner
// products are never negative, R/g + 1 for one number in [0, R]. It restates
// clip.Sensitivity to the bit.
func SumSensitivity(k Kind, radius, grid float64, values int) float64 {
	ratio := radius / grid // exact: the grid is a power of two
	root := up(math.Sqrt(float64(values)))
	switch k {
	case KindMoment, KindVariance:
		if values > 1 {
			return up(up(float64(math.Sqrt2*ratio)) + root)
		}
		return up(ratio + 1)
	case KindTotal, KindRows:
		return up(ratio + 1)
	default:
		return up(2*ratio + root)
	}
}

func up(z float64) float64 { return math.Nextafter(z, math.Inf(1)) }

// HistogramSensitivity is Δ of a histogram query: a replaced unit leaves one
// bin and enters another. The float64 of √2 is above √2. It restates
// clip.HistogramSensitivity.
const HistogramSensitivity = math.Sqrt2

// BinEdge is the upper edge of bin j, 2^((j-255)/4).
func BinEdge(j int) float64 {
	k := j - (HistogramBins/2 - 1)
	whole := k >> 2 // floor, also below zero
	return math.Ldexp([]float64{1, quarterRoot, math.Sqrt2, threeQuarterRoot}[k&3], whole)
}

const (
	quarterRoot      = 1.18920711500272106671749997056047591529
	threeQuarterRoot = 1.68179283050742908606225095246642979008
)

// countGrid is the grid of counts. Central noise needs none; the sum of distributed
// shares is as close to its law as that of vectors when counts are scaled up (design
// section 6).
func (p *Plan) countGrid() float64 {
	if p.Honest > 0 {
		return 0x1p-8
	}
	return 1
}

// grid is the grid of a query's answer, given the radius of its sum.
func (p *Plan) grid(q Query, radius float64) float64 {
	if q.Kind.counts() {
		return p.countGrid()
	}
	return Grid(radius)
}

// Sensitivity is Δ of a query in its own units, given the radius of its sum: that of one
// unit, times the sites at which a unit may be, rounded up.
func (p *Plan) Sensitivity(q Query, radius float64) float64 {
	if q.Kind.counts() {
		return p.atSites(HistogramSensitivity / p.countGrid())
	}
	return p.atSites(SumSensitivity(q.Kind, radius, Grid(radius), q.Values))
}

// atSites is the sensitivity to one unit at each of SitesPerUnit sites, given that to one.
func (p *Plan) atSites(one float64) float64 {
	if p.SitesPerUnit() == 1 {
		return one
	}
	return up(float64(p.SitesPerUnit()) * one)
}

// SelectEpsilon is the ε0 of a query's choice by the exponential mechanism, exact: what its charge allows, over the
// sites at which a unit may be. A unit at s sites changes every score by s at most, so that the choice has the
// range s·ε0 that is charged (docs/privacy.md).
func (p *Plan) SelectEpsilon(query int) (*big.Rat, error) {
	e, err := noise.SelectEpsilon(p.Queries[query].Rho)
	if err != nil {
		return nil, err
	}
	return e.Quo(e, big.NewRat(int64(p.SitesPerUnit()), 1)), nil
}

// Sigma is the noise of a query in its own units, rounded up to the sampler's
// grid, given the radius of its sum. A choice by the exponential mechanism has none.
func (p *Plan) Sigma(q Query, radius float64) (noise.Sigma, error) {
	if q.Kind == KindSelect && p.Honest == 0 {
		return 0, nil
	}
	return noise.SigmaAtLeast(q.Multiplier * p.Sensitivity(q, radius))
}

// quantileRadius reads a radius off a noised histogram of units whose noise has standard
// deviation spread: bins that noise alone might fill are zeroed, and the quantile of what is
// left is given, between the edges of its bin in proportion; of quantile 1 the upper edge. Where
// zeroed bins hold more than a fifth of the units, neighbouring bins are taken together, two,
// four, up to 32: few units for the noise still say where they are. 0 if noise left nothing.
func quantileRadius(noised []int64, spread, quantile float64, units int) float64 {
	enough := 0.5 * float64(units)
	if quantile == 1 {
		enough = 0.8 * float64(units)
	}
	radius, most := 0.0, 0.0
	for width := 1; width <= 32 && most < enough; width *= 2 {
		if r, left := binsRadius(noised, spread, quantile, width); left > most {
			radius, most = r, left
		}
	}
	return radius
}

// binsRadius is quantileRadius with bins of width together, and the count that was left.
func binsRadius(noised []int64, spread, quantile float64, width int) (radius, left float64) {
	floor := standsOut(spread*math.Sqrt(float64(width)), len(noised)/width)
	var counts []float64 // 0 where zeroed
	for at := 0; at < len(noised); at += width {
		sum := 0.0
		for _, c := range noised[at : at+width] {
			sum += float64(c)
		}
		if sum < floor {
			sum = 0
		}
		counts = append(counts, sum)
		left += sum
	}
	wanted, seen := float64(quantile*left), 0.0
	for j, c := range counts {
		if c > 0 && seen+c >= wanted {
			low, high := BinEdge(max(0, j*width-1)), BinEdge((j+1)*width-1)
			return low + float64((high-low)*((wanted-seen)/c)), left
		}
		seen += c
	}
	return 0, 0
}

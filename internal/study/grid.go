package study

import (
	"math"

	"covey/internal/noise"
)

// Grid is the grid step g of radius R: the power of two with R/g in
// [2^16, 2^17). It restates clip.Grid, which this package may not import; a
// test at the root compares the two.
func Grid(radius float64) float64 {
	_, e := math.Frexp(radius) // radius = f·2^e, f in [1/2, 1)
	return math.Ldexp(1, e-1-16)
}

// PowerSensitivity is Δ of a power query in grid units: 2R/g + √d, rounded up
// (docs/privacy.md). It restates clip.Sensitivity to the bit.
func PowerSensitivity(radius, grid float64, d int) float64 {
	return up(2*(radius/grid) + up(math.Sqrt(float64(d))))
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

// Sensitivity is Δ of a query in its own units, given the radius in force.
func (p *Plan) Sensitivity(q Query, radius float64) float64 {
	if q.Kind == KindHistogram {
		return HistogramSensitivity
	}
	return PowerSensitivity(radius, Grid(radius), p.D)
}

// Sigma is the noise of a query in its own units, rounded up to the sampler's
// grid, given the radius in force.
func (p *Plan) Sigma(q Query, radius float64) (noise.Sigma, error) {
	return noise.SigmaAtLeast(q.Multiplier * p.Sensitivity(q, radius))
}

// RadiusFrom reads the private radius off a noised histogram: bins below 4σ
// are zeroed, and R is the upper edge of the bin of the 0.9 quantile of what is left
// (design section 2). If noise left nothing, R is previous, or 1 at the first.
func RadiusFrom(noised []int64, sigma noise.Sigma, previous float64) float64 {
	floor := 4 * sigma.Float()
	total := 0.0
	for _, c := range noised {
		if float64(c) >= floor {
			total += float64(c)
		}
	}
	if total == 0 {
		if previous > 0 {
			return previous
		}
		return 1
	}
	seen := 0.0
	for j, c := range noised {
		if float64(c) >= floor {
			seen += float64(c)
		}
		if seen >= 0.9*total {
			return BinEdge(j)
		}
	}
	return BinEdge(len(noised) - 1)
}

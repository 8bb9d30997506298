package query

import "math"

// Bounds of a sum. They keep every intermediate of a sum normal and finite and below the 2^51 to
// which clip's rounding constant reaches.
const (
	MinRadius = 0x1p-200 // smallest radius
	MaxRadius = 0x1p+200 // largest radius
	MinRatio  = 0x1p+16  // smallest R/g: the √d of the rounding stays under 0.1% of Δ to d = 10^4
	MaxRatio  = 0x1p+40  // largest R/g
	MaxValues = 1 << 24  // most values of a map: a moment of d ≤ 5792
)

// Grid returns the default grid step of a radius, the power of two g = 2^(floor(log2 R)-16), taken
// from the exponent bits and so exact. R/g is in [2^16, 2^17). A radius outside [2^-200, 2^200] has
// the grid NaN, of which no sensitivity is finite.
func Grid(radius float64) float64 {
	if !(radius >= MinRadius && radius <= MaxRadius) {
		return math.NaN()
	}
	_, e := math.Frexp(radius) // radius = f·2^e, f in [1/2, 1): floor(log2 R) = e-1
	return math.Ldexp(1, e-17)
}

// Sensitivity returns Delta for a radius, a grid and a number of values. R/g is exact because the
// grid is a power of two. What a sum cannot have returns +Inf, for which no noise suffices: counts
// and unknown kinds, a radius, grid or number of values out of bounds, several values of a kind
// that has one.
func (d Definition) Sensitivity(radius, grid float64, values int) float64 {
	f, _ := math.Frexp(grid)
	ratio := radius / grid
	if d.Delta == nil || !(radius >= MinRadius && radius <= MaxRadius && f == 0.5 && ratio >= MinRatio && ratio <= MaxRatio && values >= 1 && values <= MaxValues) {
		return math.Inf(1)
	}
	return d.Delta(ratio, values)
}

// The three sensitivities. The double of a ratio is exact and the float64 of √2 is above √2; every
// other operation rounds to nearest, so one step up covers each.

// anywhere is 2R/g + √L: of vectors of L numbers that may point in opposite directions.
func anywhere(ratio float64, values int) float64 {
	root := up(math.Sqrt(float64(values)))
	return up(2*ratio + root) // 2*ratio is exact: fusing changes nothing
}

// acute is √2·R/g + √L: of vectors whose inner products are never negative. One number of them is
// in [0, R].
func acute(ratio float64, values int) float64 {
	if values == 1 {
		return single(ratio, 1)
	}
	return up(up(float64(math.Sqrt2*ratio)) + up(math.Sqrt(float64(values))))
}

// single is R/g + 1: of one number in [0, R], where 0 and R are farthest apart.
func single(ratio float64, values int) float64 {
	if values != 1 {
		return math.Inf(1)
	}
	return up(ratio + 1)
}

// CountSensitivity is Delta for counts of so many values on a grid; +Inf for what counts cannot
// have: sums, unknown kinds, a grid that is not theirs, a number of values that is not of whole
// columns.
func (d Definition) CountSensitivity(grid float64, values int) float64 {
	f, _ := math.Frexp(grid)
	switch {
	case !d.Counts || f != 0.5 || !(grid <= 1 && grid >= 1/MaxRatio) || values < 1 || values > MaxValues:
		return math.Inf(1)
	case d.CountDelta == nil:
		return HistogramSensitivity / grid // exact
	case grid != ColumnGrid:
		return math.Inf(1)
	}
	return d.CountDelta(1/grid, values)
}

// oneHots is √(2·levels·d)/g: in each column and level a unit's counts are not negative and add up
// to 1/g at most.
func oneHots(bins, levels int) func(ratio float64, values int) float64 {
	return func(ratio float64, values int) float64 {
		if values%bins != 0 {
			return math.Inf(1)
		}
		return ratio * up(math.Sqrt(float64(2*levels*(values/bins)))) // exact, both times
	}
}

// moments is √(28 d)/g + √(2d): 2z of norm 2·1.1·√d may point anywhere, z² of norm 1.2·√(3d) is not
// negative, and 4·4·1.21 + 2·1.44·3 = 28.
func moments(ratio float64, values int) float64 {
	if values%2 != 0 {
		return math.Inf(1)
	}
	return up(ratio*up(math.Sqrt(float64(14*values))) + up(math.Sqrt(float64(values))))
}

// shares is √d/g: each of d numbers is in [0, 1/g].
func shares(ratio float64, values int) float64 {
	return ratio * up(math.Sqrt(float64(values))) // exact: ratio is a power of two
}

func up(z float64) float64 { return math.Nextafter(z, math.Inf(1)) }

// HistogramSensitivity is the L2 sensitivity of counts to the replacement of one unit, which leaves
// one bin and enters another: √2 rounded up, since the nearest float64 is above √2.
const HistogramSensitivity float64 = math.Sqrt2

const (
	// HistogramBins is how many bins a histogram of norms has, four to an octave from 2^-64 to
	// 2^64.
	HistogramBins = 512
	// GroupBins is how many octaves groups are counted in, from 2^-256 to 2^256.
	GroupBins = 512
)

// The bins' inner edges within an octave, 2^(1/4), 2^(1/2), 2^(3/4) to the nearest float64. They
// define the bins: all code that sorts into them compares with the same three.
const (
	Quarter1 float64 = 1.18920711500272106671749997056047591529
	Quarter2 float64 = math.Sqrt2
	Quarter3 float64 = 1.68179283050742908606225095246642979008
)

// BinEdge returns the upper edge 2^((j-255)/4) of bin j of a histogram of norms, which is the lower
// edge of bin j+1; BinEdge(-1) = 2^-64 is the nominal lower edge of bin 0. Bin 511 holds everything
// from 2^63.75 up, whatever BinEdge(511) = 2^64 says.
func BinEdge(j int) float64 {
	e := j - (HistogramBins/2 - 1)
	octave := e >> 2 // floor, also below zero
	return math.Ldexp([4]float64{1, Quarter1, Quarter2, Quarter3}[e&3], octave)
}

// Octave returns the bin [2^(j-256), 2^(j-255)) of f·2^e, with all that lies beyond in the first
// and the last; what is not above 0 is in the first.
func Octave(f float64, e int) int {
	if !(f > 0) {
		return 0
	}
	_, up := math.Frexp(f) // f in [2^(up-1), 2^up)
	return max(0, min(up-1+e+GroupBins/2, GroupBins-1))
}

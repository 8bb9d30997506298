package clip

import (
	"fmt"
	"math"
)

// Limits of a [Query]. They keep every intermediate of [Sum] normal and finite and below the 2^51 to which the rounding constant reaches.
const (
	MinRadius = 0x1p-200 // smallest radius
	MaxRadius = 0x1p+200 // largest radius
	MinRatio  = 0x1p+16  // smallest R/g: the √d of the rounding stays under 0.1% of Δ to d = 10^4
	MaxRatio  = 0x1p+40  // largest R/g
	MaxValues = 1 << 24  // most values of a map: a moment of d ≤ 5792
)

// Tolerances of a set of directions. Sensitivity depends on neither.
const (
	unitTolerance  = 1e-9 // how far the norm of a query's direction may be from 1
	crossTolerance = 1e-6 // how far the product of two directions may be from 0
)

// Map says what a unit's rows become before they are clipped, rounded and added.
type Map uint8

// The maps. Each is the sum over the unit's rows y, in R^d, of a vector, and has a size that is clipped to R. X holds the k directions x_l.
const (
	Power    Map = iota // y (yᵀX): k vectors y (yᵀx_l), one after another, k·d values; size: L2 norm (of the d×k matrix: Frobenius)
	Mean                // y: d values; size: L2 norm
	Moment              // y yᵀ: its upper triangle row by row, entries off the diagonal times √2, d(d+1)/2 values; size: trace Σ‖y‖², never below the L2 norm
	Variance            // (x_lᵀy)²: k values; size: L2 norm
	Total               // ‖y‖²: one value, its own size
	Rows                // 1: one value, its own size
)

// Query is one private sum: the map, the directions X (k of length d, one after another, orthonormal; nil unless the map is Power or Variance),
// the clipping radius R in the units of the map's size, and the grid step g.
type Query struct {
	Map          Map
	X            []float64
	Radius, Grid float64
}

// QueryError names the field of a query that was refused and the bound it broke. It carries no vector.
type QueryError struct{ Field, Bound string }

func (e *QueryError) Error() string { return "clip: query " + e.Field + " " + e.Bound }

// Values is how many values the map of a query has, for rows of length d.
func (q Query) Values(d int) int {
	switch q.Map {
	case Power:
		return len(q.X)
	case Mean:
		return d
	case Moment:
		return d * (d + 1) / 2
	case Variance:
		return len(q.X) / d
	}
	return 1
}

// Validate checks the query for rows of length d: a known map of at most [MaxValues] values; X of 1 to d directions of length d, finite, each of norm 1
// within 1e-9, each two orthogonal within 1e-6, or no X where the map has none; Radius in [2^-200, 2^200]; Grid a power of two with
// Radius/Grid in [2^16, 2^40]. It looks at public values only, so a refusal says nothing about rows. Every error is a [*QueryError].
func (q Query) Validate(d int) error {
	if err := q.validateMap(d); err != nil {
		return err
	}
	if !(q.Radius >= MinRadius && q.Radius <= MaxRadius) {
		return &QueryError{"radius", "is not in [2^-200, 2^200]"}
	}
	if f, _ := math.Frexp(q.Grid); f != 0.5 {
		return &QueryError{"grid", "is not a power of two"}
	}
	if r := q.Radius / q.Grid; !(r >= MinRatio && r <= MaxRatio) {
		return &QueryError{"grid", "is not between radius/2^40 and radius/2^16"}
	}
	return nil
}

// validateMap checks what does not depend on the radius.
func (q Query) validateMap(d int) error {
	if q.Map > Rows {
		return &QueryError{"map", "is not known"}
	}
	if q.Values(d) > MaxValues {
		return &QueryError{"map", "has more than 2^24 values"}
	}
	if q.Map == Power || q.Map == Variance {
		if len(q.X) == 0 {
			return &QueryError{"direction", fmt.Sprintf("has length 0, rows have %d", d)}
		}
		return orthonormal(q.X, d, unitTolerance)
	}
	if len(q.X) != 0 {
		return &QueryError{"direction", "has no place in this map"}
	}
	return nil
}

// orthonormal checks that x is a number of directions of length d, at most d of them, finite, of norm 1 within tolerance and orthogonal
// within crossTolerance.
func orthonormal(x []float64, d int, tolerance float64) error {
	if len(x)%d != 0 {
		return &QueryError{"direction", fmt.Sprintf("has length %d, rows have %d", len(x), d)}
	}
	if len(x)/d > d {
		return &QueryError{"direction", fmt.Sprintf("is one of %d in a space of %d dimensions", len(x)/d, d)}
	}
	for j, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &QueryError{"direction", fmt.Sprintf("is not finite at index %d", j)}
		}
	}
	for lo := 0; lo < len(x); lo += d {
		a := x[lo : lo+d]
		if !(math.Abs(math.Sqrt(dot(a, a))-1) <= tolerance) {
			return &QueryError{"direction", fmt.Sprintf("is not of norm 1 within %g", tolerance)}
		}
		for to := 0; to < lo; to += d {
			if !(math.Abs(dot(a, x[to:to+d])) <= crossTolerance) {
				return &QueryError{"direction", fmt.Sprintf("is not orthogonal to another within %g", crossTolerance)}
			}
		}
	}
	return nil
}

// Grid is the default grid step of a radius, the power of two g = 2^(floor(log2 R)-16), taken from the exponent bits and so exact. R/g is in
// [2^16, 2^17). A radius outside [2^-200, 2^200] gives NaN, which [Query.Validate] refuses.
func Grid(radius float64) float64 {
	if !(radius >= MinRadius && radius <= MaxRadius) {
		return math.NaN()
	}
	_, e := math.Frexp(radius) // radius = f·2^e, f in [1/2, 1): floor(log2 R) = e-1
	return math.Ldexp(1, e-17)
}

// Sensitivity bounds, in grid units, the L2 change of [Sum] when one unit is replaced, rounded up, for a map of so many values (L):
//
//	Power, Mean       2R/g + √L
//	Moment, Variance  √2·R/g + √L, and R/g + 1 where L is 1
//	Total, Rows       R/g + 1
//
// The package comment derives them; floating-point error adds nothing, the margin 2^-30 absorbs it. A unit present at s sites multiplies Δ by
// s; that is the caller's.
//
// The formulas to restate elsewhere, bit for bit, where up(z) is math.Nextafter(z, +Inf):
//
//	up(2*(R/g) + up(sqrt(L)))
//	up(up(math.Sqrt2*(R/g)) + up(sqrt(L)))
//	up(R/g + 1)
//
// R/g and its double are exact because g is a power of two, and the float64 of √2 is above √2; every other operation rounds to nearest, so one step up
// covers each. Arguments that a [Query] could not have give +Inf, for which no noise suffices.
func Sensitivity(m Map, radius, grid float64, values int) float64 {
	f, _ := math.Frexp(grid)
	r := radius / grid
	if !(radius >= MinRadius && radius <= MaxRadius && f == 0.5 && r >= MinRatio && r <= MaxRatio && values >= 1 && values <= MaxValues) {
		return math.Inf(1)
	}
	root := up(math.Sqrt(float64(values)))
	switch {
	case m <= Mean: // Power, Mean
		return up(2*r + root) // 2*r is exact: fusing changes nothing
	case m <= Variance && values > 1: // Moment, Variance
		return up(up(float64(math.Sqrt2*r)) + root)
	case m <= Rows && values == 1: // one number in [0, R]: 0 and R are farthest apart
		return up(r + 1)
	}
	return math.Inf(1)
}

func up(z float64) float64 { return math.Nextafter(z, math.Inf(1)) }

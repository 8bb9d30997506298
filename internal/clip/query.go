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
)

// unitTolerance is how far a query's norm may be from 1. Sensitivity does not depend on it.
const unitTolerance = 1e-9

// Map is what a unit's rows become before they are clipped, rounded and added.
type Map uint8

// The maps.
const (
	Power    Map = iota // Σ y (yᵀX)
	Mean                // Σ y
	Moment              // Σ y yᵀ
	Variance            // Σ (x_jᵀy)²
	Total               // Σ ‖y‖²
	Rows                // the number of rows
)

// Query is one power step: the direction x (unit norm), the clipping radius R in the units of y yᵀx, and the grid step g.
type Query struct {
	Map          Map
	X            []float64
	Radius, Grid float64
}

// QueryError names the field of a query that was refused and the bound it broke. It carries no vector.
type QueryError struct{ Field, Bound string }

func (e *QueryError) Error() string { return "clip: query " + e.Field + " " + e.Bound }

// Validate checks the query for rows of length d: X of length d, finite, of norm 1 within 1e-9; Radius in [2^-200, 2^200];
// Grid a power of two with Radius/Grid in [2^16, 2^40]. It looks at public values only, so a refusal says nothing about rows.
// Every error is a [*QueryError].
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
	if q.Map != Power {
		return &QueryError{"map", "is not known"}
	}
	return validateDirection(q.X, d)
}

func validateDirection(x []float64, d int) error {
	if len(x) != d {
		return &QueryError{"direction", fmt.Sprintf("has length %d, rows have %d", len(x), d)}
	}
	sum := 0.0
	for j, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &QueryError{"direction", fmt.Sprintf("is not finite at index %d", j)}
		}
		sum += float64(v * v)
	}
	if !(math.Abs(math.Sqrt(sum)-1) <= unitTolerance) {
		return &QueryError{"direction", "is not of norm 1 within 1e-9"}
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

// Sensitivity bounds, in grid units, the L2 change of [Sum] when one row is replaced: Δ = 2R/g + √d, rounded up. The slack of the design's
// 2R(1+slack)/g + √d is 0 (package comment): the margin 2^-30 in b_i absorbs all floating-point error for d ≤ [MaxDim]. A unit
// present at s sites multiplies Δ by s; that is the caller's.
//
// The formula to restate elsewhere, bit for bit, where up(z) is math.Nextafter(z, +Inf):
//
//	up(2*(R/g) + up(sqrt(float64(d))))
//
// R/g and its double are exact because g is a power of two; the square root and the sum each round to nearest, so one step up covers them.
// Arguments that a [Query] could not have give +Inf, for which no noise suffices.
func Sensitivity(m Map, radius, grid float64, values int) float64 {
	f, _ := math.Frexp(grid)
	r := radius / grid
	if !(m == Power && radius >= MinRadius && radius <= MaxRadius && f == 0.5 && r >= MinRatio && r <= MaxRatio && values >= 1 && values <= MaxDim) {
		return math.Inf(1)
	}
	root := math.Nextafter(math.Sqrt(float64(values)), math.Inf(1))
	return math.Nextafter(2*r+root, math.Inf(1)) // 2*r is exact: fusing changes nothing
}

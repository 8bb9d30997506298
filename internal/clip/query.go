package clip

import (
	"fmt"
	"math"

	"covey/internal/query"
)

// Tolerances of a set of directions. Sensitivity depends on neither.
const (
	unitTolerance  = 1e-9 // how far the norm of a query's direction may be from 1
	crossTolerance = 1e-6 // how far the product of two directions may be from 0
)

// Query is one private sum: the map, the directions X (k of length d, one after another,
// orthonormal; nil unless the map has directions), the clipping radius R in the units of the map's
// size, and the grid step g.
type Query struct {
	Map          Map
	X            []float64
	Radius, Grid float64
}

// QueryError names the field of a query that was refused and the bound it broke. It carries no
// vector.
type QueryError struct{ Field, Bound string }

func (e *QueryError) Error() string { return "clip: query " + e.Field + " " + e.Bound }

// Values is how many values the map of a query has, for rows of length d.
func (q Query) Values(d int) int {
	if values := q.Map.definition().Values; values != nil {
		return values(d, len(q.X)/d)
	}
	return 1
}

// Validate checks the query for rows of length d: a known map of at most [query.MaxValues] values;
// X of 1 to d directions of length d, finite, each of norm 1 within 1e-9, each two orthogonal
// within 1e-6, or no X where the map has none; Radius in [2^-200, 2^200]; Grid a power of two with
// Radius/Grid in [2^16, 2^40]. It looks at public values only, so a refusal says nothing about
// rows. Every error is a [*QueryError].
func (q Query) Validate(d int) error {
	if err := q.validateMap(d); err != nil {
		return err
	}
	if !(q.Radius >= query.MinRadius && q.Radius <= query.MaxRadius) {
		return &QueryError{"radius", "is not in [2^-200, 2^200]"}
	}
	if f, _ := math.Frexp(q.Grid); f != 0.5 {
		return &QueryError{"grid", "is not a power of two"}
	}
	if r := q.Radius / q.Grid; !(r >= query.MinRatio && r <= query.MaxRatio) {
		return &QueryError{"grid", "is not between radius/2^40 and radius/2^16"}
	}
	return nil
}

// validateMap checks what does not depend on the radius.
func (q Query) validateMap(d int) error {
	if q.Map.definition().Map == nil {
		return &QueryError{"map", "is not known"}
	}
	if q.Values(d) > query.MaxValues {
		return &QueryError{"map", "has more than 2^24 values"}
	}
	if q.Map.definition().Directions != query.None {
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

// orthonormal checks that x is a number of directions of length d, at most d of them, finite, of
// norm 1 within tolerance and orthogonal within crossTolerance.
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

package clip

import (
	"fmt"
	"math"
	"slices"
)

// The bounds of a scale: a value of a matrix, less a center, stays finite when it is divided by
// one.
const (
	minScale = 0x1p-100
	maxScale = 0x1p+100
)

// Standardize is the matrix of rows (y - center)/scale, coordinate by coordinate, each then kept
// within ±limit: center empty or as in [Matrix.Less], scale 0 or in [2^-100, 2^100], limit above 0,
// which may be infinite. A coordinate of scale 0 is 0 in every row. The units stay. A [*QueryError]
// otherwise. A gap stays one, with 0 in its place. A row of the result depends on the row and the
// arguments alone, and is finite.
func (m *Matrix) Standardize(center, scale, limit []float64) (*Matrix, error) {
	if len(center) == 0 {
		center = make([]float64, m.d)
	}
	if len(center) != m.d || len(scale) != m.d || len(limit) != m.d {
		return nil, &QueryError{"scale", fmt.Sprintf("center, scale and limit have lengths %d, %d and %d, rows have %d", len(center), len(scale), len(limit), m.d)}
	}
	for j, s := range scale {
		switch {
		case !(math.Abs(center[j]) <= maxCenter):
			return nil, &QueryError{"center", fmt.Sprintf("is not finite or above 2^150 at index %d", j)}
		case s != 0 && !(s >= minScale && s <= maxScale):
			return nil, &QueryError{"scale", fmt.Sprintf("is neither 0 nor in 2^-100..2^100 at index %d", j)}
		case !(limit[j] > 0):
			return nil, &QueryError{"limit", fmt.Sprintf("is not above 0 at index %d", j)}
		}
	}
	center, scale, limit = slices.Clone(center), slices.Clone(scale), slices.Clone(limit)
	for j := range limit {
		limit[j] = min(limit[j], top(m.d))
	}
	out := m.derived(func(from *reader) func([]float64, int, int) {
		return func(out []float64, lo, hi int) {
			from.rows(lo, hi).standard(out, center, scale, limit)
			m.empty(out, lo, hi)
		}
	})
	out.gaps = m.gaps
	return out, nil
}

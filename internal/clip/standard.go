package clip

import (
	"fmt"
	"math"
)

// The bounds of a scale: a value of a matrix, less a center, stays finite when it is divided by
// one.
const (
	minScale = 0x1p-300
	maxScale = 0x1p+300
)

// Standardize is the matrix of rows (y - center)/scale, coordinate by coordinate, each then kept
// within ±limit: center empty or as in [Matrix.Less], scale 0 or in [2^-300, 2^300], limit above 0,
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
			return nil, &QueryError{"center", fmt.Sprintf("is not finite or above 2^300 at index %d", j)}
		case s != 0 && !(s >= minScale && s <= maxScale):
			return nil, &QueryError{"scale", fmt.Sprintf("is neither 0 nor in 2^-300..2^300 at index %d", j)}
		case !(limit[j] > 0):
			return nil, &QueryError{"limit", fmt.Sprintf("is not above 0 at index %d", j)}
		}
	}
	values := make([]float64, m.values.len())
	var wide []float64
	var empty []int
	for i := range m.norms {
		lo := i * m.d
		out, row := values[lo:lo+m.d], m.values.part(lo, lo+m.d).widened(&wide)
		for j, c := range center {
			if scale[j] > 0 { // |row - c| is below 2^501: the quotient is finite
				out[j] = min(max((row[j]-c)/scale[j], -limit[j]), limit[j])
			}
		}
		empty = places(empty[:0], m.gapsOf(i))
		for _, j := range empty {
			out[j] = 0
		}
	}
	out := derived(m.d, values, m.starts, m.absent)
	out.gaps = m.gaps
	return out, nil
}

package clip

import (
	"slices"
	"testing"

	"covey/internal/query"
)

// TestEveryBlockIsClipped: a long row is clipped wherever it stands: in the first block, the last,
// and at the ends of those between.
func TestEveryBlockIsClipped(t *testing.T) {
	const d = 3
	x := []float64{0.6, 0, 0.8}
	long := []float64{0x1p40, -0x1p39, 0x1p38}
	for _, q := range []Query{
		{Map: Power, X: x}, {Map: Power, X: []float64{0.6, 0, 0.8, 0, 1, 0}}, {Map: Mean}, {Map: Moment},
		{Map: Variance, X: x}, {Map: Total},
	} {
		q.Radius, q.Grid = 1.5, query.Grid(1.5)
		height := mustMatrix(t, d, make([]float64, 100_000*d)).fusedHeight(blockBytes)
		n := 3*height + 5
		for _, at := range []int{0, 1, height - 1, height, height + 1, 2*height - 1, 2 * height, 3*height - 1, 3 * height, n - 1} {
			values := make([]float64, n*d)
			copy(values[at*d:], long)
			unit := make([]int, n)
			for i := range unit {
				unit[i] = i
			}
			grouped, err := NewUnits(d, slices.Clone(values), unit)
			if err != nil {
				t.Fatal(err)
			}
			for name, m := range map[string]*Matrix{"rows": mustMatrix(t, d, values), "units": grouped} {
				if v := mustSum(t, m, q, 2); exceeds(v, q.Radius/q.Grid+2) || length(v) < 0.99*q.Radius/q.Grid {
					t.Errorf("map %d of %s: a row at %d of %d has length %v, R/g is %v", q.Map, name, at, n, length(v), q.Radius/q.Grid)
				}
			}
		}
	}
}

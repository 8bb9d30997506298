package clip

import (
	"math"
	"testing"
	"time"

	"covey/internal/query"
)

// TestZerosTakeTheTimeOfOthers: how long an answer takes does not tell how many cells are zeros,
// which level rows have, or how many have no part along a direction: before, up to 2.6 times. Of
// many runs the shortest counts, so that a busy machine only makes this test longer.
func TestZerosTakeTheTimeOfOthers(t *testing.T) {
	const n, d = 256, 64
	rows := func(cell func(j int) float64) *Matrix {
		values := make([]float64, n*d)
		for i := range values {
			values[i] = cell(i % d)
		}
		m, err := NewMatrix(d, values)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	in := func(at int) *Matrix { return rows(func(j int) float64 { return float64(filled(float64(j-at)) ^ 1) }) }
	zeros, ones := rows(func(int) float64 { return 0 }), rows(func(int) float64 { return 1 })
	of, x := make([]int, d), make([]float64, d)
	for j := range of {
		of[j] = j
	}
	x[0] = 1
	for _, c := range []struct {
		name string
		a, b *Matrix
		sum  func(m *Matrix) ([]int64, error)
	}{
		{"octaves", zeros, ones, func(m *Matrix) ([]int64, error) { return Columns(m, query.Octaves, of, nil, 1) }},
		{"moments", zeros, ones, func(m *Matrix) ([]int64, error) { return Columns(m, query.Moments, of, nil, 1) }},
		{"first level, last level", in(0), in(d - 1), func(m *Matrix) ([]int64, error) { return Levels(m, []Indicator{{0, d}}, 1) }},
		{"level, none", in(0), zeros, func(m *Matrix) ([]int64, error) { return Levels(m, []Indicator{{0, d}}, 1) }},
		{"picture by level", in(0), in(d - 1), func(m *Matrix) ([]int64, error) {
			level, err := m.LevelOf(Indicator{0, d})
			if err != nil {
				return nil, err
			}
			return Picture(m, ScoreGrid{X: append(make([]float64, 2*d-1), 1)[d:], Deviations: []float64{1}}, 0, 0, d, level, 1)
		}},
		{"variance", in(0), in(1), func(m *Matrix) ([]int64, error) {
			return Sum(m, Query{Map: Variance, X: x, Radius: 1, Grid: 0x1p-16}, 1)
		}},
		{"total", zeros, ones, func(m *Matrix) ([]int64, error) { return Sum(m, Query{Map: Total, Radius: 1, Grid: 0x1p-16}, 1) }},
	} {
		best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
		ratio := 0.0
		for run := 0; run < 40 || run < 400 && ratio > 1.2; run++ {
			for i, m := range []*Matrix{c.a, c.b} {
				begun := time.Now()
				if _, err := c.sum(m); err != nil {
					t.Fatal(err)
				}
				best[i] = min(best[i], time.Since(begun))
			}
			ratio = max(float64(best[0])/float64(best[1]), float64(best[1])/float64(best[0]))
		}
		if ratio > 1.3 {
			t.Errorf("%s: %v and %v", c.name, best[0], best[1])
		}
		t.Logf("%s: %.3f", c.name, ratio)
	}
}

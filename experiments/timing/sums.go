package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"
	"time"

	"covey/internal/clip"
	"covey/internal/query"
)

// sums measures what the time of a site's sums shows of its values where a unit is a row: of two
// tables of one shape, how much longer the slower one takes. Of many runs the shortest counts.
func sums(w io.Writer, runs int) error {
	const n, d = 256, 64
	var failed error
	rows := func(cell func(j int) float64) *clip.Matrix {
		values := make([]float64, n*d)
		for i := range values {
			values[i] = cell(i % d)
		}
		m, err := clip.NewMatrix(d, values)
		if err != nil {
			failed = err
		}
		return m
	}
	only := func(at int) *clip.Matrix {
		return rows(func(j int) float64 {
			if j == at {
				return 1
			}
			return 0
		})
	}
	// mixed are many rows: the given share of them, or of their cells, is 0, or absent.
	mixed := func(n, d int, share float64, cells, gone bool) *clip.Matrix {
		rng := rand.New(rand.NewPCG(43, 44))
		values, absent := make([]float64, n*d), []int(nil)
		for i := range n {
			zero := rng.Float64() < share
			for j := range d {
				if cells {
					zero = rng.Float64() < share
				}
				if values[i*d+j] = 0; !zero { // a page that nobody wrote to reads faster
					values[i*d+j] = 1 + rng.Float64()
				}
			}
			if zero && gone {
				absent = append(absent, i)
			}
		}
		m, err := clip.NewMatrix(d, values, absent...)
		if err != nil {
			failed = err
		}
		return m
	}
	const many = 1 << 16
	pairs, halfZero, halfGone := mixed(many, 2, 0, false, false), mixed(many, 2, 0.5, false, false), mixed(many, 2, 0.5, false, true)
	cells, halfCells := mixed(many/8, 8, 0, true, false), mixed(many/8, 8, 0.5, true, false)
	few, allGone := mixed(many/16, 2, 0, false, false), mixed(many/16, 2, 1, false, true)
	zeros, ones := rows(func(int) float64 { return 0 }), rows(func(int) float64 { return 1 })
	first, last, second := only(0), only(d-1), only(1)
	if failed != nil {
		return failed
	}
	of, x := make([]int, d), make([]float64, d)
	for j := range of {
		of[j] = j
	}
	x[0] = 1
	levels := clip.Indicator{First: 0, Width: d}
	mean := func(m *clip.Matrix, err error) ([]int64, error) {
		if err != nil {
			return nil, err
		}
		return clip.Sum(m, clip.Query{Map: clip.Mean, Radius: 1, Grid: 0x1p-16}, 1)
	}
	plane := clip.ScoreGrid{X: []float64{1, 0, 0, 1}, Deviations: []float64{1, 1}}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nsum\tof\tand of\ttime of the slower by the other's\t")
	for _, c := range []struct {
		name, nameA, nameB string
		a, b               *clip.Matrix
		sum                func(m *clip.Matrix) ([]int64, error)
	}{
		{"octaves", "zeros", "ones", zeros, ones, func(m *clip.Matrix) ([]int64, error) { return clip.Columns(m, query.Octaves, of, nil, 1) }},
		{"moments", "zeros", "ones", zeros, ones, func(m *clip.Matrix) ([]int64, error) { return clip.Columns(m, query.Moments, of, nil, 1) }},
		{"levels", "the first", "the last", first, last, func(m *clip.Matrix) ([]int64, error) { return clip.Levels(m, []clip.Indicator{levels}, 1) }},
		{"levels", "the first", "none", first, zeros, func(m *clip.Matrix) ([]int64, error) { return clip.Levels(m, []clip.Indicator{levels}, 1) }},
		{"picture by level", "the first", "the last", first, last, func(m *clip.Matrix) ([]int64, error) {
			level, err := m.LevelOf(levels)
			if err != nil {
				return nil, err
			}
			return clip.Picture(m, clip.ScoreGrid{X: x, Deviations: []float64{1}}, 0, 0, d, level, 1)
		}},
		{"variance", "the direction", "across", first, second, func(m *clip.Matrix) ([]int64, error) {
			return clip.Sum(m, clip.Query{Map: clip.Variance, X: x, Radius: 1, Grid: 0x1p-16}, 1)
		}},
		{"total", "zeros", "ones", zeros, ones, func(m *clip.Matrix) ([]int64, error) {
			return clip.Sum(m, clip.Query{Map: clip.Total, Radius: 1, Grid: 0x1p-16}, 1)
		}},
		{"groups", "zeros", "ones", zeros, ones, func(m *clip.Matrix) ([]int64, error) { return clip.Groups(m, d, 1) }},
		{"groups", "zeros", "one column", zeros, first, func(m *clip.Matrix) ([]int64, error) { return clip.Groups(m, d, 1) }},
		{"mean", "numbers", "half zeros", pairs, halfZero, func(m *clip.Matrix) ([]int64, error) { return mean(m, nil) }},
		{"mean of a sphere", "numbers", "half zeros", pairs, halfZero, func(m *clip.Matrix) ([]int64, error) { return mean(m.Sphere()) }},
		{"centered mean", "numbers", "half left out", pairs, halfGone, func(m *clip.Matrix) ([]int64, error) { return mean(m.Less([]float64{0.5, 0.5})) }},
		{"octaves", "numbers", "half zero cells", cells, halfCells, func(m *clip.Matrix) ([]int64, error) { return clip.Columns(m, query.Octaves, of[:8], nil, 1) }},
		{"octaves", "numbers", "all left out", few, allGone, func(m *clip.Matrix) ([]int64, error) { return clip.Columns(m, query.Octaves, of[:2], nil, 1) }},
		{"tree", "numbers", "all left out", few, allGone, func(m *clip.Matrix) ([]int64, error) { return clip.Columns(m, query.Tree, of[:2], nil, 1) }},
		{"scores", "numbers", "all left out", few, allGone, func(m *clip.Matrix) ([]int64, error) { return clip.Scores(m, plane, 1) }},
	} {
		best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
		for range runs {
			for i, m := range []*clip.Matrix{c.a, c.b} {
				began := time.Now()
				if _, err := c.sum(m); err != nil {
					return err
				}
				best[i] = min(best[i], time.Since(began))
			}
		}
		ratio := float64(max(best[0], best[1])) / float64(min(best[0], best[1]))
		fmt.Fprintf(t, "%s\t%s\t%s\t%.2f\t\n", c.name, c.nameA, c.nameB, ratio)
	}
	return t.Flush()
}

package main

import (
	"fmt"
	"io"
	"math"
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

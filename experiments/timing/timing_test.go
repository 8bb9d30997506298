package main

import (
	"io"
	"math"
	"testing"
)

func TestRank(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 40}, []float64{5, 6, 7, 8}, 1},
		{[]float64{1, 2, 3, 40}, []float64{8, 7, 6, 5}, -1},
		{[]float64{1, 1, 2, 2}, []float64{1, 2, 1, 2}, 0},
		{[]float64{1, 2, 3, 4, 5}, []float64{2, 1, 4, 3, 5}, 0.8}, // 1 - 6·4/(5·24)
	} {
		if got, _ := rank(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestItRuns with few releases.
func TestItRuns(t *testing.T) {
	if err := run(io.Discard, 50); err != nil {
		t.Fatal(err)
	}
}

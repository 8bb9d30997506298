package main

import (
	"math"
	"testing"
)

func TestCrossing(t *testing.T) {
	n, loss := []float64{1000, 4000, 16_000}, []float64{0.16, 0.04, 0.01} // loss·n = 160
	for _, c := range []struct {
		alpha, want float64
		how         string
	}{{0.08, 2000, ""}, {0.02, 8000, ""}, {0.5, 1000, "<"}, {0.001, 16_000, ">"}} {
		at, how := crossing(n, loss, c.alpha)
		if math.Abs(at-c.want) > 1e-6*c.want || how != c.how {
			t.Errorf("α = %v at %s%v, want %s%v", c.alpha, how, at, c.how, c.want)
		}
	}
	if got := slope([]float64{0, 1, 2}, []float64{1, 3, 5}); got != 2 {
		t.Errorf("slope %v", got)
	}
}

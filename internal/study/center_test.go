package study

import (
	"math"
	"testing"

	"covey/internal/noise"
	"covey/test/texts"
)

// TestCenterCountsEachMean: of two means each counts by its noise, so that the second alone decides
// where the first was of rows far from the offsets, and its noise is large.
func TestCenterCountsEachMean(t *testing.T) {
	p := mustPlan(t, texts.Minimal, 1000, 1000, 1000)
	mean := func(sigma noise.Sigma, z int64) Release {
		return Release{Kind: KindMean, Sigma: sigma << 10, Grid: 1, Units: 1, Noised: []int64{z, 0, 0}}
	}
	for _, c := range []struct {
		first noise.Sigma
		want  float64
	}{{2, 8 + 4.0/2}, {6, 8 + 4*0.9}, {2000, 8 + 4/(1+1e-6)}} {
		var course Course
		first, second := mean(c.first, 8), mean(2, 4) // which is of rows less the first
		(&transition{p, Query{}, first, nil, &course}).center()
		(&transition{p, Query{}, second, []Release{first}, &course}).center()
		if math.Abs(course.Center[0]-c.want) > 1e-9 {
			t.Errorf("after noise of %d and of 2 the center is %v, want %v", c.first, course.Center[0], c.want)
		}
	}
}

package study

import (
	"math"
	"testing"

	"covey/internal/noise"
	"covey/test/texts"
)

// TestCenterCountsEachMean: of two means each counts by its noise, so that the second alone decides
// where the first was of rows far from the offsets, and its noise is large. One that was clipped
// shorter than the second, or at the default radius, has no part in it.
func TestCenterCountsEachMean(t *testing.T) {
	p := mustPlan(t, texts.Minimal, 1000, 1000, 1000)
	mean := func(sigma noise.Sigma, radius float64, z int64) Release {
		return Release{Kind: KindMean, Radius: radius, Sigma: sigma << 10, Grid: 1, Units: 1, Noised: []int64{z, 0, 0}}
	}
	for _, c := range []struct {
		first        noise.Sigma
		radius, then float64
		weight       float64 // of the second
	}{{2, 3, 3, 0.5}, {2, 2.8, 3, 0.5}, {6, 9, 3, 0.9}, {2000, 9, 3, 1 / (1 + 1e-6)}, {2, 2.6, 3, 1}, {2, defaultRadius, defaultRadius, 1}} {
		var course Course
		first, second := mean(c.first, c.radius, 8), mean(2, c.then, 4) // which is of rows less the first
		(&transition{p, Query{}, first, nil, &course}).center()
		(&transition{p, Query{}, second, []Release{first}, &course}).center()
		if want := 8 + 4*c.weight; math.Abs(course.Center[0]-want) > 1e-9 {
			t.Errorf("after noise of %d at radius %v, and of 2, the center is %v, want %v", c.first, c.radius, course.Center[0], want)
		}
		if got, want := CenterNoise([]Release{first, second, {Kind: KindMoment}}), c.weight*second.Tau()*second.Tau(); math.Abs(got-want) > 1e-9 {
			t.Errorf("after noise of %d at radius %v the center's is %v, want %v", c.first, c.radius, got, want)
		}
	}
	if got := CenterNoise([]Release{{Kind: KindMoment}}); got != 0 {
		t.Errorf("without a mean the noise is %v", got)
	}
}

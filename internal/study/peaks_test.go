package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"covey/internal/noise"
	"covey/test/texts"
)

// lengths is a noised histogram of values.
func lengths(rng *rand.Rand, spread float64, values []float64) []int64 {
	counts := make([]int64, HistogramBins)
	for _, v := range values {
		j := 0
		for BinEdge(j) < v {
			j++
		}
		counts[j]++
	}
	for j := range counts {
		counts[j] += int64(math.Round(spread * rng.NormFloat64()))
	}
	return counts
}

// TestTwoPeaks: lengths of normal rows and of rows with heavy tails have one peak, those of two
// kinds of rows have two; rows that were left out, in the lowest bin, are no peak. A seed fixes
// lengths and noise: it cannot fail by chance.
func TestTwoPeaks(t *testing.T) {
	var rng *rand.Rand
	const n, spread = 8000, 60
	runs := 20
	if testing.Short() {
		runs = 4
	}
	squares := func(d, nu int) float64 {
		sum, chi := 0.0, 0.0
		for range d {
			g := rng.NormFloat64()
			sum += g * g
		}
		for range nu {
			g := rng.NormFloat64()
			chi += g * g
		}
		if nu > 0 {
			sum *= float64(nu) / chi
		}
		return sum
	}
	for name, c := range map[string]struct {
		draw func() float64
		want bool
	}{
		"normal, 64 columns": {func() float64 { return squares(64, 0) }, false},
		"normal, 3 columns":  {func() float64 { return squares(3, 0) }, false},
		"t3":                 {func() float64 { return squares(40, 3) }, false},
		"left out": {func() float64 {
			if rng.Float64() < 0.3 {
				return 0
			}
			return squares(40, 0)
		}, false},
		"two kinds": {func() float64 {
			if rng.Float64() < 0.2 {
				return 6 * squares(40, 0)
			}
			return squares(40, 0)
		}, true},
		"few of a kind": {func() float64 {
			if rng.Float64() < 0.02 { // hidden by the noise
				return 6 * squares(40, 0)
			}
			return squares(40, 0)
		}, false},
		"no rows": {func() float64 { return 0 }, false},
	} {
		rng = rand.New(rand.NewPCG(67, 68)) // its own: a map has no order
		took := 0
		for range runs {
			values := make([]float64, n)
			for i := range values {
				values[i] = c.draw()
			}
			if twoPeaks(lengths(rng, spread, values), spread, true) {
				took++
			}
		}
		if c.want && took < runs || !c.want && took > 0 {
			t.Errorf("%s: two peaks %d times of %d", name, took, runs)
		}
	}
}

// TestPeakNearTheFullest: where noise is not large a dip of 4.5 standard deviations makes a second
// peak near the fullest bin, and none far from it; where it is large it makes none.
func TestPeakNearTheFullest(t *testing.T) {
	for name, c := range map[string]struct {
		counts map[int]int64
		want   bool
	}{
		"above":  {map[int]int64{260: 8000, 261: 60, 262: 60, 263: 60, 264: 60, 265: 330}, true},
		"below":  {map[int]int64{260: 8000, 259: 60, 258: 60, 257: 60, 256: 60, 255: 330}, true},
		"a tail": {map[int]int64{260: 8000, 261: 330, 262: 200}, false},
		"lower":  {map[int]int64{260: 8000, 261: 5, 262: 5, 263: 5, 264: 5, 265: 290}, false},
		"far":    {map[int]int64{260: 8000, 290: 290}, false},
	} {
		noised := make([]int64, HistogramBins)
		for j, n := range c.counts {
			noised[j] = n
		}
		if got := twoPeaks(noised, 60, true); got != c.want {
			t.Errorf("%s: two peaks: %v", name, got)
		}
		if twoPeaks(noised, 60, false) {
			t.Errorf("%s: two peaks where noise is large", name)
		}
	}
}

// TestClipsOfTwoPeaks: every part of a covariance is clipped high where lengths have two peaks, and
// the tail of lengths counts where no single bin of it stands out. Of rows that were left out both
// clips are free.
func TestClipsOfTwoPeaks(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, `method = "covariance"`, `explained_variance = "none"`), 150, 150)
	if len(p.parts().shares) != 3 {
		t.Fatalf("ι = %v: %d parts", p.Iota, len(p.parts().shares))
	}
	at := func(sigma noise.Sigma, counts map[int]int64) (low, high float64, c Course) {
		r := Release{Noised: make([]int64, HistogramBins), Sigma: sigma << 10, Units: 1000, Grid: 1}
		for j, n := range counts {
			r.Noised[j] = n
		}
		c = p.Start()
		next := transition{p, p.Queries[0], r, nil, &c}
		next.radius()
		low, high = next.clips(r)
		return low, high, c
	}
	low, high, c := at(10, map[int]int64{260: 400, 261: 380, 264: 60, 265: 160})
	if low != high || c.Radii[KindMoment] != high || !(high > BinEdge(263) && high <= BinEdge(265)) {
		t.Errorf("of two peaks the clips are %v and %v, the first %v", low, high, c.Radii[KindMoment])
	}
	low, high, c = at(4, map[int]int64{260: 400, 261: 380, 262: 100, 263: 40, 264: 15, 265: 15, 266: 15, 267: 15, 268: 15, 269: 15, 270: 15, 271: 15})
	if !(low < BinEdge(260)) || c.Radii[KindMoment] != low || !(high > BinEdge(263)) {
		t.Errorf("of a tail the clips are %v and %v, the first %v", low, high, c.Radii[KindMoment])
	}
	// Where there are two peaks neighbors count together, of which neither would by itself.
	if low, high, _ = at(10, map[int]int64{260: 400, 261: 380, 264: 60, 265: 27, 266: 26}); low != high || !(high > (BinEdge(263)+BinEdge(264))/2) {
		t.Errorf("of a second peak with a tail the clips are %v and %v", low, high)
	}
	// Noise of 1% of the units makes bins as full as this tail's now and then.
	if _, high, _ = at(10, map[int]int64{260: 400, 261: 380, 262: 100, 263: 40, 266: 30, 270: 30, 274: 30}); high > BinEdge(263) {
		t.Errorf("of a tail that noise may be the high clip is %v", high)
	}
}

// TestClipsOfHeavyTails: where noise is small the clip is low for lengths with a heavy tail alone;
// in a plan of larger noise it is low for both, in one of less there is one part, clipped high.
func TestClipsOfHeavyTails(t *testing.T) {
	light := map[int]int64{260: 300, 261: 500, 262: 200}
	tail := map[int]int64{260: 400, 261: 200, 262: 150, 263: 100, 264: 60, 265: 40, 266: 30, 267: 20}
	for _, c := range []struct {
		columns, units int
		parts          int
		second         float64 // part, of the covariance
		first          float64 // of ClipQuantile
		light, heavy   bool    // whether the low clip is lower
	}{
		{24, 1200, 3, 0.04, clipLow, true, true}, {24, 3100, 3, 0.16, clipHigh, false, true},
		{16, 1700, 1, 0, clipHigh, false, false}, {24, 10_000, 1, 0, clipHigh, false, false},
	} {
		var more strings.Builder
		for j := range c.columns - 4 {
			fmt.Fprintf(&more, "[[columns]]\nname = \"more%d\"\nscale = 1\n", j)
		}
		p := mustPlan(t, texts.With(texts.Four, `method = "covariance"`, `explained_variance = "none"`)+more.String(), c.units, c.units)
		shares := p.parts().shares
		if len(shares) != c.parts || p.ClipQuantile(0) != c.first || c.parts > 1 && shares[1] != c.second {
			t.Errorf("ι = %v of %d columns: parts %v, the first at %v", p.Iota, p.D, shares, p.ClipQuantile(0))
		}
		lower := func(counts map[int]int64) bool {
			r := Release{Noised: make([]int64, HistogramBins), Sigma: 2 << 10, Units: 1000, Grid: 1}
			for j, n := range counts {
				r.Noised[j] = n
			}
			start := p.Start()
			low, high := (&transition{Plan: p, r: r, c: &start}).clips(r)
			return low < high
		}
		if got := lower(light); got != c.light {
			t.Errorf("ι = %v, a light tail: the low clip is lower: %v", p.Iota, got)
		}
		if got := lower(tail); c.parts > 1 && got != c.heavy {
			t.Errorf("ι = %v, a heavy tail: the low clip is lower: %v", p.Iota, got)
		}
	}
}

// TestBoundShare: few units pay more for the histogram, unless noise limits or the proposal says.
func TestBoundShare(t *testing.T) {
	for _, c := range []struct {
		units int
		lines []string
		want  float64
	}{
		{3999, nil, 0.04}, {4000, nil, 0.01}, {3999, []string{"bound_share = 0.02"}, 0.02}, {30, nil, 0.01},
	} {
		p := mustPlan(t, texts.With(texts.Four, append(c.lines, `method = "covariance"`)...), c.units, c.units)
		if got := p.Queries[0].Rho / p.Rho; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d units at ι = %.2f pay %v for the bound, want %v", p.N, p.Iota, got, c.want)
		}
	}
}

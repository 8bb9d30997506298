package study

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"covey/internal/noise"
	"covey/test/texts"
)

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

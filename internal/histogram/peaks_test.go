package histogram

import (
	"math"
	"math/rand/v2"
	"testing"

	"covey/internal/query"
)

// lengths is a noised histogram of values.
func lengths(rng *rand.Rand, spread float64, values []float64) Noised {
	counts := make([]int64, query.HistogramBins)
	for _, v := range values {
		j := 0
		for query.BinEdge(j) < v {
			j++
		}
		counts[j]++
	}
	for j := range counts {
		counts[j] += int64(math.Round(spread * rng.NormFloat64()))
	}
	return Noised{counts, spread, len(values)}
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
			if lengths(rng, spread, values).TwoPeaks(true) {
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
		noised := Noised{Counts: make([]int64, query.HistogramBins), Spread: 60}
		for j, n := range c.counts {
			noised.Counts[j] = n
		}
		if got := noised.TwoPeaks(true); got != c.want {
			t.Errorf("%s: two peaks: %v", name, got)
		}
		if noised.TwoPeaks(false) {
			t.Errorf("%s: two peaks where noise is large", name)
		}
	}
}

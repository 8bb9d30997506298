package noise

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestCheckRefusesNoNoise: residuals of zero, from the lengths up that the doc names.
func TestCheckRefusesNoNoise(t *testing.T) {
	for _, c := range []struct {
		lanes  int
		sigma  float64
		refuse bool
	}{
		{4, 1 << 16, true}, {5, 1 << 16, true}, {7, 4e6, true}, {64, 1 << 16, true}, {100_000, 1 << 40, true},
		{512, 3, true}, {512, 45.0049, true}, {28, 2, true},
		// Too short to tell from chance at 2^-64.
		{0, 1 << 16, false}, {1, 1 << 16, false}, {3, 1 << 16, false}, {27, 2, false},
	} {
		sigma, err := SigmaAtLeast(c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		exact := make([]int64, c.lanes)
		for i := range exact {
			exact[i] = int64(i) - 1<<40
		}
		err = CheckReleased(exact, exact, sigma)
		if e, ok := errors.AsType[*ReleaseError](err); ok != c.refuse || ok && (!e.Low || e.Lanes != c.lanes) || !ok && err != nil {
			t.Errorf("%d values without noise at σ = %v: %v", c.lanes, c.sigma, err)
		}
		if c.lanes == 0 {
			continue
		}
		far := slices.Clone(exact)
		for i := range far {
			far[i] += int64(30 * c.sigma)
		}
		err = CheckReleased(far, exact, sigma)
		if e, ok := errors.AsType[*ReleaseError](err); !ok || e.Low {
			t.Errorf("%d values at 30σ: %v", c.lanes, err)
		}
	}
}

// TestCheckAcceptsNoise: 2,000 good releases a case; that one is refused has
// probability 2,000·2^-64.
func TestCheckAcceptsNoise(t *testing.T) {
	for _, c := range []struct {
		lanes int
		sigma Sigma
	}{{1, 1 << 26}, {4, 1 << 26}, {8, 1 << 31}, {64, 4_000_000 << 10}, {512, 3 << 10}, {512, 46_085}, {512, 300}} {
		g, err := NewGaussian(c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		draws, exact := make([]int64, c.lanes), slices.Repeat([]int64{-12345}, c.lanes)
		source := seeded("check")
		for range min(2000, 200_000/c.lanes) {
			if err := g.Fill(source, draws); err != nil {
				t.Fatal(err)
			}
			for i := range draws {
				draws[i] += exact[i]
			}
			if err := CheckReleased(draws, exact, c.sigma); err != nil {
				t.Fatalf("%d values with their noise: %v", c.lanes, err)
			}
		}
	}
}

// TestCheckSeesWrongScale: 512 values with noise of another σ.
func TestCheckSeesWrongScale(t *testing.T) {
	const sigma = Sigma(46_085)
	for _, c := range []struct {
		actual      Sigma
		refuse, low bool
	}{{sigma * 2 / 3, true, true}, {sigma * 3 / 2, true, false}, {sigma / 2, true, true}, {sigma, false, false}, {sigma * 9 / 10, false, false}} {
		draws := fill(t, sampler(t, c.actual), "scale", 512)
		err := CheckReleased(draws, make([]int64, 512), sigma)
		if e, ok := errors.AsType[*ReleaseError](err); ok != c.refuse || ok && e.Low != c.low {
			t.Errorf("noise of %v instead of %v: %v", c.actual.Float(), sigma.Float(), err)
		}
	}
}

// TestCheckFalseReject computes the exact probability of a refusal under the law, by
// convolution of the law of e² for short vectors of small σ: each side stays below half
// of FalseReject, and the upper within e^-12 of it, so the bounds are not idle.
func TestCheckFalseReject(t *testing.T) {
	for _, c := range []struct {
		lanes int
		sigma Sigma
	}{{1, 2 << 10}, {4, 2 << 10}, {8, 1 << 10}, {30, 2 << 10}, {64, 1 << 10}, {64, 3 << 9}, {64, 2 << 10}, {30, 300}} {
		s2 := c.sigma.Float() * c.sigma.Float()
		size := int(s2*float64(c.lanes)*8+200*s2) + 200
		one := make([]float64, size) // P(e² = k)
		for x := 0; x*x < size; x++ {
			one[x*x] = math.Exp(-float64(x*x)/(2*s2)) / partition(s2) * float64(min(x, 1)+1)
		}
		all := make([]float64, size)
		all[0] = 1
		for range c.lanes {
			next := make([]float64, size)
			for i, p := range all {
				if p == 0 {
					continue
				}
				for x := 0; i+x*x < size; x++ {
					next[i+x*x] += p * one[x*x]
				}
			}
			all = next
		}
		low, high := 0.0, 0.0
		for k, p := range all {
			e, ok := errors.AsType[*ReleaseError](checkSum(c.lanes, float64(k)/s2, c.sigma))
			switch {
			case ok && e.Low:
				low += p
			case ok:
				high += p
			}
		}
		if low > FalseReject/2 || high > FalseReject/2 {
			t.Errorf("%d values, σ = %v: refused with probability 2^%.1f below and 2^%.1f above", c.lanes, c.sigma.Float(), math.Log2(low), math.Log2(high))
		}
		if c.sigma >= 1<<10 && high < FalseReject*math.Exp(-12) {
			t.Errorf("%d values, σ = %v: the upper side refuses with probability 2^%.1f only", c.lanes, c.sigma.Float(), math.Log2(high))
		}
		if c.lanes == 64 && low < FalseReject*math.Exp(-12) {
			t.Errorf("%d values, σ = %v: the lower side refuses with probability 2^%.1f only", c.lanes, c.sigma.Float(), math.Log2(low))
		}
	}
}

func TestCheckBadInput(t *testing.T) {
	for name, err := range map[string]error{
		"lengths": CheckReleased(make([]int64, 4), make([]int64, 5), 1<<26),
		"shorter": CheckReleased(make([]int64, 5), make([]int64, 4), 1<<26),
		"sigma":   CheckReleased(make([]int64, 4), make([]int64, 4), 0),
		"1 sigma": CheckReleased([]int64{0}, []int64{1}, 0),
	} {
		if _, ok := errors.AsType[*ParameterError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A residual that wraps is far, not near.
	for _, c := range [][2]int64{{math.MaxInt64, math.MinInt64}, {math.MinInt64, math.MaxInt64}, {math.MinInt64, 1}, {math.MaxInt64, -2}} {
		err := CheckReleased([]int64{c[0]}, []int64{c[1]}, 1<<62)
		if e, ok := errors.AsType[*ReleaseError](err); !ok || e.Low {
			t.Errorf("%d for %d: %v", c[0], c[1], err)
		}
	}
	// No value in the text: the numbers 987654321 and 987654322 do not appear.
	err := CheckReleased(slices.Repeat([]int64{987654321}, 8), slices.Repeat([]int64{987654322}, 8), 1<<31)
	if err == nil || strings.Contains(err.Error(), "98765") {
		t.Errorf("residuals of one: %v", err)
	}
}

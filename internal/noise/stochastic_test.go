package noise

import (
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

var drawn = flag.Int("draws", 200_000, "draws a σ and source in TestDraws")

// falseReject is the probability with which each p-value of TestDraws rejects a correct
// sampler: a run makes 190 of them, half of draws that are seeded.
const falseReject = 1e-9

// tally counts draws as they come: 10^7 of them are not kept.
type tally struct {
	width, first int64 // bin i holds [first+i·width, first+(i+1)·width)
	bins         []float64
	outside      float64
	low          [256]float64 // the draws mod 2^8
	signs        [3]float64   // negative, zero, positive
	n            float64
	last         [lags]float64 // the last draws over σ, newest first
	sum          [2][lags]float64
	square       float64 // of |x|-mean(|x|)
	sigma, mean  float64 // mean is that of |x|/σ
}

const lags = 4

func newTally(sigma, meanMagnitude float64, width int64) *tally {
	half := int64(12*sigma)/width + 2
	return &tally{width: width, first: -half * width, bins: make([]float64, 2*half), sigma: sigma, mean: meanMagnitude}
}

func (c *tally) add(draws []int64) {
	for _, v := range draws {
		if i := floorDiv(v-c.first, c.width); i >= 0 && i < int64(len(c.bins)) {
			c.bins[i]++
		} else {
			c.outside++
		}
		c.low[uint8(v)]++
		switch {
		case v < 0:
			c.signs[0]++
		case v > 0:
			c.signs[2]++
		default:
			c.signs[1]++
		}
		x := float64(v) / c.sigma
		m := math.Abs(x) - c.mean
		c.square += m * m
		for k := range min(lags, int(c.n)) {
			c.sum[0][k] += x * c.last[k]
			c.sum[1][k] += m * (math.Abs(c.last[k]) - c.mean)
		}
		copy(c.last[1:], c.last[:lags-1])
		c.last[0] = x
		c.n++
	}
}

// goodness is the p-value of the bins against law, whose keys are as exactLaw's: neighbors are
// merged until they expect 20.
func (c *tally) goodness(law map[int64]float64) (p float64, bins int) {
	if c.outside > 0 {
		return 0, 0 // beyond 12σ: probability below 1e-32
	}
	statistic, expected, observed := 0.0, 0.0, 0.0
	for i, count := range c.bins {
		expected += c.n * law[c.first/c.width+int64(i)]
		observed += count
		if expected >= 20 {
			statistic += (observed - expected) * (observed - expected) / expected
			expected, observed = 0, 0
			bins++
		}
	}
	statistic += (observed - expected) * (observed - expected) / max(expected, 1)
	return distuv.ChiSquared{K: float64(bins)}.Survival(statistic), bins
}

// lowBits is the p-value of the draws mod 2^8 being uniform, which for σ >= 1000 they are but for
// exp(-2π²σ²/2^16) < 1e-130: what bins that are wider than 1 cannot see.
func (c *tally) lowBits() float64 {
	statistic, expected := 0.0, c.n/256
	for _, count := range c.low {
		statistic += (count - expected) * (count - expected) / expected
	}
	return distuv.ChiSquared{K: 255}.Survival(statistic)
}

func twoSided(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// symmetry is the p-value of as many draws below 0 as above.
func (c *tally) symmetry() float64 {
	return twoSided((c.signs[2] - c.signs[0]) / math.Sqrt(c.signs[2]+c.signs[0]))
}

// independence gives, for each lag, the p-values of the correlation of draws and of
// their magnitudes being 0. A product of two independent draws has variance 1 in units of σ².
func (c *tally) independence(variance float64) (p []float64) {
	for k := range lags {
		pairs := c.n - float64(k+1)
		p = append(p, twoSided(c.sum[0][k]/math.Sqrt(pairs)/variance), twoSided(c.sum[1][k]/math.Sqrt(pairs)/(c.square/c.n)))
	}
	return p
}

// moments of the law in units of σ: the mean of |x| and the variance.
func moments(law map[int64]float64, sigma float64, width int64) (magnitude, variance float64) {
	if width != 1 {
		return math.Sqrt(2 / math.Pi), 1 // to 1/σ² of it, at σ >= 1000 far below what the tests see
	}
	for v, p := range law {
		x := float64(v) / sigma
		magnitude += math.Abs(x) * p
		variance += x * x * p
	}
	return magnitude, variance
}

// TestDraws is the stochastic test of the sampler: -draws of them at each σ (10^7 in
// docs/reliability.md), from the keyed generator and from crypto/rand, against the exact law in
// about 200 bins (one a value where σ < 16), the lowest eight bits, the signs, and the correlations
// of draws and magnitudes up to lag 4. The keyed draws are seeded and pass or fail for good;
// crypto/rand's differ each run, and a correct sampler fails one of its p-values with probability
// 1e-9 each, below 1e-7 a run.
//
// That the test has power is part of it: each tally is also held against the law of
// σ(1 + 20/√draws), which it must reject.
func TestDraws(t *testing.T) {
	for i, c := range []struct {
		name  string
		sigma Sigma
	}{
		{"0.7002", 717}, {"3", 3 << 10}, {"45.0049", 46_085}, {"50", 50 << 10},
		{"1000", 1000 << 10}, {"2^16", 1 << 26}, {"2^20", 1 << 30}, {"2^34", 1 << 44},
		{"2^20/√3", 605_396 << 10}, // a site's share
	} {
		if testing.Short() && i%4 != 0 {
			continue
		}
		sigma := c.sigma.Float()
		s2, width := sigma*sigma, max(1, int64(sigma/16))
		law := exactLaw
		if sigma > 1<<17 {
			law = func(s2 float64, width int64) map[int64]float64 { return wideLaw(math.Sqrt(s2), width) }
		}
		right := law(s2, width)
		further := 1 + 20/math.Sqrt(float64(*drawn))
		off := law(s2*further*further, width)
		magnitude, variance := moments(right, sigma, width)
		for _, source := range []struct {
			name string
			r    io.Reader
		}{{"keyed", seeded("stochastic " + c.name)}, {"crypto/rand", rand.Reader}} {
			t.Run(fmt.Sprintf("sigma=%s/%s", c.name, source.name), func(t *testing.T) {
				count, g := newTally(sigma, magnitude, width), sampler(t, c.sigma)
				draws := make([]int64, 100_000)
				for left := *drawn; left > 0; left -= len(draws) {
					draws = draws[:min(left, len(draws))]
					if err := g.Fill(source.r, draws); err != nil {
						t.Fatal(err)
					}
					count.add(draws)
				}
				p, bins := count.goodness(right)
				least := p
				report := func(what string, p float64) {
					least = min(least, p)
					if !(p >= falseReject) {
						t.Errorf("%s: p = %g", what, p)
					}
				}
				report(fmt.Sprintf("the law in %d bins", bins), p)
				report("as many below 0 as above", count.symmetry())
				for i, p := range count.independence(variance) {
					report(fmt.Sprintf("no correlation of %s at lag %d", []string{"draws", "magnitudes"}[i%2], i/2+1), p)
				}
				if sigma >= 1000 {
					report("the lowest eight bits", count.lowBits())
				}
				if p, _ := count.goodness(off); p > falseReject {
					t.Errorf("the test has no power: against σ·%.4f p = %g", further, p)
				}
				t.Logf("figure: σ = %s, %s: %d draws, %d bins, χ² p = %.3f, least of all p-values %.3f; σ·%.4f is rejected", c.name, source.name, *drawn, bins, p, least, further)
			})
		}
	}
}

// TestLawsMeet: the two ways to compute bins agree where both hold.
func TestLawsMeet(t *testing.T) {
	for _, sigma := range []float64{1 << 12, 1 << 16} {
		width := int64(sigma / 16)
		exact, wide := exactLaw(sigma*sigma, width), wideLaw(sigma, width)
		for b, want := range exact {
			if want > 1e-20 && math.Abs(wide[b]-want) > want*10/sigma/sigma {
				t.Fatalf("σ = %v, bin %d: %g by the sum, %g by the integral", sigma, b, want, wide[b])
			}
		}
	}
}

package picture

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/result"
	"covey/internal/study"
)

func scores(random *rand.Rand, truth []float64, sigma float64) result.ScoreHistogram {
	h := result.ScoreHistogram{Component: 1, Edges: edges(study.ScoreBins), Counts: slices.Clone(truth), Sigma: sigma}
	for i := range h.Counts {
		h.Counts[i] += sigma * random.NormFloat64()
	}
	return h
}

// Intervals cover the quantile of the very units with probability 0.95 on data made to fool them:
// of 400 at most 37 miss, which a rule that misses 5% exceeds with probability below 10^-4. Where
// there is no interval there is no value.
func TestQuantilesCover(t *testing.T) {
	histogram := func(of func(r *rand.Rand) float64) []float64 {
		r := rand.New(rand.NewPCG(11, 11))
		out := make([]float64, study.ScoreBins)
		for range 20_000 {
			out[min(study.ScoreBins-1, max(0, int(math.Floor((of(r)+4)*4))))]++
		}
		return out
	}
	for _, c := range []struct {
		name  string
		truth []float64
	}{
		{"normal", histogram(func(r *rand.Rand) float64 { return r.NormFloat64() })},
		{"one point", histogram(func(*rand.Rand) float64 { return 0.1 })},
		{"at the ends", histogram(func(r *rand.Rand) float64 { return 9 * float64(2*r.IntN(2)-1) })},
		{"two", histogram(func(r *rand.Rand) float64 { return float64(2*r.IntN(2)-1) + 0.1*r.NormFloat64() })},
		{"uniform", histogram(func(r *rand.Rand) float64 { return 3.4 * (r.Float64() - 0.5) })},
		{"heavy", histogram(func(r *rand.Rand) float64 { return r.NormFloat64() / math.Sqrt(r.ExpFloat64()) / 3 })},
		{"nobody", make([]float64, study.ScoreBins)},
	} {
		for _, q := range []float64{0.5, 0.9, 0.95, 0.99} {
			// The bin of |score| that holds the quantile.
			sum, total, bin := 0.0, 0.0, 0
			for _, v := range c.truth {
				total += v
			}
			for bin = 0; bin < 16; bin++ {
				if sum += c.truth[16+bin] + c.truth[15-bin]; sum >= q*total {
					break
				}
			}
			low, high := float64(bin)/4, float64(bin+1)/4
			if bin == 15 {
				high = math.Inf(1)
			}
			random := rand.New(rand.NewPCG(5, uint64(1000*q)))
			missed, given := 0, 0
			for range 400 {
				v, ok, err := QuantileOf(scores(random, c.truth, sigma), q)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					if v != (Quantile{}) {
						t.Fatalf("%+v, and none", v)
					}
					continue
				}
				given++
				if total == 0 || v.Low > low || v.High < high {
					missed++
				}
				if !(v.Low <= v.Value && v.Value <= v.High && v.High < 4) {
					t.Fatalf("%+v", v)
				}
			}
			t.Logf("%s, %v: %d of %d miss", c.name, q, missed, given)
			if missed > 37 {
				t.Errorf("%s, %v: %d of 400 intervals miss", c.name, q, missed)
			}
			if c.name == "normal" && q <= 0.95 && given < 390 {
				t.Errorf("a normal's %v has an interval in %d of 400", q, given)
			}
		}
	}
}

func TestBadHistograms(t *testing.T) {
	for name, change := range map[string]func(*result.ScoreHistogram) float64{
		"short":    func(h *result.ScoreHistogram) float64 { h.Counts = h.Counts[1:]; return 0.9 },
		"edges":    func(h *result.ScoreHistogram) float64 { h.Edges = h.Edges[1:]; return 0.9 },
		"uneven":   func(h *result.ScoreHistogram) float64 { h.Edges[2] = 3; return 0.9 },
		"count":    func(h *result.ScoreHistogram) float64 { h.Counts[2] = math.Inf(-1); return 0.9 },
		"noise":    func(h *result.ScoreHistogram) float64 { h.Sigma = math.NaN(); return 0.9 },
		"quantile": func(h *result.ScoreHistogram) float64 { return 1 },
		"below":    func(h *result.ScoreHistogram) float64 { return 0 },
		"nowhere":  func(h *result.ScoreHistogram) float64 { return math.NaN() },
	} {
		h := scores(rand.New(rand.NewPCG(1, 1)), make([]float64, study.ScoreBins), 1)
		_, _, err := QuantileOf(h, change(&h))
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

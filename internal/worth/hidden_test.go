package worth

import (
	"math"
	"testing"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// TestHiddenRows: rows of a code, which are far longer than others, raise the alarm where they
// stand out of the noise beyond the clip, and not where the clip lets them through; long tails of
// one peak raise none.
func TestHiddenRows(t *testing.T) {
	p, _ := planned(t, spec(12, 1, proposal.MethodCovariance), 30_000)
	query := -1
	for i, q := range p.Queries {
		if q.Kind == study.KindHistogram && q.Of == study.KindTotal {
			query = i
		}
	}
	bin := func(length float64) int { // of a squared length
		j := 0
		for study.BinEdge(j) < length {
			j++
		}
		return j
	}
	const spread = 100
	for name, c := range map[string]struct {
		tail, far, clip float64 // a power, rows at 900, B²
		want            bool
	}{
		"a code":            {3, 900, 20, true},
		"not many of it":    {3, 750, 20, true},
		"few of a code":     {3, 80, 20, false},
		"a code in the sum": {3, 900, 1000, false},
		"a heavy tail":      {1, 0, 20, false},
		"a low clip":        {3, 0, 6, false},
	} {
		for seed := range uint64(20) {
			rng := seeded(seed)
			rel := study.Release{Query: query, Kind: study.KindHistogram, Sigma: noise.Sigma(spread * 1024), Noised: make([]int64, study.HistogramBins)}
			for range 30_000 {
				rel.Noised[bin(12*math.Exp(0.3*rng.NormFloat64())*math.Pow(rng.Float64(), -1/c.tail))]++
			}
			rel.Noised[bin(900)] += int64(c.far)
			for j := range rel.Noised {
				rel.Noised[j] += int64(spread * rng.NormFloat64())
			}
			r := &result.Result{Radius: c.clip, Releases: []study.Release{rel}}
			if got := hidden(p, r); (got != nil) != c.want || got != nil && !*got {
				t.Errorf("%s, seed %d: the alarm is raised %v", name, seed, got != nil)
			}
		}
	}
}

package worth

import (
	"math"
	"slices"
	"testing"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// TestAlikeRows: where most rows are one row, noise can hide the others, and nothing is said of
// what the study captured. Where all have one length none are hidden.
func TestAlikeRows(t *testing.T) {
	second := diagonal(2, 1, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1)
	for _, c := range []struct{ method, rows, variance string }{
		{proposal.MethodCovariance, "", proposal.VarianceNone},
		{proposal.MethodCovariance, "", proposal.VariancePrivate},
		{proposal.MethodPower, proposal.RowsPlain, proposal.VarianceNone},
		{proposal.MethodPower, proposal.RowsPlain, proposal.VariancePrivate},
		{proposal.MethodPower, proposal.RowsSphere, proposal.VariancePrivate},
	} {
		for share, want := range map[float64]bool{0: false, 0.15: false, 0.6: true, 0.9: true} {
			s := spec(8, 1, c.method)
			s.Rows, s.ExplainedVariance = c.rows, c.variance
			p, r := law{second: second, radius: 4, alike: share, rng: seeded(72)}.run(t, s, 60_000)
			got := of(t, p, r)
			if (got.Uncalibrated == alikeWhy) != want || want && (got.Share != nil || len(got.Components) > 0 || got.Verdict(r).Trust != Unknown || !says(got, alikeSentence)) {
				t.Errorf("%v, %g alike: %q", c, share, got.Sentences)
			}
			if bought := c.variance == proposal.VariancePrivate; want && bought && (len(got.Shown(r).VarianceRatio) > 0 || !says(got, uncountedSentence)) {
				t.Errorf("%v, %g alike: variances pass for those of all rows: %q", c, share, got.Sentences)
			}
		}
	}
}

// TestOneLength: rows of one length that the center's noise spreads over neighboring bins are all
// of the rows, and hide none. Where a tenth of the rows are elsewhere, however few in a bin, or the
// bins are apart, noise may hide others.
func TestOneLength(t *testing.T) {
	p, _ := planned(t, spec(8, 1, proposal.MethodCovariance), 9000)
	query := slices.IndexFunc(p.Queries, func(q study.Query) bool { return q.Kind == study.KindHistogram && q.Of == study.KindTotal })
	const spread, bin, n = 40, 60, 9000
	for name, c := range map[string]struct {
		at   map[int]float64 // shares of the rows, by bins
		want bool
	}{
		"one bin":         {map[int]float64{bin: 1}, false},
		"three bins":      {map[int]float64{bin - 1: 0.15, bin: 0.7, bin + 1: 0.15}, false},
		"nine tenths":     {map[int]float64{bin - 1: 0.4, bin: 0.5}, true},
		"two, wide apart": {map[int]float64{bin: 0.6, bin + 3: 0.4}, true},
	} {
		rng := seeded(5)
		rel := study.Release{Query: query, Kind: study.KindHistogram, Units: n, Grid: 1, Sigma: noise.Sigma(spread * 1024), Noised: make([]int64, study.HistogramBins)}
		for j := range rel.Noised {
			rel.Noised[j] = int64(n*c.at[j] + spread*rng.NormFloat64())
		}
		if got := alike(p, &result.Result{N: n, D: 8, K: 1, Releases: []study.Release{rel}}); got != c.want {
			t.Errorf("%s: alike %v", name, got)
		}
	}
}

// TestFullestBin: of chi-squared numbers, the fullest bin has as many as is said.
func TestFullestBin(t *testing.T) {
	rng := seeded(71)
	for _, degrees := range []int{1, 2, 5, 40} {
		counts, n := map[int]int{}, 40_000
		for range n {
			sum := 0.0
			for range degrees {
				g := rng.NormFloat64()
				sum += g * g
			}
			counts[int(math.Floor(4*math.Log2(sum)))]++
		}
		most := 0
		for _, c := range counts {
			most = max(most, c)
		}
		// Bins lie off the best place: by up to half of one, where 40 degrees have a tenth less.
		if got, want := float64(most)/float64(n), fullest(degrees, 4); got > want+4*math.Sqrt(want/float64(n)) || got < 0.85*want {
			t.Errorf("%d degrees: %.4f, want %.4f", degrees, got, want)
		}
	}
}

package histogram

import (
	"math"
	"math/rand/v2"
	"testing"

	"covey/internal/query"
)

// TestQuantileIsOfTheHistogram: whatever a site makes of the counts, and however they round, a
// quantile is the last edge at most.
func TestQuantileIsOfTheHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		counts := make([]int64, query.HistogramBins)
		for j := range counts {
			counts[j] = rng.Int64N(1 << 47)
		}
		if got := (Noised{counts, 1 << 20, 1 << 32}).Quantile(1); got > query.BinEdge(query.HistogramBins-1) {
			t.Fatalf("%v is %v times the last edge", got, got/query.BinEdge(query.HistogramBins-1))
		}
	}
}

func TestQuantile(t *testing.T) {
	const spread = 10
	counts := make([]int64, query.HistogramBins)
	counts[260], counts[264], counts[268] = 500, 390, 110
	counts[400] = 46 // noise: below 4.65σ
	within := func(j int, part float64) float64 {
		return query.BinEdge(j-1) + part*(query.BinEdge(j)-query.BinEdge(j-1))
	}
	if got, want := (Noised{counts, spread, 1000}).Quantile(0.9), within(268, 10.0/110); math.Abs(got-want) > 1e-12*want {
		t.Fatalf("R = %v, want the 0.9 quantile %v", got, want)
	}
	counts[268] = 90
	if got, want := (Noised{counts, spread, 1000}).Quantile(0.9), within(264, 382.0/390); math.Abs(got-want) > 1e-12*want {
		t.Fatalf("R = %v, want %v", got, want)
	}
	if (Noised{counts, spread, 1000}).Quantile(1) != query.BinEdge(268) {
		t.Fatal("the last bin that stands out")
	}
	// 400 units in 16 neighboring bins: none of 25 stands out, four together do.
	thin := make([]int64, query.HistogramBins)
	for j := 256; j < 272; j++ {
		thin[j] = 25
	}
	if got := (Noised{thin, spread, 400}).Quantile(0.9); got < query.BinEdge(267) || got > query.BinEdge(271) {
		t.Fatalf("R = %v of thin bins, their 0.9 quantile is %v", got, query.BinEdge(269))
	}
}

// TestQuantileIsOfRows: whatever noise makes of a histogram of lengths, no quantile is of another
// scale than the rows. Lengths are within two octaves; noise is 0.2 to 12% of the units in each
// bin. Of 8,000 histograms none may give one beyond six octaves: with 7 standard deviations far
// away and half of the units in all, noise has a probability below 10^-4 to make one up. Without
// either rule some dozens are. Under -short it is a tenth of the histograms, for which that
// probability is smaller still.
func TestQuantileIsOfRows(t *testing.T) {
	const units = 4500
	rng := rand.New(rand.NewPCG(71, 72))
	read, each := 0, 1000
	if testing.Short() {
		each /= 10
	}
	for _, part := range []float64{0.002, 0.01, 0.02, 0.04, 0.06, 0.08, 0.12, 0.3} {
		spread := part * units
		for range each {
			noised := make([]int64, query.HistogramBins)
			for range units {
				noised[255+int(math.Round(2*rng.NormFloat64()))]++
			}
			for j := range noised {
				noised[j] += int64(math.Round(spread * rng.NormFloat64()))
			}
			for _, q := range []float64{0.15, 0.5, 0.9, 0.93, 1} {
				r := Noised{noised, spread, units}.Quantile(q)
				if r != 0 && math.Abs(math.Log2(r)) > 6 {
					t.Fatalf("noise of %g of the units: the %g quantile is 2^%.1f", part, q, math.Log2(r))
				}
				if r != 0 && part <= 0.01 {
					read++
				}
			}
		}
	}
	if all := 2 * each * 5; read < all*99/100 { // of two kinds of histograms and five quantiles
		t.Errorf("%d of %d quantiles are read where noise is small", read, all)
	}
}

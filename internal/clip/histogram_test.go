package clip

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/query"
)

func mustHistogram(tb testing.TB, m *Matrix, q Query, workers int) []int64 {
	tb.Helper()
	h, err := Histogram(m, q, workers)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func TestBinEdges(t *testing.T) {
	for j := range query.HistogramBins {
		// The edge is 2^((j-255)/4) to the nearest float: its fourth power brackets the power of
		// two.
		e := query.BinEdge(j)
		power := func(x float64) *big.Rat {
			r := new(big.Rat).SetFloat64(x)
			r.Mul(r, r)
			return r.Mul(r, r)
		}
		want := new(big.Rat).SetInt64(1)
		if k := j - 255; k >= 0 {
			want.SetInt(new(big.Int).Lsh(big.NewInt(1), uint(k)))
		} else {
			want.SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(-k)))
		}
		if power(math.Nextafter(e, 0)).Cmp(want) >= 0 || power(math.Nextafter(e, math.Inf(1))).Cmp(want) <= 0 {
			t.Errorf("query.BinEdge(%d) = %v is not 2^(%d/4)", j, e, j-255)
		}
		if got := bin(math.Nextafter(e, 0)); got != j {
			t.Errorf("just below edge %d: bin %d", j, got)
		}
		if got, want := bin(e), min(j+1, query.HistogramBins-1); got != want {
			t.Errorf("at edge %d: bin %d", j, got)
		}
	}
	if query.BinEdge(255) != 1 || query.BinEdge(259) != 2 || query.BinEdge(-1) != 0x1p-64 || query.BinEdge(511) != 0x1p64 {
		t.Error("powers of two are not edges")
	}
	for _, p := range []float64{0, 0x1p-1074, 1e-300, math.Nextafter(0x1p-64, 0), 0x1p-64, math.NaN()} {
		if got := bin(p); got != 0 {
			t.Errorf("bin(%v) = %d", p, got)
		}
	}
	for _, p := range []float64{query.BinEdge(510), 0x1p64, 1e300, math.MaxFloat64, math.Inf(1)} {
		if got := bin(p); got != query.HistogramBins-1 {
			t.Errorf("bin(%v) = %d", p, got)
		}
	}
}

func TestHistogramCounts(t *testing.T) {
	// With x = (1,0), p = ‖y‖·|y_0|.
	m := mustMatrix(t, 2, []float64{
		1, 0, // p = 1: bin 256
		-1, 0, // the sign does not matter
		3, 4, // 15 = 2^3.9: bin 256+15
		0, 5, // orthogonal: 0
		0, 0, // zero row
		1e140, 0, // far above
		-1e-200, 1e-200, // tiny row
		1e-12, 0, // 1e-24 < 2^-64
	})
	want := make([]int64, query.HistogramBins)
	want[256], want[271], want[0], want[511] = 2, 1, 4, 1
	for workers := range 4 {
		if got := mustHistogram(t, m, Query{X: []float64{1, 0}}, workers); !slices.Equal(got, want) {
			t.Errorf("workers=%d: got %v", workers, got)
		}
	}
	if got := mustHistogram(t, mustMatrix(t, 2, nil), Query{X: []float64{1, 0}}, 0); !slices.Equal(got, make([]int64, query.HistogramBins)) {
		t.Error("no rows: counts are not zero")
	}
}

func TestHistogramDoesNotDependOnWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, d := range []int{1, 5, 64} {
		const n = 20_001
		m := mustMatrix(t, d, gaussian(rng, n*d))
		x := unit(rng, d)
		want := mustHistogram(t, m, Query{X: x}, 1)
		total := int64(0)
		for _, c := range want {
			total += c
		}
		if total != n {
			t.Errorf("d=%d: counts add up to %d", d, total)
		}
		for workers := 2; workers <= 8; workers++ {
			if !slices.Equal(mustHistogram(t, m, Query{X: x}, workers), want) {
				t.Errorf("d=%d workers=%d differs", d, workers)
			}
		}
	}
}

func TestHistogramReplacement(t *testing.T) {
	square := new(big.Rat).SetFloat64(query.HistogramSensitivity)
	if square.Mul(square, square).Cmp(big.NewRat(2, 1)) < 0 {
		t.Error("HistogramSensitivity is below √2")
	}
	rng := rand.New(rand.NewPCG(13, 14))
	reached := false
	for range 200 {
		d := 1 + rng.IntN(6)
		q := Query{X: unit(rng, d), Radius: 1, Grid: 0x1p-16}
		values := make([]float64, 0, 5*d)
		for range 5 {
			values = append(values, hostileRow(rng, d, q)...)
		}
		before := mustHistogram(t, mustMatrix(t, d, values), q, 1)
		for range 20 {
			copy(values[rng.IntN(5)*d:], hostileRow(rng, d, q))
			after := mustHistogram(t, mustMatrix(t, d, values), q, 1)
			diff := make([]int64, query.HistogramBins)
			sum := int64(0)
			for j := range diff {
				diff[j] = after[j] - before[j]
				sum += diff[j]
			}
			l := length(diff)
			if exceeds(diff, query.HistogramSensitivity) || sum != 0 {
				t.Fatalf("counts moved by %v, their sum by %d", l, sum)
			}
			reached = reached || l > 1.4
			before = after
		}
	}
	if !reached {
		t.Error("no replacement reached √2")
	}
}

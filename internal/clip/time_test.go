package clip

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"covey/internal/query"
)

// How long groups take MUST NOT tell what their rows hold, where a unit is a row: not whether any
// has a value, nor in how many columns, nor of what size. With a library's eigenvalues numbers take
// 30 times as long as zeros. Of many runs the shortest counts.
func TestGroupsTakeAsLongWhateverTheyHold(t *testing.T) {
	const d, size, groups = 64, 128, 2
	rng := rand.New(rand.NewPCG(65, 66))
	rows := func(cell func(i, j int) float64) *Matrix {
		values := make([]float64, groups*size*d)
		for at := range values {
			values[at] = cell(at/d, at%d)
		}
		return mustMatrix(t, d, values)
	}
	of := func(set bool, v float64) float64 {
		if set {
			return v
		}
		return 0
	}
	names := []string{"zeros", "one cell", "one row", "three columns", "few cells", "numbers", "of all sizes", "nearly zeros"}
	all := []*Matrix{
		rows(func(int, int) float64 { return 0 }),
		rows(func(i, j int) float64 { return of(i%size == 3 && j == 2, 1) }),
		rows(func(i, _ int) float64 { return of(i%size == 3, rng.NormFloat64()) }),
		rows(func(_, j int) float64 { return of(j < 3, rng.NormFloat64()) }),
		rows(func(int, int) float64 { return of(rng.Float64() < 0.02, 1) }),
		rows(func(int, int) float64 { return rng.NormFloat64() }),
		rows(func(int, int) float64 { return rng.NormFloat64() * math.Exp2(float64(rng.IntN(800)-400)) }),
		rows(func(i, j int) float64 { return of(i%size == 0, 1) + 0x1p-500*rng.NormFloat64() }),
	}
	least := make([]time.Duration, len(all))
	for run := range 12 {
		for i, m := range all {
			began := time.Now()
			mustGroups(t, m, size, 1)
			if took := time.Since(began); run == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	t.Logf("%v: %v", names, least)
	if fast, slow := slices.Min(least), slices.Max(least); slow > 3*fast {
		t.Errorf("from %v to %v for groups of one shape: %v of %v", fast, slow, least, names)
	}
}

// How long it takes to count columns, and their gaps, MUST NOT tell how many cells are gaps, where
// a unit is a row: their share is released with noise. Of many runs the shortest counts.
func TestColumnsTakeAsLongWithGaps(t *testing.T) {
	const d, n = 24, 2000
	with := func(share float64) *Matrix {
		rng := rand.New(rand.NewPCG(71, 72))
		values, gaps := make([]float64, n*d), make([]byte, n*gapStride(d))
		for at := range values {
			if i, j := at/d, at%d; rng.Float64() < share {
				gaps[i*gapStride(d)+j/8] |= 1 << (j % 8)
			} else {
				values[at] = 2*rng.Float64() - 1
			}
		}
		return gapped(t, d, values, gaps, nil)
	}
	matrices := []*Matrix{with(0.001), with(0.5), with(1)}
	for _, kind := range append([]query.Kind{query.Filled}, columnKinds...) {
		least := make([]time.Duration, len(matrices))
		for run := range 15 {
			for i, m := range matrices {
				began := time.Now()
				if kind == query.Filled {
					if _, err := CountGaps(m, all(d), 1); err != nil {
						t.Fatal(err)
					}
				} else {
					mustColumns(t, m, kind, nil, 1)
				}
				if took := time.Since(began); run == 0 || took < least[i] {
					least[i] = took
				}
			}
		}
		if fast, slow := slices.Min(least), slices.Max(least); slow > 3*fast {
			t.Errorf("%s: %v with few gaps, half and all", kind, least)
		}
	}
}

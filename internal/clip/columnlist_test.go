package clip

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/query"
)

// TestColumnsOfSome: an answer about some of the columns is that of a table that has no others,
// whatever is in the others, so that its sensitivity is that of as many columns. Gaps, skipped
// columns, units of one row and of several.
func TestColumnsOfSome(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for range 60 {
		d := 2 + rng.IntN(9)
		values, gaps, unit := gappedTable(rng, d, 40)
		if rng.IntN(3) == 0 {
			unit = nil
		}
		var of []int
		for j := range d {
			if rng.IntN(2) == 0 {
				of = append(of, j)
			}
		}
		if len(of) == 0 {
			of = []int{d - 1}
		}
		skip, skipped := make([]bool, d), make([]bool, len(of))
		for at, j := range of {
			skip[j] = rng.IntN(4) == 0
			skipped[at] = skip[j]
		}
		stride, narrow := gapStride(d), gapStride(len(of))
		own, ownGaps := make([]float64, 0, len(of)*len(values)/d), make([]byte, len(values)/d*narrow)
		for i := range len(values) / d {
			for at, j := range of {
				own = append(own, values[i*d+j])
				ownGaps[i*narrow+at/8] |= gaps[i*stride+j/8] >> (j % 8) & 1 << (at % 8)
			}
		}
		m, alone := gapped(t, d, slices.Clone(values), slices.Clone(gaps), unit), gapped(t, len(of), own, ownGaps, unit)
		for _, kind := range columnKinds {
			got, err := Columns(m, kind, of, skip, 1+rng.IntN(3))
			if err != nil {
				t.Fatal(err)
			}
			if want := mustColumns(t, alone, kind, skipped, 1); !slices.Equal(got, want) {
				t.Errorf("%s of the columns %v of %d is not that of a table of these alone", kind, of, d)
			}
		}
	}
}

// Hostile units of rows of seven numbers, of which an answer is about one to five: in place of
// another each moves it by no more than the sensitivity of as many, and the worst come close.
func TestReplacedUnitsMoveListedColumnsByNoMore(t *testing.T) {
	const d = 7
	lists := [][]int{{3}, {0, 6}, {1, 2, 5}, {0, 1, 3, 4}, {0, 2, 3, 5, 6}}
	for k, kind := range columnKinds {
		worst := 0.0
		for l, of := range lists {
			rng := rand.New(rand.NewPCG(uint64(50+k), uint64(l)))
			bound := kind.Definition().CountSensitivity(query.ColumnGrid, kind.Definition().Values(len(of), 0))
			var units [][]int64
			for range 80 {
				rows, absent := columnUnit(rng, d)
				m, err := NewUnits(d, rows, make([]int, len(rows)/d), absent...)
				if err != nil {
					t.Fatal(err)
				}
				v, err := Columns(m, kind, of, nil, 1)
				if err != nil {
					t.Fatal(err)
				}
				units = append(units, v)
			}
			for i, a := range units {
				for _, b := range units[:i] {
					moved := 0.0
					for j := range a {
						moved += float64(a[j]-b[j]) * float64(a[j]-b[j]) // exact: below 2^53
					}
					if moved > bound*bound {
						t.Fatalf("%s of %d of %d columns: moved by %v, Δ is %v", kind, len(of), d, math.Sqrt(moved), bound)
					}
					worst = max(worst, math.Sqrt(moved)/bound)
				}
			}
		}
		least := 0.99
		if kind == query.Moments {
			least = 0.95 // few pairs come close to the bounds of both halves
		}
		if worst < least {
			t.Errorf("%s: the worst replacement moved by %v Δ", kind, worst)
		}
	}
}

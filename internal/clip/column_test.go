package clip

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/query"
)

var columnKinds = []query.Kind{query.Octaves, query.Tree, query.Moments}

func mustColumns(tb testing.TB, m *Matrix, kind query.Kind, skip []bool, workers int) []int64 {
	tb.Helper()
	sum, err := Columns(m, kind, all(m.d), skip, workers)
	if err != nil {
		tb.Fatal(err)
	}
	return sum
}

// all are the columns of a row of d.
func all(d int) []int {
	out := make([]int, d)
	for j := range out {
		out[j] = j
	}
	return out
}

// columnUnit is a hostile unit: rows of any size to 2^480, about the edges of bins, of one sign or
// of both, zeros, of one column or of all, and absent ones.
func columnUnit(rng *rand.Rand, d int) (rows []float64, absent []int) {
	n := 1
	if rng.IntN(3) > 0 {
		n = 2 + rng.IntN(199)
	}
	if rng.IntN(3) == 0 {
		n = min(n, 3)
	}
	kind, at, octave := rng.IntN(8), rng.IntN(d), rng.IntN(20)-10
	for i := range n {
		row := make([]float64, d)
		for j := range row {
			sign := float64(1 - 2*rng.IntN(2))
			switch kind {
			case 0: // everywhere
				row[j] = sign * math.Ldexp(1+rng.Float64(), rng.IntN(960)-480)
			case 1: // about the edges of octaves
				row[j] = sign * math.Ldexp(1-0x1p-53*float64(rng.IntN(2)), rng.IntN(90)-45)
			case 2: // about the edges of places
				row[j] = sign * (float64(rng.IntN(2049))*0x1p-11 + float64(rng.IntN(3)-1)*0x1p-54)
			case 3: // one column, far, in both directions; the others all the same
				if row[j] = 3; j == at {
					row[j] = math.Ldexp(float64(1-2*(i%2)), 20)
				}
			case 4: // the same, to the other side
				if row[j] = -3; j == at {
					row[j] = math.Ldexp(float64(1-2*(i%2)), 20)
				}
			case 5:
				row[j] = math.Ldexp(1, octave)
			case 6: // of many bins, as evenly as rounding dislikes
				row[j] = math.Ldexp(1, i%40-20)
			}
		}
		if rng.IntN(8) == 0 {
			clear(row)
			if rng.IntN(2) == 0 {
				absent = append(absent, i)
			}
		}
		rows = append(rows, row...)
	}
	return rows, absent
}

// Compares hostile units, of one row and of up to 200, with each other in exact integers: in place
// of another each moves the answer by no more than the kind's sensitivity, 10^5 replacements and
// more for every kind, and the worst come close. In each column and level a unit counts as one at
// most.
func TestReplacedUnitsMoveColumnsByNoMore(t *testing.T) {
	for k, kind := range columnKinds {
		worst, replaced := 0.0, 0
		for d := 1; d <= 6; d++ {
			rng := rand.New(rand.NewPCG(uint64(k), uint64(d)))
			var skip []bool
			if d == 5 {
				skip = []bool{false, true, false, false, false}
			}
			bound := kind.Definition().CountSensitivity(query.ColumnGrid, kind.Definition().Values(d, 0))
			square := new(big.Float).SetPrec(200).SetFloat64(bound)
			square.Mul(square, square)
			most, _ := square.Int64()
			var units [][]int64
			for range 190 {
				rows, absent := columnUnit(rng, d)
				m, err := NewUnits(d, rows, make([]int, len(rows)/d), absent...)
				if err != nil {
					t.Fatal(err)
				}
				v := mustColumns(t, m, kind, skip, 1)
				atMostOne(t, kind, v)
				units = append(units, v)
			}
			for i, a := range units {
				for _, b := range units[:i] {
					moved := int64(0) // below 2^60
					for j := range a {
						moved += (a[j] - b[j]) * (a[j] - b[j])
					}
					if moved > most {
						t.Fatalf("%s of %d columns: moved by %v, Δ is %v", kind, d, math.Sqrt(float64(moved)), bound)
					}
					worst = max(worst, math.Sqrt(float64(moved))/bound)
					replaced++
				}
			}
		}
		t.Logf("%s: %d replacements, the worst by %v Δ", kind, replaced, worst)
		if replaced < 100_000 || worst < 0.995 {
			t.Errorf("%s: %d replacements moved by %v Δ at most", kind, replaced, worst)
		}
	}
}

// atMostOne checks a unit's counts, column by column and level by level.
func atMostOne(t *testing.T, kind query.Kind, counts []int64) {
	t.Helper()
	var levels []int
	switch kind {
	case query.Octaves:
		for _, l := range query.OctaveLevels {
			levels = append(levels, l.Bins)
		}
		levels[0]++ // with the zeros
	case query.Tree:
		for _, l := range query.TreeLevels {
			levels = append(levels, l.Bins)
		}
	default:
		return
	}
	for len(counts) > 0 {
		for _, bins := range levels {
			sum := int64(0)
			for _, c := range counts[:bins] {
				if sum += c; c < 0 {
					t.Fatalf("%s: a count of %d", kind, c)
				}
			}
			if sum > one {
				t.Fatalf("%s: a unit counts as %v in a column", kind, float64(sum)/one)
			}
			counts = counts[bins:]
		}
	}
}

// TestColumnsAreExact: the integers are what the definition says of each unit, added up, the same
// for every number of workers and whatever the other units are; a unit whose rows are all alike
// counts as one of a single row.
func TestColumnsAreExact(t *testing.T) {
	const d = 3
	rng := rand.New(rand.NewPCG(7, 7))
	var values []float64
	var unit, absent []int
	want := map[query.Kind][]int64{}
	for u := range 40 {
		rows, gone := columnUnit(rng, d)
		alone, err := NewUnits(d, slices.Clone(rows), make([]int, len(rows)/d), gone...)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range columnKinds {
			for j, v := range mustColumns(t, alone, kind, nil, 1) {
				if want[kind] == nil {
					want[kind] = make([]int64, kind.Definition().Values(d, 0))
				}
				want[kind][j] += v
			}
		}
		for _, i := range gone {
			absent = append(absent, len(unit)+i)
		}
		for range len(rows) / d {
			unit = append(unit, u)
		}
		values = append(values, rows...)
	}
	m, err := NewUnits(d, values, unit, absent...)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range columnKinds {
		for workers := 1; workers <= 5; workers++ {
			if !slices.Equal(mustColumns(t, m, kind, nil, workers), want[kind]) {
				t.Errorf("%s is another with %d workers", kind, workers)
			}
		}
	}
	row := []float64{0, -0.3, 5}
	single, err := NewMatrix(d, slices.Clone(row))
	if err != nil {
		t.Fatal(err)
	}
	many, err := NewUnits(d, slices.Repeat(row, 7), make([]int, 7))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range columnKinds {
		if a, b := mustColumns(t, single, kind, nil, 1), mustColumns(t, many, kind, nil, 1); !slices.Equal(a, b) {
			t.Errorf("%s of seven rows alike is not that of one", kind)
		}
	}
	octaves := mustColumns(t, single, query.Octaves, nil, 1)
	for j, x := range row {
		for _, b := range query.AppendOctaves(nil, x) {
			octaves[j*query.OctaveBins+b] -= one
		}
	}
	if slices.Max(octaves) != 0 || slices.Min(octaves) != 0 {
		t.Error("a row is counted elsewhere than in its octaves")
	}
	z := mustColumns(t, single, query.Moments, []bool{false, false, true}, 1)
	if want := []int64{0, -39322, 0, 0, 5898, one}; !slices.Equal(z, want) { // 2z and z², rounded
		t.Errorf("moments of a row are %v, want %v", z, want)
	}
	far := mustColumns(t, single, query.Moments, nil, 1)
	if length(far[:d]) > 2.2*math.Sqrt(d)*one || length(far[d:]) > 1.2*math.Sqrt(3*d)*one {
		t.Errorf("moments of a far row are %v", far)
	}
}

// TestColumnsSkip: a column that is left out has no count, and 0 and 1 for moments, whatever is in
// it; and what does not fit is refused by public numbers alone.
func TestColumnsSkip(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var values []float64
	for range 20 {
		values = append(values, rng.Float64(), 1e9*rng.Float64()) // no clip in the first
	}
	m, err := NewMatrix(2, values)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range columnKinds {
		sum := mustColumns(t, m, kind, []bool{false, true}, 1)
		own := sum[len(sum)/2:]
		if kind == query.Moments {
			if own = []int64{sum[1]}; sum[3] != 20*one {
				t.Errorf("z² of a column that is left out adds up to %d", sum[3])
			}
		}
		if slices.Max(own) != 0 || slices.Min(own) != 0 {
			t.Errorf("%s: a column that is left out has %v", kind, own)
		}
	}
	wide, err := NewMatrix(query.MaxValues/query.TreeBins+1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"another kind":     second(Columns(m, query.Mean, all(2), nil, 1)),
		"a short skip":     second(Columns(m, query.Tree, all(2), []bool{true}, 1)),
		"too many columns": second(Columns(wide, query.Tree, all(wide.d), nil, 1)),
		"no column":        second(Columns(m, query.Tree, nil, nil, 1)),
		"another's column": second(Columns(m, query.Tree, []int{0, 2}, nil, 1)),
		"below the first":  second(Columns(m, query.Tree, []int{-1, 0}, nil, 1)),
		"a column twice":   second(Columns(m, query.Tree, []int{1, 1}, nil, 1)),
		"another order":    second(Columns(m, query.Tree, []int{1, 0}, nil, 1)),
	} {
		if _, ok := errors.AsType[*QueryError](err); !ok {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

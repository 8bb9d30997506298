package clip

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/query"
)

func TestUnitsAreGrouped(t *testing.T) {
	values := []float64{10, 11, 20, 21, 30, 31, 40, 41, 50, 51}
	m, err := NewUnits(2, slices.Clone(values), []int{2, 0, 2, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if m.N() != 3 || m.Rows() != 5 || m.D() != 2 {
		t.Errorf("%d units of %d rows of %d", m.N(), m.Rows(), m.D())
	}
	if want := []float64{20, 21, 50, 51, 40, 41, 10, 11, 30, 31}; !slices.Equal(m.values.wide, want) {
		t.Errorf("rows are %v, want %v", m.values.wide, want)
	}
	for i, norm := range m.norms {
		if want := math.Hypot(m.values.wide[2*i], m.values.wide[2*i+1]); math.Abs(norm-want) > 1e-12 {
			t.Errorf("row %d has norm %v, want %v", i, norm, want)
		}
	}
	q := Query{Map: Rows, Radius: 100, Grid: query.Grid(100)}
	if got := mustSum(t, m, q, 1); got[0] != int64(5/q.Grid) {
		t.Errorf("%v rows", float64(got[0])*q.Grid)
	}
	if m, err = NewUnits(3, nil, nil); err != nil || m.N() != 0 {
		t.Errorf("no rows: %v, %v", m, err)
	}
}

func TestUnitColumnIsChecked(t *testing.T) {
	for name, c := range map[string]struct {
		unit []int
		row  int
	}{
		"short":    {[]int{0, 0}, -1},
		"long":     {[]int{0, 0, 0, 0}, -1},
		"negative": {[]int{0, -1, 0}, 1},
		"large":    {[]int{0, 1, 3}, 2},
		"gap":      {[]int{0, 2, 2}, -1},
	} {
		_, err := NewUnits(1, []float64{1, 2, 3}, c.unit)
		if e, ok := errors.AsType[*UnitError](err); !ok || e.Row != c.row {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := NewUnits(2, []float64{1, 2, 3, math.NaN()}, []int{0, 0})
	if e, ok := errors.AsType[*ValueError](err); !ok || e.Row != 1 || e.Column != 1 {
		t.Errorf("a NaN: %v", err)
	}
	if _, err = NewUnits(2, []float64{1, 2, 3}, []int{0}); err == nil {
		t.Error("ragged rows")
	} else if _, ok := errors.AsType[*ShapeError](err); !ok {
		t.Errorf("ragged rows: %v", err)
	}
	if testing.Short() {
		return
	}
	unit := make([]int, MaxUnitRows+1)
	values := make([]float64, len(unit))
	if _, err := NewUnits(1, slices.Clone(values), unit); err == nil {
		t.Error("a unit of 2^22+1 rows")
	} else if e, ok := errors.AsType[*UnitError](err); !ok || e.Row != MaxUnitRows {
		t.Errorf("a unit of 2^22+1 rows: %v", err)
	}
	unit[0] = 1
	if _, err := NewUnits(1, values, unit); err != nil {
		t.Error(err)
	}
}

// A column of units is a promise about paths: which one a unit takes is decided by the constructor,
// never by how many rows units happen to have. A matrix of units of one row stays on the path of
// units, so that another's second row changes nothing. At R/g near 2^40 the paths differ in about
// one value of 2^13, so that of 20,000 units some would show.
func TestOneMoreRowOfAUnitChangesNoOther(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for _, kind := range maps {
		const d, n = 3, 20_000
		values := gaussian(rng, (n+1)*d)
		q := queryOf(rng, kind, d, 2, 1.9, 23)
		part := func(lengths []int, rows int) []int64 {
			return mustSum(t, mustUnits(t, d, values[:rows*d], lengths), q, 0)
		}
		ones := slices.Repeat([]int{1}, n)
		two := append(slices.Repeat([]int{1}, n-1), 2)
		last := func(rows []float64) []int64 {
			return mustSum(t, mustUnits(t, d, rows, []int{len(rows) / d}), q, 1)
		}
		change := less(part(two, n+1), part(ones, n))
		if want := less(last(values[(n-1)*d:]), last(values[(n-1)*d:n*d])); !slices.Equal(change, want) {
			t.Errorf("map %d: the total moved by %v, the unit by %v", kind, change, want)
		}
		// The paths do differ, or this test could not fail.
		if kind == Power || kind == Moment {
			if slices.Equal(part(ones, n), part(nil, n)) {
				t.Errorf("map %d: both paths give the same integers", kind)
			}
		}
	}
}

// A unit's float64 sum is the same to the last bit for any height of the blocks that its rows are
// read in.
func TestUnitSumsDoNotDependOnBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	const d, n = 3, 203
	m := mustUnits(t, d, gaussian(rng, n*d), []int{101, 102})
	for _, kind := range maps {
		q := queryOf(rng, kind, d, 2, 1, 0)
		one := newFold(m, q, m.lengths(1), blockBytes)
		one.unit(1)
		for _, block := range []int{1, 8 * d * 5, 8 * d * 8, 8 * d * 50} {
			f := newFold(m, q, m.lengths(1), block)
			f.unit(0)
			f.unit(1)
			if !slices.Equal(f.v, one.v) {
				t.Errorf("map %d: blocks of %d bytes give other sums", kind, block)
			}
		}
	}
}

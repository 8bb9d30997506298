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

// held checks that every value of m is within the bounds that NewMatrix checks, and that its norms
// are those of its rows.
func held(t *testing.T, m *Matrix, what string) {
	t.Helper()
	again, err := NewMatrix(m.d, slices.Clone(wideOf(m)))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !slices.Equal(again.lengths(1), m.lengths(1)) {
		t.Fatalf("%s: norms are not the rows'", what)
	}
}

// wideOf returns a copy of all rows.
func wideOf(m *Matrix) []float64 { return slices.Clone(m.reader().widened(0, m.rows)) }

func TestLess(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5, 6}
	for _, lengths := range [][]int{nil, {2, 1}} {
		m := mustUnits(t, 2, values, lengths)
		c, err := m.Less([]float64{1, 10})
		if err != nil {
			t.Fatal(err)
		}
		if want := []float64{0, -8, 2, -6, 4, -4}; !slices.Equal(wideOf(c), want) || c.N() != m.N() {
			t.Errorf("got %v", wideOf(c))
		}
		held(t, c, "less")
		if !slices.Equal(wideOf(m), values) {
			t.Error("the matrix itself changed")
		}
	}
	m := mustMatrix(t, 2, values)
	for _, center := range [][]float64{nil, {1}, {1, 2, 3}, {1, math.NaN()}, {math.Inf(-1), 0}, {0, math.Nextafter(0x1p150, math.Inf(1))}} {
		_, err := m.Less(center)
		if e, ok := errors.AsType[*QueryError](err); !ok || e.Field != "center" {
			t.Errorf("center %v: %v", center, err)
		}
	}
}

// TestSphere: rows become rows of length 1, whatever their size, and rows of zeros stay.
func TestSphere(t *testing.T) {
	rng := rand.New(rand.NewPCG(57, 58))
	for _, d := range []int{1, 3, 8, 40} {
		top := math.Nextafter(valueLimit(d), 0)
		values := gaussian(rng, 6*d)
		for j := range d {
			values[j] *= 0x1p-478
			values[d+j] = top
			values[2*d+j] = 0
			values[3*d+j] *= 0x1p-500 // counts as zeros
		}
		m, err := NewMatrix(d, slices.Clone(values), 2)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sphere()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			row := wideOf(s)[i*d : (i+1)*d]
			if i == 2 || i == 3 {
				if slices.Max(row) != 0 || slices.Min(row) != 0 || s.lengths(1)[i] != 0 {
					t.Errorf("d = %d: row %d of zeros became %v", d, i, row)
				}
				continue
			}
			if math.Abs(s.lengths(1)[i]-1) > 1e-15*float64(d) {
				t.Errorf("d = %d: row %d has length %v", d, i, s.lengths(1)[i])
			}
			for j, v := range row {
				if math.Abs(v-values[i*d+j]/m.lengths(1)[i]) != 0 {
					t.Errorf("d = %d: row %d points elsewhere", d, i)
				}
			}
		}
		// A row of the result is a function of the row alone: of another matrix it is the same.
		alone, err := mustMatrix(t, d, values[4*d:5*d]).Sphere()
		if err != nil || !slices.Equal(wideOf(alone), wideOf(s)[4*d:5*d]) {
			t.Errorf("d = %d: a row alone becomes another, %v", d, err)
		}
	}
	if _, err := mustUnits(t, 2, []float64{1, 2, 3, 4, 5, 6}, []int{2, 1}).Sphere(); err == nil {
		t.Error("units of several rows are on the sphere")
	}
	narrow, err := NewMatrix32(2, []float32{3, 4, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := narrow.Sphere(); err != nil || wideOf(s)[0] != 0.6 || wideOf(s)[1] != 0.8 {
		t.Errorf("float32 rows become %v, %v", s, err)
	}
}

func TestOff(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for _, d := range []int{1, 2, 3, 10, 30} {
		for _, found := range []int{1, min(2, d), min(d, 10)} {
			v := orthogonal(rng, d, found)
			values := gaussian(rng, 6*d)
			for _, lengths := range [][]int{nil, {3, 3}} {
				m, err := mustUnits(t, d, values, lengths).Off(v)
				if err != nil {
					t.Fatal(err)
				}
				held(t, m, "off")
				if lengths != nil && m.N() != 2 {
					t.Fatalf("2 units became %d", m.N())
				}
				for i := range 6 {
					row, old := wideOf(m)[i*d:(i+1)*d], values[i*d:(i+1)*d]
					s := make([]*big.Float, found)
					for l := range s {
						s[l] = exact(0)
						for k := range old {
							s[l].Add(s[l], times(exact(old[k]), exact(v[l*d+k])))
						}
					}
					for j := range row {
						want := exact(old[j])
						for l := range s {
							want.Sub(want, times(s[l], exact(v[l*d+j])))
						}
						if diff, _ := new(big.Float).Sub(want, exact(row[j])).Float64(); math.Abs(diff) > 1e-13*float64(d) {
							t.Fatalf("d=%d found=%d: row %d, value %d is off by %v", d, found, i, j, diff)
						}
					}
				}
			}
		}
	}
	m := mustMatrix(t, 2, []float64{1, 2})
	if same, err := m.Off(nil); err != nil || same != m {
		t.Errorf("off nothing: %v, %v", same, err)
	}
	for name, v := range map[string][]float64{
		"short": {1}, "ragged": {1, 0, 0}, "nan": {math.NaN(), 0}, "inf": {math.Inf(1), 0}, "norm": {1 + 2e-6, 0}, "zero": {0, 0},
		"same": {1, 0, 1, 0}, "cross": {1, 0, 2e-6, 1}, "many": {1, 0, 0, 1, 1, 0},
	} {
		_, err := m.Off(v)
		if e, ok := errors.AsType[*QueryError](err); !ok || e.Field != "direction" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := m.Off([]float64{1 + 5e-7, 0, 5e-7, 1}); err != nil {
		t.Errorf("nearly orthonormal: %v", err)
	}
}

func TestPairs(t *testing.T) {
	values := []float64{0, 1, 2, 10, 100, -50, 7, 7, 1000, 3}
	m, err := mustMatrix(t, 2, values).Pairs([]int{4, 1, 3, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	held(t, m, "pairs")
	want := []float64{998, -7, 7, 6}
	if m.N() != 2 || m.Rows() != 2 {
		t.Fatalf("%d units", m.N())
	}
	for j := range want {
		if math.Abs(wideOf(m)[j]-want[j]*math.Sqrt2/2) > 1e-12*math.Abs(want[j]) {
			t.Errorf("value %d is %v", j, wideOf(m)[j])
		}
	}
	for _, order := range [][]int{{0, 0}, {5, 0}, {-1, 0}, {0, 1, 2, 3, 4, 0}, {1, 2, 1}} {
		_, err := mustMatrix(t, 2, values).Pairs(order)
		if e, ok := errors.AsType[*QueryError](err); !ok || e.Field != "order" {
			t.Errorf("order %v: %v", order, err)
		}
	}
	if _, err := mustUnits(t, 2, values, slices.Repeat([]int{1}, 5)).Pairs([]int{0, 1}); err == nil {
		t.Error("paired a matrix with a unit column")
	}
	if m, err := mustMatrix(t, 2, values).Pairs(nil); err != nil || m.N() != 0 {
		t.Errorf("no pairs: %v, %v", m, err)
	}
}

// Derived rows of any accepted values stay within bounds, to the largest: a deflated row may have a
// value √d/2 times its largest, a pair twice.
func TestDerivedRowsStayWithinBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	for range 300 {
		d := 1 + rng.IntN(40)
		top := math.Nextafter(valueLimit(d), 0)
		q := Query{X: unit(rng, d), Radius: 1, Grid: query.Grid(1)}
		values := make([]float64, 0, 6*d)
		for range 2 {
			values = append(values, hostileRow(rng, d, q)...)
		}
		for i := range 4 * d {
			values = append(values, top*float64(1-2*(i/d%2)))
		}
		m := mustMatrix(t, d, values)
		center := make([]float64, d)
		for j := range center {
			center[j] = math.Copysign(0x1p150, rng.NormFloat64())
		}
		l, err := m.Less(center)
		if err != nil {
			t.Fatal(err)
		}
		held(t, l, "less")
		// The direction that leaves of (1, …, 1) its first axis.
		v := slices.Repeat([]float64{1 / math.Sqrt(float64(max(1, d-1)))}, d)
		if d > 1 {
			v[0] = 0
		}
		for _, v := range [][]float64{v, orthogonal(rng, d, 1+rng.IntN(d))} {
			o, err := m.Off(v)
			if err != nil {
				t.Fatal(err)
			}
			held(t, o, "off")
		}
		// The sphere over (1, …, 1) reaches √d/2 along an axis.
		if d > 8 {
			a := 0.5 * (1 + math.Sqrt(float64(d)))
			w := slices.Repeat([]float64{1}, d)
			w[0] -= a
			n := math.Sqrt(dot(w, w))
			// y - w(wᵀy)/‖w‖² with w = y - r, rᵀw = 0 has r_0 up to a.
			for j := range w {
				w[j] /= n
			}
			o, err := m.Off(w)
			if err != nil {
				t.Fatal(err)
			}
			held(t, o, "off, the worst")
		}
		p, err := m.Pairs(rng.Perm(m.N()))
		if err != nil {
			t.Fatal(err)
		}
		held(t, p, "pairs")
		s, err := m.Sphere()
		if err != nil {
			t.Fatal(err)
		}
		held(t, s, "sphere")
	}
}

// Replacing one unit of a paired matrix, centred or deflated, moves a sum by at most Δ: a derived
// row depends on one unit, or one pair.
func TestReplacingUnitsOfDerivedMatrices(t *testing.T) {
	rng, trials := rand.New(rand.NewPCG(55, 56)), 30
	if testing.Short() {
		trials /= 5
	}
	for _, kind := range maps {
		for range trials {
			d := 2 + rng.IntN(4)
			q := queryOf(rng, kind, d, 1, math.Ldexp(1+rng.Float64(), rng.IntN(8)-4), 0)
			delta := kind.definition().Sensitivity(q.Radius, q.Grid, q.Values(d))
			const n = 7
			order, found, center := rng.Perm(n), orthogonal(rng, d, 1), gaussian(rng, d)
			values := make([]float64, 0, n*d)
			for range n {
				values = append(values, hostileUnit(t, rng, d, 1, q)...)
			}
			derive := func() []*Matrix {
				m := mustMatrix(t, d, values)
				pairs, err := m.Pairs(order)
				if err != nil {
					t.Fatal(err)
				}
				less, err := m.Less(center)
				if err != nil {
					t.Fatal(err)
				}
				off, err := less.Off(found)
				if err != nil {
					t.Fatal(err)
				}
				sphere, err := less.Sphere()
				if err != nil {
					t.Fatal(err)
				}
				return []*Matrix{pairs, less, off, sphere}
			}
			before := derive()
			for range 20 {
				copy(values[rng.IntN(n)*d:], hostileUnit(t, rng, d, 1, q))
				after := derive()
				for i := range after {
					if diff := less(mustSum(t, after[i], q, 1), mustSum(t, before[i], q, 1)); exceeds(diff, delta) {
						t.Fatalf("map %d, derived %d: moved by %v > Δ = %v", kind, i, length(diff), delta)
					}
					if diff := less(mustHistogram(t, after[i], q, 1), mustHistogram(t, before[i], q, 1)); exceeds(diff, query.HistogramSensitivity) {
						t.Fatalf("map %d, derived %d: counts moved by %v", kind, i, length(diff))
					}
				}
				before = after
			}
		}
	}
}

// TestAbsentRows: a dropped row is no row of minus the center, nor half a pair's difference,
// however rows are derived.
func TestAbsentRows(t *testing.T) {
	values := []float64{1, 2, 0, 0, 5, 6, 0, 0}
	for name, m := range map[string]func() (*Matrix, error){
		"rows":  func() (*Matrix, error) { return NewMatrix(2, slices.Clone(values), 1) },
		"units": func() (*Matrix, error) { return NewUnits(2, slices.Clone(values), []int{1, 0, 1, 0}, 1) },
	} {
		raw, err := m()
		if err != nil {
			t.Fatal(err)
		}
		less, err := raw.Less([]float64{10, 20})
		if err != nil {
			t.Fatal(err)
		}
		less, err = less.Off([]float64{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i := 0; i < len(wideOf(less)); i += 2 {
			sum += wideOf(less)[i]
		}
		if want := -9.0 - 5 - 10; sum != want { // the row of zeros that is there counts
			t.Errorf("%s: the sum less the center is %v, want %v", name, sum, want)
		}
	}
	raw, err := NewMatrix(2, slices.Clone(values), 1)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := raw.Pairs([]int{0, 1, 2, 3})
	if err != nil || pairs.lengths(1)[0] != 0 || pairs.lengths(1)[1] == 0 {
		t.Errorf("pairs %v, %v", pairs.lengths(1), err)
	}
	for _, absent := range []int{-1, 4, 0} {
		if _, err := NewMatrix(2, slices.Clone(values), absent); err == nil {
			t.Errorf("row %d cannot be absent", absent)
		}
	}
}

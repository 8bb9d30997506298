package clip

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"covey/internal/query"
)

// gappedTable draws rows, their gaps and units: values of any size, 0 to d gaps a row.
func gappedTable(rng *rand.Rand, d, rows int) (values []float64, gaps []byte, unit []int) {
	values, gaps = make([]float64, d*rows), make([]byte, rows*gapStride(d))
	for i := range rows {
		size := math.Exp2([]float64{0, 3, 60, 480, -480, -900}[rng.IntN(6)])
		share := []float64{0, 0.2, 0.9, 1}[rng.IntN(4)]
		for j := range d {
			v := max(-1, min(1, rng.NormFloat64())) * size
			if rng.Float64() < share {
				gaps[i*gapStride(d)+j/8] |= 1 << (j % 8)
				v = 0
			}
			values[i*d+j] = v
		}
		unit = append(unit, rng.IntN(i+1))
	}
	names := map[int]int{}
	for i, u := range unit {
		if _, ok := names[u]; !ok {
			names[u] = len(names)
		}
		unit[i] = names[u]
	}
	return values, gaps, unit
}

func gapped(t testing.TB, d int, values []float64, gaps []byte, unit []int) *Matrix {
	t.Helper()
	m, err := NewGapped(d, slices.Clone(values), slices.Clone(gaps), unit)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func rowOf(m *Matrix, i int) []float64 {
	return slices.Clone(m.reader().widened(i, i+1))
}

// directionsOf returns k orthonormal vectors of length d, one after another.
func directionsOf(rng *rand.Rand, k, d int) []float64 {
	var q mat.QR
	a := mat.NewDense(d, k, nil)
	for i := range d {
		for l := range k {
			a.Set(i, l, rng.NormFloat64())
		}
	}
	q.Factorize(a)
	var thin mat.Dense
	q.QTo(&thin)
	var out []float64
	for l := range k {
		for i := range d {
			out = append(out, thin.At(i, l))
		}
	}
	return out
}

// TestGapsTravel: a gap stays with its row's cell through units, a center, lengths and pairs, its
// value stays 0, and float32 has the same.
func TestGapsTravel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, d := range []int{1, 3, 8, 9, 20} {
		values, gaps, unit := gappedTable(rng, d, 40)
		empty := func(i, j int) bool { return gaps[i*gapStride(d)+j/8]>>(j%8)&1 != 0 }
		narrow := make([]float32, len(values))
		for i, v := range values {
			narrow[i] = float32(max(-1e30, min(1e30, v)))
		}
		wide := make([]float64, len(values))
		for i, v := range narrow {
			wide[i] = float64(v)
		}
		m := gapped(t, d, wide, gaps, unit)
		m32, err := NewGapped(d, narrow, slices.Clone(gaps), unit)
		if err != nil {
			t.Fatal(err)
		}
		center := make([]float64, d)
		for j := range center {
			center[j] = 1 + float64(j)
		}
		var less [2]*Matrix
		for k, m := range []*Matrix{m, m32} {
			if less[k], err = m.Less(center); err != nil {
				t.Fatal(err)
			}
		}
		next := slices.Clone(m.starts)
		for i, u := range unit { // where row i went
			at := next[u]
			next[u]++
			for j := range d {
				want := wide[i*d+j] - center[j]
				if empty(i, j) {
					want = 0
				}
				for _, l := range less {
					if got := rowOf(l, at)[j]; got != want || slices.Contains(places(nil, l.gapsOf(at)), j) != empty(i, j) {
						t.Fatalf("d = %d, row %d, column %d: %v, want %v, a gap: %t", d, i, j, got, want, empty(i, j))
					}
				}
			}
		}
		plain := gapped(t, d, values, gaps, nil)
		pairs, err := plain.Pairs([]int{3, 0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		sphere, err := plain.Sphere()
		if err != nil {
			t.Fatal(err)
		}
		for i, pair := range [][2]int{{3, 0}, {1, 2}} {
			for j := range d {
				gap := empty(pair[0], j) || empty(pair[1], j)
				want := (values[pair[0]*d+j] - values[pair[1]*d+j]) * (math.Sqrt2 / 2)
				if gap {
					want = 0
				}
				if got := rowOf(pairs, i)[j]; got != want || slices.Contains(places(nil, pairs.gapsOf(i)), j) != gap {
					t.Fatalf("d = %d, pair %d, column %d: %v, want %v, a gap: %t", d, i, j, got, want, gap)
				}
				if empty(i, j) && (rowOf(sphere, i)[j] != 0 || !slices.Contains(places(nil, sphere.gapsOf(i)), j)) {
					t.Fatalf("d = %d: a gap of row %d on the sphere is %v", d, i, rowOf(sphere, i)[j])
				}
			}
		}
	}
}

// TestGapsAreRefused: gaps that are not of these values.
func TestGapsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		gaps   []byte
	}{
		"too few":             {[]float64{1, 0, 0, 1}, []byte{2}},
		"too many":            {[]float64{1, 0, 0, 1}, []byte{2, 1, 0}},
		"a value in its gap":  {[]float64{1, 0, 0, 1}, []byte{2, 2}},
		"a NaN in its gap":    {[]float64{1, 0, 0, math.NaN()}, []byte{2, 2}},
		"beyond the last one": {[]float64{1, 0, 0, 1}, []byte{2, 4}},
	} {
		var shape *ShapeError
		var value *ValueError
		if _, err := NewGapped(2, c.values, c.gaps, nil); !errors.As(err, &shape) && !errors.As(err, &value) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFillIsThePrediction: of rows that a few directions and a little else explain, the fill is the
// ridge regression's, computed by another way.
func TestFillIsThePrediction(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	const d, k = 9, 3
	v := directionsOf(rng, k, d)
	for turn := range 200 {
		products := productsOf(d, v)
		if turn%2 == 1 { // as where there are too many
			products = nil
		}
		f := newFill(d, v, products)
		y, bits, rest := make([]float64, d), make([]byte, gapStride(d)), mat.NewDense(d, k, nil)
		for j := range d {
			if rng.IntN(3) == 0 {
				bits[j/8] |= 1 << (j % 8)
				continue
			}
			y[j] = rng.NormFloat64()
			for l := range k {
				rest.Set(j, l, v[l*d+j])
			}
		}
		var gram mat.Dense
		gram.Mul(rest.T(), rest)
		for l := range k {
			gram.Set(l, l, gram.At(l, l)+fillRidge)
		}
		var b, a mat.VecDense
		b.MulVec(rest.T(), mat.NewVecDense(d, y))
		if err := a.SolveVec(&gram, &b); err != nil {
			t.Fatal(err)
		}
		got := slices.Clone(y)
		dotsBlock(f.a, got, v, 1, d, 0)
		f.row(got, bits)
		for j := range d {
			want := y[j]
			if bits[j/8]>>(j%8)&1 != 0 {
				want = 0
				for l := range k {
					want += v[l*d+j] * a.AtVec(l)
				}
			}
			if !(math.Abs(got[j]-want) <= 1e-12) {
				t.Fatalf("cell %d is %v, want %v", j, got[j], want)
			}
		}
	}
}

// TestFillOfARowIsItsOwn: what a row is filled with depends on the row and the directions alone,
// whatever the other rows are and in whichever order; it is finite, at most 2.3 times as long as
// what is there, and of a row without a value nothing.
func TestFillOfARowIsItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		d := rapid.IntRange(1, 20).Draw(t, "d")
		k := rapid.IntRange(1, d).Draw(t, "k")
		v := directionsOf(rng, k, d)
		values, gaps, _ := gappedTable(rng, d, 6)
		stride := gapStride(d)
		all, err := NewGapped(d, slices.Clone(values), slices.Clone(gaps), nil)
		if err != nil {
			t.Fatal(err)
		}
		filled, err := all.Fill(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		if filled.gaps != nil {
			t.Fatal("gaps are left")
		}
		for i := range 6 {
			alone, err := NewGapped(d, slices.Clone(values[i*d:(i+1)*d]), slices.Clone(gaps[i*stride:(i+1)*stride]), []int{0})
			if err != nil {
				t.Fatal(err)
			}
			mine, err := alone.Fill(v, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := wideOf(filled)[i*d : (i+1)*d] // after those before it
			if !slices.Equal(got, rowOf(mine, 0)) {
				t.Fatalf("row %d is %v among others, alone %v", i, got, rowOf(mine, 0))
			}
			largest, square := 0.0, 0.0
			for j, x := range got {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("row %d is %v", i, got)
				}
				if slices.Contains(places(nil, gaps[i*stride:(i+1)*stride]), j) {
					square = math.Hypot(square, x)
				} else if x != values[i*d+j] {
					t.Fatalf("a value of row %d became %v", i, x)
				}
				largest = math.Hypot(largest, values[i*d+j])
			}
			if square > 2.3*largest {
				t.Fatalf("a row of length %g is filled with %g", largest, square)
			}
		}
	})
}

// TestFillIsNotOfItsIndicator: a gap is filled as if its column's indicator were one too, which
// keeps its value. Other columns' indicators count.
func TestFillIsNotOfItsIndicator(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	const d, k = 9, 3
	own := []int{-1, 7, 7, -1, 8, -1, -1, -1, -1}
	v := directionsOf(rng, k, d)
	fill := func(y []float64, own []int, gaps ...int) []float64 {
		t.Helper()
		y, bits := slices.Clone(y), make([]byte, gapStride(d))
		for _, j := range gaps {
			y[j] = 0
			bits[j/8] |= 1 << (j % 8)
		}
		filled, err := gapped(t, d, y, bits, nil).Fill(v, own)
		if err != nil {
			t.Fatal(err)
		}
		return rowOf(filled, 0)
	}
	for _, gaps := range [][]int{{1, 2}, {2}, {4}, {0}, {0, 1, 2, 3, 4}, {3, 5}} {
		y := gaussian(rng, d)
		hidden := slices.Clone(gaps)
		for _, j := range gaps {
			if own[j] >= 0 && !slices.Contains(hidden, own[j]) {
				hidden = append(hidden, own[j])
			}
		}
		got, want := fill(y, own, gaps...), fill(y, nil, hidden...)
		for j := range d {
			if slices.Contains(hidden[len(gaps):], j) {
				want[j] = y[j]
			}
			if !(math.Abs(got[j]-want[j]) <= 1e-12) {
				t.Errorf("gaps %v: cell %d is %v, want %v", gaps, j, got[j], want[j])
			}
		}
	}
}

// TestFillWithoutProducts: with too many directions for a table of their products, cells are filled
// with the same values, to the bit. So they are on every path, whatever rows without a gap lie
// between.
func TestFillWithoutProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, c := range [][2]int{{9, 1}, {20, 4}, {70, 7}, {90, 33}, {300, 40}} {
		d, k := c[0], c[1]
		v, n := directionsOf(rng, k, d), 40
		if want := d*triangle(k) <= maxProducts; (productsOf(d, v) != nil) != want {
			t.Fatalf("a table of the products of %d directions of length %d: %t", k, d, !want)
		}
		values, gaps, _ := gappedTable(rng, d, n)
		for i := 0; i < n; i += 1 + rng.IntN(3) {
			copy(values[i*d:(i+1)*d], gaussian(rng, d))
			clear(gaps[i*gapStride(d) : (i+1)*gapStride(d)])
		}
		m := gapped(t, d, values, gaps, nil)
		filled, err := m.Fill(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		f := newFill(d, v, nil)
		for i := range n {
			row := rowOf(m, i)
			dotsBlock(f.a, row, v, 1, d, 0)
			if !m.full(i, i+1) {
				f.row(row, m.gapsOf(i))
			}
			want = append(want, row...)
		}
		for _, p := range supported() {
			on(p, func() {
				if !sameBits(wideOf(filled), want) {
					t.Errorf("%s: %d directions of length %d fill with something else", pathNames[p], k, d)
				}
			})
		}
	}
}

// TestRowsWithoutGapsAreNotCopied: a block with nothing to fill is read in place.
func TestRowsWithoutGapsAreNotCopied(t *testing.T) {
	const d, n = 70, 9 // a row's gaps end in the middle of a word
	values, gaps := slices.Repeat([]float64{1}, n*d), make([]byte, n*gapStride(d))
	values[4*d+d-1], gaps[5*gapStride(d)-1] = 0, 1<<((d-1)%8)
	m := gapped(t, d, values, gaps, nil)
	filled, err := m.Fill(append([]float64{1}, make([]float64, d-1)...), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := filled.reader()
	for lo := range n {
		for hi := lo + 1; hi <= n; hi++ {
			there := &r.rows(lo, hi).wide[0] == &m.values.wide[lo*d]
			if want := lo > 4 || hi <= 4; there != want || m.full(lo, hi) != want {
				t.Errorf("rows %d to %d are where they are: %t", lo, hi-1, there)
			}
		}
	}
}

// TestFillNearlyOrthonormal: directions that are as far from orthonormal as is taken leave every
// number finite, of rows with one cell and with none; others are refused.
func TestFillNearlyOrthonormal(t *testing.T) {
	const d = 4
	v := []float64{1 + 0.9e-6, 0, 0, 0, 0.9e-6, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 - 0.9e-6}
	for bits := range byte(1 << d) {
		y := make([]float64, d)
		for j := range y {
			if bits>>j&1 == 0 {
				y[j] = 0x1p480
			}
		}
		m, err := NewGapped(d, y, []byte{bits}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.Fill(v, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range rowOf(f, 0) {
			if !(math.Abs(x) <= 0x1p481) {
				t.Errorf("gaps %04b: %v", bits, rowOf(f, 0))
			}
		}
	}
	m := gapped(t, d, make([]float64, d), []byte{1}, nil)
	for _, v := range [][]float64{{1, 0, 0}, {2, 0, 0, 0}, {math.NaN(), 0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0}} {
		var bad *QueryError
		if _, err := m.Fill(v, nil); !errors.As(err, &bad) {
			t.Errorf("directions %v: %v", v, err)
		}
	}
}

// TestCountGaps: a unit counts its share of rows, rounded down; replacing one moves each count by
// at most a whole.
func TestCountGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	const d, rows, grid = 11, 60, query.ColumnGrid
	values, gaps, unit := gappedTable(rng, d, rows)
	columns := []int{10, 0, 3}
	for _, unit := range [][]int{nil, unit} {
		m := gapped(t, d, values, gaps, unit)
		got, err := CountGaps(m, columns, 3)
		if err != nil {
			t.Fatal(err)
		}
		for c, j := range columns {
			count, of := map[int]int{}, map[int]int{}
			for i := range rows {
				u := i
				if unit != nil {
					u = unit[i]
				}
				of[u]++
				count[u] += int(gaps[i*gapStride(d)+j/8] >> (j % 8) & 1)
			}
			want := int64(0)
			for u := range of {
				want += int64(math.Floor(float64(count[u]) / float64(of[u]) / grid))
			}
			if got[c] != want {
				t.Errorf("units %t, column %d: %d, want %d", unit != nil, j, got[c], want)
			}
		}
	}
	none, err := CountGaps(gapped(t, d, values, nil, nil), columns, 1)
	if err != nil || fmt.Sprint(none) != "[0 0 0]" {
		t.Errorf("without gaps %v, %v", none, err)
	}
	for _, columns := range [][]int{{d}, {-1}} {
		if _, err := CountGaps(gapped(t, d, values, gaps, nil), columns, 1); err == nil {
			t.Errorf("columns %v", columns)
		}
	}
}

// TestColumnsSkipGaps: in queries about single columns a gap has no count, a unit's average is over
// its rows with a value, and one without any has z = 0 and z² = 1; replacing a unit, whatever its
// gaps, moves the answer by no more than the sensitivity.
func TestColumnsSkipGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	const d, rows = 9, 40
	for range 40 {
		values, gaps, unit := gappedTable(rng, d, rows)
		others, otherGaps := slices.Clone(values), slices.Clone(gaps)
		out, outGaps, _ := gappedTable(rng, d, rows)
		for i, u := range unit { // unit 0 is another
			if u == 0 {
				copy(others[i*d:(i+1)*d], out[i*d:(i+1)*d])
				copy(otherGaps[i*gapStride(d):(i+1)*gapStride(d)], outGaps[i*gapStride(d):(i+1)*gapStride(d)])
			}
		}
		for _, kind := range []query.Kind{query.Octaves, query.Tree, query.Moments, query.Filled} {
			ask := func(values []float64, gaps []byte) []int64 {
				m := gapped(t, d, values, gaps, unit)
				var got []int64
				var err error
				if kind == query.Filled {
					got, err = CountGaps(m, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, 2)
				} else {
					got, err = Columns(m, kind, all(d), nil, 2)
				}
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			x, y, moved := ask(values, gaps), ask(others, otherGaps), 0.0
			for j := range x {
				moved += float64((x[j] - y[j]) * (x[j] - y[j]))
			}
			if bound := kind.Definition().CountSensitivity(query.ColumnGrid, len(x)); moved > bound*bound {
				t.Errorf("%s moved by %v of at most %v", kind, math.Sqrt(moved), bound)
			}
			if kind != query.Tree {
				continue
			}
			for j := range d {
				seen, sum := map[int]bool{}, int64(0)
				for i, u := range unit {
					if gaps[i*gapStride(d)+j/8]>>(j%8)&1 == 0 {
						seen[u] = true
					}
				}
				for _, c := range x[j*query.TreeBins : (j+1)*query.TreeBins] {
					sum += c
				}
				// in each level one bin a row, and a unit's average of them rounded down
				levels := int64(len(query.TreeLevels))
				if most := levels * int64(len(seen)) << 16; sum > most || sum < most-levels*rows {
					t.Errorf("%d units with a value count as %v", len(seen), float64(sum)/(1<<16))
				}
			}
		}
		empty := slices.Repeat([]byte{0xff, 0x01}, 2)
		got, err := Columns(gapped(t, d, make([]float64, 2*d), empty, []int{0, 1}), query.Moments, all(d), nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		for j := range d {
			if got[j] != 0 || got[d+j] != 2<<16 {
				t.Fatalf("units without a value have z = %d and z² = %d steps", got[j], got[d+j])
			}
		}
	}
}

// TestStandardizeKeepsGaps: a gap is 0 at any center and scale, and stays one; so it does where
// levels are joined.
func TestStandardizeKeepsGaps(t *testing.T) {
	const d = 3
	m := gapped(t, d, []float64{4, 0, 6, 0, 5, 0}, []byte{0b010, 0b101}, nil)
	s, err := m.Standardize([]float64{1, 2, 3}, []float64{1, 0.5, 0x1p-100}, []float64{3, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(rowOf(s, 0), rowOf(s, 1), s.gaps); got != "[3 0 3] [0 3 0] [2 5]" {
		t.Error(got)
	}
	j, err := m.Join([]int{0, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(rowOf(j, 0), j.gaps); got != "[4 0 6] [2 5]" {
		t.Error(got)
	}
}

package clip

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unsafe"
)

// fillRidge is the variance of what the directions of [Matrix.Fill] do not explain, over that of a
// coordinate along them: public, so that a row's fill depends on the row and the directions alone.
const fillRidge = 0.05

// gapStride is the bytes of a row's gaps.
func gapStride(d int) int { return (d + 7) / 8 }

// NewGapped is [NewMatrix], or [NewUnits] where unit is not nil, of rows whose cells may be gaps: a
// gap has no value, and 0 stands in its place. gaps has one bit a cell, row by row, each row from a
// byte of its own, the lowest bit first; nil is no gaps. It takes ownership of gaps too, which a
// unit column may reorder. A [*ShapeError] reports gaps of another length, bits beyond a row's end,
// and a gap in whose place there is a value other than 0.
func NewGapped[T number](d int, values []T, gaps []byte, unit []int) (*Matrix, error) {
	var store stored
	switch v := any(values).(type) {
	case []float64:
		store.wide = v
	case []float32:
		store.narrow = v
	}
	m, err := newMatrix(d, values, store, nil)
	if err != nil {
		return nil, err
	}
	if gaps != nil {
		if !fits(gaps, d, values) {
			return nil, &ShapeError{Values: len(values), D: d, Gaps: true}
		}
		m.gaps = gaps
	}
	if unit == nil {
		return m, nil
	}
	return m.grouped(unit)
}

// fits reports whether gaps are those of values.
func fits[T number](gaps []byte, d int, values []T) bool {
	stride := gapStride(d)
	if len(gaps) != len(values)/d*stride {
		return false
	}
	for lo := 0; len(gaps) > 0; lo, gaps = lo+d, gaps[stride:] {
		if d%8 != 0 && gaps[stride-1]>>(d%8) != 0 {
			return false
		}
		for at, b := range gaps[:stride] {
			for j := 8 * at; b != 0; j, b = j+1, b>>1 {
				if b&1 != 0 && values[lo+j] != 0 {
					return false
				}
			}
		}
	}
	return true
}

// gapsOf returns the gaps of row i, nil where the matrix has none.
func (m *Matrix) gapsOf(i int) []byte {
	if m.gaps == nil {
		return nil
	}
	stride := gapStride(m.d)
	return m.gaps[i*stride : (i+1)*stride]
}

// gap is 1 if the cell of row i in column j is a gap, else 0, in the same time.
func (m *Matrix) gap(i, j int) uint64 {
	if m.gaps == nil {
		return 0
	}
	return uint64(m.gaps[i*gapStride(m.d)+j>>3] >> (j & 7) & 1)
}

// word is the first 64 bits of gaps, 0 beyond their end.
func word(gaps []byte) (w uint64) {
	if len(gaps) >= 8 {
		return binary.LittleEndian.Uint64(gaps)
	}
	for i, b := range gaps {
		w |= uint64(b) << (8 * i)
	}
	return w
}

// places appends the columns of a row's gaps, ascending.
func places(out []int, gaps []byte) []int {
	for at := 0; at < len(gaps); at += 8 {
		for w := word(gaps[at:]); w != 0; w &= w - 1 {
			out = append(out, 8*at+bits.TrailingZeros64(w))
		}
	}
	return out
}

// full reports whether no cell of rows lo to hi-1 is a gap.
func (m *Matrix) full(lo, hi int) bool {
	stride := gapStride(m.d)
	gaps := m.gaps[lo*stride : hi*stride]
	for at := 0; at < len(gaps); at += 8 {
		if word(gaps[at:]) != 0 {
			return false
		}
	}
	return true
}

// Fill is the matrix of rows with a value in each gap: what the orthonormal directions V, one after
// another, predict from the row's other cells. With y the row, O its cells that are no gaps and the
// model y = Va + e, where the variance of a coordinate of e is fillRidge of that of one of a, the
// prediction of gap j is
//
//	V_j (V_OᵀV_O + fillRidge·I)⁻¹ V_Oᵀ y_O.
//
// own has, for each column, the column of its indicator, or -1; nil if no column has one. An
// indicator is 1 exactly in the rows whose gap is filled. It says nothing about the values, so that
// O leaves out the indicators of all gaps of the row. They keep their value.
//
// The length of a row's predictions is at most 2.3 times that of y_O. A row without a value stays
// zeros, and so do all gaps where there are no directions. What is not finite would be 0, and what
// a matrix cannot hold is brought to the nearest that it can. The units stay; the result has no
// gaps. A [*QueryError] reports directions that are not orthonormal within 1e-6.
//
// A row of the result depends on the row and V alone. How long it takes depends on how many cells
// are gaps (docs/threat-model.md, limit 5).
func (m *Matrix) Fill(v []float64, own []int) (*Matrix, error) {
	if len(v) == 0 || m.gaps == nil {
		return m, nil
	}
	if err := orthonormal(v, m.d, crossTolerance); err != nil {
		return nil, err
	}
	v = slices.Clone(v)
	products := productsOf(m.d, v)
	filled := m.derived(func(from *reader) func([]float64, int, int) {
		f, most := newFill(m.d, v, products), top(m.d)
		f.own = own
		return func(out []float64, lo, hi int) {
			copy(out, from.widened(lo, hi))
			far := int(from.next - uintptr(unsafe.Pointer(unsafe.SliceData(out))))
			for i := lo; i < hi; i++ {
				end := i
				for end < hi && !m.full(end, end+1) {
					end++
				}
				if end == i {
					continue
				}
				rows, h := out[(i-lo)*m.d:(end-lo)*m.d], end-i
				f.along = append(f.along[:0], make([]float64, f.k*h)...)
				dotsBlock(f.along, rows, v, h, m.d, far)
				for ; i < end; i++ {
					for l := range f.a {
						f.a[l] = f.along[l*h+h-(end-i)]
					}
					row := out[(i-lo)*m.d : (i-lo+1)*m.d]
					f.row(row, m.gapsOf(i))
					for _, j := range f.gaps[:f.filled] {
						row[j] = min(max(row[j], -most), most)
					}
				}
			}
		}
	})
	filled.same = m.full
	return filled, nil
}

// maxProducts bounds a table of products to what fits in a second-level cache together with a block
// of rows.
const maxProducts = 1 << 17

// triangle is the length of a lower triangle of k rows, a multiple of eight: zeros follow it.
func triangle(k int) int { return (k*(k+1)/2 + 7) &^ 7 }

// productsOf returns, for each column, the products of its entries in every two directions, a lower
// triangle row by row: what a gap there takes off the Gram matrix. nil if they would be too many.
func productsOf(d int, v []float64) []float64 {
	k := len(v) / d
	size := triangle(k)
	if d*size > maxProducts {
		return nil
	}
	out := make([]float64, d*size)
	for j := range d {
		at := j * size
		for l := range k {
			for h := range l + 1 {
				out[at] = v[l*d+j] * v[h*d+j]
				at++
			}
		}
	}
	return out
}

// fill predicts gaps along k directions: a worker's own.
type fill struct {
	k        int
	v        []float64 // d×k: of each column, its place in every direction
	products []float64 // [productsOf], shared; nil: they are made as they are needed
	gram     []float64 // of length triangle(k): a lower triangle row by row, then its Cholesky factor
	a        []float64 // k: a row's products with the directions, then its place along them
	along    []float64 // likewise, direction by direction, of rows that follow each other
	own      []int     // as of Fill
	gaps     []int     // the row's, then their columns' indicators
	filled   int       // how many gaps the row has
}

func newFill(d int, v, products []float64) *fill {
	k := len(v) / d
	f := &fill{k: k, v: make([]float64, d*k), products: products, gram: make([]float64, triangle(k)), a: make([]float64, k)}
	for l := range k {
		for j := range d {
			f.v[j*k+l] = v[l*d+j]
		}
	}
	return f
}

// row fills the gaps of a row, which hold 0. a holds the row's products with the directions.
func (f *fill) row(y []float64, gaps []byte) {
	f.gaps = places(f.gaps[:0], gaps)
	f.filled = len(f.gaps)
	f.hide(y)
	k := f.k
	// V_OᵀV_O is what the gaps leave of the unit matrix.
	clear(f.gram)
	for l := range k {
		f.gram[l*(l+3)/2] = 1 + fillRidge
	}
	if f.products != nil {
		takeOff(f.gram, f.products, f.gaps)
	} else {
		for _, j := range f.gaps {
			v, row := f.v[j*k:(j+1)*k], f.gram
			for l, a := range v {
				for h, b := range v[:l+1] {
					row[h] -= float64(a * b)
				}
				row = row[l+1:]
			}
		}
	}
	if !f.solve() {
		return
	}
	for _, j := range f.gaps[:f.filled] {
		sum := 0.0
		for l, v := range f.v[j*k : (j+1)*k] {
			sum += float64(v * f.a[l])
		}
		// cannot happen: every pivot is at least half the ridge
		if !(math.Abs(sum) <= math.MaxFloat64) {
			sum = 0
		}
		y[j] = sum
	}
}

// hide adds the indicators of the row's gaps to what is not counted, and takes them off a.
func (f *fill) hide(y []float64) {
	if f.own == nil {
		return
	}
	last := -1
	for _, j := range f.gaps[:f.filled] {
		at := f.own[j]
		if at < 0 || at == last { // as it is of all levels of a column
			continue
		}
		last = at
		f.gaps = append(f.gaps, at)
		for l, v := range f.v[at*f.k : (at+1)*f.k] {
			f.a[l] -= float64(v * y[at])
		}
	}
}

// solve turns a into gram⁻¹a, by Cholesky's factor in gram's place. It reports whether every pivot
// is as large as the ridge leaves it, but for what directions that are orthonormal only nearly take
// off: so it is for all that [Matrix.Fill] accepts.
func (f *fill) solve() bool {
	k, a := f.k, f.a
	row := func(i int) []float64 { return f.gram[i*(i+1)/2:][:i+1] }
	for i := range k {
		own := row(i)
		for j := range own {
			other, sum := row(j), own[j]
			for h, v := range own[:j] {
				sum -= float64(v * other[h])
			}
			switch {
			case j < i:
				own[j] = sum / other[j]
			case sum >= fillRidge/2:
				own[i] = math.Sqrt(sum)
			default:
				return false
			}
		}
	}
	for i := range k {
		own := row(i)
		for h, v := range own[:i] {
			a[i] -= float64(v * a[h])
		}
		a[i] /= own[i]
	}
	for i := k - 1; i >= 0; i-- {
		for h := i + 1; h < k; h++ {
			a[i] -= float64(row(h)[i] * a[h])
		}
		a[i] /= row(i)[i]
	}
	return true
}

// CountGaps adds up, for each of the columns, what share of each unit's rows has a gap there, in
// steps of [query.ColumnGrid]: a unit's share is in [0, 1] and rounded down to a whole number of
// steps, so that replacing one unit changes the answer by at most the CountSensitivity of
// [query.Filled] in L2. They are exact counts of private units: mask them or add noise before they
// leave the site. A [*QueryError] reports a column that a row does not have. workers as in [Sum].
func CountGaps(m *Matrix, columns []int, workers int) ([]int64, error) {
	for _, j := range columns {
		if j < 0 || j >= m.d {
			return nil, &QueryError{"columns", "are not those of a row"}
		}
	}
	if m.gaps == nil {
		return make([]int64, len(columns)), nil
	}
	return signed(share(m.N(), 64, len(columns), workers, func() func([]uint64, int, int) {
		return func(acc []uint64, lo, hi int) {
			for i := lo; i < hi; i++ {
				first, end := m.unit(i)
				for c, j := range columns {
					n := uint64(0)
					for row := first; row < end; row++ {
						n += m.gap(row, j)
					}
					acc[c] += n * one / uint64(end-first) // at most 2^22 rows: no overflow
				}
			}
		}
	})), nil
}

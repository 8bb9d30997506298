package clip

import (
	"math"
	"slices"
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

// gap reports whether the cell of row i in column j is one.
func (m *Matrix) gap(i, j int) bool {
	return m.gaps != nil && m.gaps[i*gapStride(m.d)+j>>3]>>(j&7)&1 != 0
}

// places appends the columns of a row's gaps, ascending.
func places(out []int, gaps []byte) []int {
	for at, b := range gaps {
		for j := 8 * at; b != 0; j, b = j+1, b>>1 {
			if b&1 != 0 {
				out = append(out, j)
			}
		}
	}
	return out
}

// Fill is the matrix of rows with a value in each gap: what the orthonormal directions V, one after
// another, predict from the row's other cells. With y the row, O its cells that are no gaps and the
// model y = Va + e, where the variance of a coordinate of e is fillRidge of that of one of a, the
// prediction of gap j is
//
//	V_j (V_OᵀV_O + fillRidge·I)⁻¹ V_Oᵀ y_O.
//
// Its length is at most 2.3 times that of y_O. A row without a value stays zeros, and so do all
// gaps where there are no directions. What is not finite would be 0, and what a matrix cannot hold
// is brought to the nearest that it can. The units stay; the result has no gaps. A [*QueryError]
// reports directions that are not orthonormal within 1e-6.
//
// A row of the result depends on the row and V alone. How long it takes depends on how many cells
// are gaps (docs/threat-model.md, limit 5).
func (m *Matrix) Fill(v []float64) (*Matrix, error) {
	if len(v) == 0 || m.gaps == nil {
		return m, nil
	}
	if err := orthonormal(v, m.d, crossTolerance); err != nil {
		return nil, err
	}
	v = slices.Clone(v)
	return m.derived(func(from *reader) func([]float64, int, int) {
		f, most := newFill(m.d, v), top(m.d)
		return func(out []float64, lo, hi int) {
			copy(out, from.widened(lo, hi))
			for i := lo; i < hi; i++ {
				row := out[(i-lo)*m.d : (i-lo+1)*m.d]
				f.row(row, m.gapsOf(i))
				for _, j := range f.gaps {
					row[j] = min(max(row[j], -most), most)
				}
			}
		}
	}), nil
}

// fill predicts gaps along k directions.
type fill struct {
	d, k int
	v    []float64 // d×k: of each column, its place in every direction
	gram []float64 // k×k: its lower triangle, then the Cholesky factor
	a    []float64 // k: the row's place along the directions
	gaps []int
}

func newFill(d int, v []float64) *fill {
	k := len(v) / d
	f := &fill{d: d, k: k, v: make([]float64, d*k), gram: make([]float64, k*k), a: make([]float64, k)}
	for l := range k {
		for j := range d {
			f.v[j*k+l] = v[l*d+j]
		}
	}
	return f
}

// row fills a row in, in whose gaps there is 0.
func (f *fill) row(y []float64, gaps []byte) {
	f.gaps = places(f.gaps[:0], gaps)
	if len(f.gaps) == 0 {
		return
	}
	k := f.k
	clear(f.a)
	for j, x := range y {
		for l, v := range f.v[j*k : (j+1)*k] {
			f.a[l] += float64(v * x)
		}
	}
	// V_OᵀV_O is what the gaps leave of the unit matrix.
	clear(f.gram)
	for l := range k {
		f.gram[l*k+l] = 1 + fillRidge
	}
	for _, j := range f.gaps {
		v := f.v[j*k : (j+1)*k]
		for l, a := range v {
			row := f.gram[l*k : l*k+l+1]
			for h := range row {
				row[h] -= float64(a * v[h])
			}
		}
	}
	if !f.solve() {
		return
	}
	for _, j := range f.gaps {
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

// solve turns a into gram⁻¹a, by Cholesky's factor in gram's place. It reports whether every pivot
// is as large as the ridge leaves it, but for what directions that are orthonormal only nearly take
// off: so it is for all that [Matrix.Fill] accepts.
func (f *fill) solve() bool {
	k, g := f.k, f.gram
	for i := range k {
		for j := range i + 1 {
			sum := g[i*k+j]
			for h := range j {
				sum -= float64(g[i*k+h] * g[j*k+h])
			}
			switch {
			case j < i:
				g[i*k+j] = sum / g[j*k+j]
			case sum >= fillRidge/2:
				g[i*k+i] = math.Sqrt(sum)
			default:
				return false
			}
		}
	}
	for i := range k {
		for h := range i {
			f.a[i] -= float64(g[i*k+h] * f.a[h])
		}
		f.a[i] /= g[i*k+i]
	}
	for i := k - 1; i >= 0; i-- {
		for h := i + 1; h < k; h++ {
			f.a[i] -= float64(g[h*k+i] * f.a[h])
		}
		f.a[i] /= g[i*k+i]
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
						if m.gap(row, j) {
							n++
						}
					}
					acc[c] += n * one / uint64(end-first) // at most 2^22 rows: no overflow
				}
			}
		}
	})), nil
}

package clip

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
)

// MaxDim is the largest row length. The argument that the sensitivity has no slack (package
// comment) needs (d/2+5)·2^-53 to stay well below 2^-30.
const MaxDim = 1 << 20

// tinySquare is the sum of squares below which a row counts as a zero row: above it, the squares
// that underflow are at most 2^-95 of the sum.
const tinySquare = 0x1p-960

// Reasons inside a [ValueError].
var (
	// ErrNonFinite is a NaN or an infinity.
	ErrNonFinite = errors.New("value is not finite")
	// ErrTooLarge is a value of magnitude 2^500/√d or more.
	ErrTooLarge = errors.New("magnitude is not below 2^500/√d")
)

// ValueError names a refused value by its place, counted from 0, never by its value. Err is
// [ErrNonFinite] or [ErrTooLarge].
type ValueError struct {
	Row, Column int
	Err         error
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("clip: row %d, column %d: %v", e.Row, e.Column, e.Err)
}

func (e *ValueError) Unwrap() error { return e.Err }

// ShapeError reports a row length outside [1, MaxDim], or a number of values that is not a multiple
// of it. It also reports a row that is said to be absent and is not there, or not zero, and gaps
// that are not of these values ([NewGapped]).
type ShapeError struct {
	Values, D    int
	Absent, Gaps bool
}

func (e *ShapeError) Error() string {
	switch {
	case e.Absent:
		return "clip: an absent row is beyond the matrix, or holds values"
	case e.Gaps:
		return "clip: gaps are not those of the values"
	}
	if e.D < 1 || e.D > MaxDim {
		return fmt.Sprintf("clip: row length %d is not in [1, %d]", e.D, MaxDim)
	}
	return fmt.Sprintf("clip: %d values are not whole rows of length %d", e.Values, e.D)
}

// Matrix holds n units of one or more rows of d finite values, float64 or float32, with the norm of
// each row; or it is derived from another, whose rows are changed as they are read, block by block,
// and never kept. What can be seen of it does not change once made, and any number of goroutines
// may read it. It never writes to its values: they may lie in memory that cannot be written, such
// as a mapped file, where a unit's rows are together.
type Matrix struct {
	d, rows int
	values  stored // rows×d, row by row, the rows of a unit together; none of a derived matrix
	starts  []int  // unit i has rows starts[i] to starts[i+1]-1; nil: each row is a unit
	absent  []bool // by row: stands for no row; nil for none
	gaps    []byte // cells without a value, in whose place is 0 ([NewGapped]); nil for none

	from   *Matrix // what it is derived from; nil if it holds values
	derive step
	same   func(lo, hi int) bool // reports that rows are those of from; nil: none are

	measured sync.Once // guards norms of a derived matrix, which are computed when they are needed
	norms    []float64 // computed ‖y_i‖; exactly 0 for zero and tiny rows
}

// NewMatrix makes a matrix of len(values)/d rows of length d, each a unit, and takes ownership of
// values, which the caller must not touch again. No rows is a valid matrix.
//
// A value must be finite and its magnitude below 2^500/√d, so that a row's norm is below 2^501
// after rounding too and no square, norm or dot product with a unit vector overflows. The first
// value that is not, in row-major order, is named by a [*ValueError]; a wrong shape is a
// [*ShapeError]. This belongs at ingest: an abort that depends on data in the middle of a study is
// itself a release. absent are the places of rows of zeros that stand for no row at all: they count
// as units, and stay zeros whatever center is taken off.
func NewMatrix(d int, values []float64, absent ...int) (*Matrix, error) {
	return newMatrix(d, values, stored{wide: values}, absent)
}

// NewMatrix32 is [NewMatrix] for values stored as float32, in half the memory: the matrix of the
// same values as float64, and all that is computed from it is the same to the bit.
func NewMatrix32(d int, values []float32, absent ...int) (*Matrix, error) {
	return newMatrix(d, values, stored{narrow: values}, absent)
}

// newMatrix is NewMatrix of values, which are those in store.
func newMatrix[T number](d int, values []T, store stored, absent []int) (*Matrix, error) {
	if d < 1 || d > MaxDim || len(values)%d != 0 {
		return nil, &ShapeError{Values: len(values), D: d}
	}
	top := valueLimit(d)
	for i, v := range values {
		if v := float64(v); !(math.Abs(v) < top) { // also true of NaN
			err := ErrTooLarge
			if math.IsNaN(v) || math.IsInf(v, 0) {
				err = ErrNonFinite
			}
			return nil, &ValueError{Row: i / d, Column: i % d, Err: err}
		}
	}
	m := &Matrix{d: d, rows: len(values) / d, values: store}
	m.measured.Do(func() { m.norms = m.measure(1) }) // on this goroutine: see rowcache's Guard
	if len(absent) > 0 {
		m.absent = make([]bool, m.Rows())
		for _, i := range absent {
			if i < 0 || i >= m.Rows() || m.norms[i] != 0 {
				return nil, &ShapeError{Values: len(values), D: d, Absent: true}
			}
			m.absent[i] = true
		}
	}
	return m, nil
}

// valueLimit is what every magnitude in a matrix is below.
func valueLimit(d int) float64 { return 0x1p500 / math.Sqrt(float64(d)) }

// lengths returns the norms of all rows, which so many workers compute if nobody did.
func (m *Matrix) lengths(workers int) []float64 {
	m.measured.Do(func() { m.norms = m.measure(workers) })
	return m.norms
}

// normsFor is lengths where a map's sums or sizes need them, else nil.
func (m *Matrix) normsFor(of Map, workers int) []float64 {
	if of == Total || m.starts == nil && (of == Power || of == Mean || of == Moment) {
		return m.lengths(workers)
	}
	return nil
}

// measure computes the norms of all rows.
func (m *Matrix) measure(workers int) []float64 {
	norms := make([]float64, m.rows)
	share(m.rows, m.fusedHeight(blockBytes), 0, workers, func() func([]uint64, int, int) {
		r := m.reader()
		return func(_ []uint64, lo, hi int) { r.norms(norms[lo:hi], r.rows(lo, hi)) }
	})
	return norms
}

// N is the number of units.
func (m *Matrix) N() int {
	if m.starts == nil {
		return m.rows
	}
	return len(m.starts) - 1
}

// Rows is the number of rows, at least N.
func (m *Matrix) Rows() int { return m.rows }

// D is the length of a row.
func (m *Matrix) D() int { return m.d }

// unit returns the rows of unit i: first to end-1.
func (m *Matrix) unit(i int) (first, end int) {
	if m.starts == nil {
		return i, i + 1
	}
	return m.starts[i], m.starts[i+1]
}

// gone reports whether row i stands for no row. Every map of the zeros in its place is zero, but
// for one that counts.
func (m *Matrix) gone(i int) bool { return m.absent != nil && m.absent[i] }

// there is 0 if row i stands for no row, else 1, in the same time: how many rows a site left out is
// for the site alone.
func (m *Matrix) there(i int) uint64 {
	gone := uint64(0)
	if m.absent != nil {
		if m.absent[i] { // a move and no branch, as both are bits
			gone = 1
		}
	}
	return 1 - gone
}

// String returns the shape, never the values: a matrix is a site's private data.
func (m *Matrix) String() string { return fmt.Sprintf("clip.Matrix(%d×%d) [redacted]", m.N(), m.d) }

// Format is [Matrix.String] whatever the verb: %d would print values.
func (m *Matrix) Format(f fmt.State, _ rune) { io.WriteString(f, m.String()) }

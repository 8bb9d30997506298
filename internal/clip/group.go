package clip

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"covey/internal/query"
)

// Groups counts groups by the largest eigenvalue of (1/size) Σ y yᵀ over their rows, into
// [query.GroupBins] bins: bin j covers [2^(j-256), 2^(j-255)), bin 0 also everything below (zero
// groups included), bin 511 also everything above. A group is size consecutive units; units at the
// end that do not fill one are left out. A group's bin depends on its rows alone, so replacing one
// unit changes the counts by at most [query.HistogramSensitivity] in L2, whatever the rounding of
// the eigenvalue. They are exact counts of private groups: mask them or add noise before they leave
// the site.
//
// workers as in [Sum]; each holds a copy of a group and a square matrix of the smaller of d and its
// rows. A size below 1 is a [*QueryError].
func Groups(m *Matrix, size, workers int) ([]int64, error) {
	if size < 1 {
		return nil, &QueryError{"group size", "is below 1"}
	}
	return signed(share(m.N()/size, 1, query.GroupBins, workers, func() func([]uint64, int, int) {
		from := m.reader()
		return func(acc []uint64, lo, hi int) {
			for i := lo; i < hi; i++ {
				first, _ := m.unit(i * size)
				_, end := m.unit((i+1)*size - 1)
				acc[query.Octave(topEigenvalue(from.widened(first, end), m.d, size))]++
			}
		}
	})), nil
}

// topEigenvalue is the largest eigenvalue of (1/size) Σ y yᵀ as f·2^e. It works on the smaller of
// the two Gram matrices, which have the same one, of the rows over a power of two: all finite and
// the largest magnitude in [1, 2), so nothing overflows.
func topEigenvalue(rows []float64, d, size int) (f float64, e int) {
	peak := 0.0
	for _, v := range rows {
		peak = max(peak, math.Abs(v))
	}
	if peak < negligible { // so is the eigenvalue, far below 2^-256
		return 0, 0
	}
	e = int(math.Float64bits(peak)>>52) - 1023
	down := math.Ldexp(1, -e)
	scaled := make([]float64, len(rows))
	for i, v := range rows {
		scaled[i] = v * down
	}
	y := mat.NewDense(len(rows)/d, d, scaled)
	var gram mat.SymDense
	if n, _ := y.Dims(); n <= d {
		gram.SymOuterK(1, y)
	} else {
		gram.SymOuterK(1, y.T())
	}
	// One is added to every eigenvalue. The largest is at least 1, so it loses nothing; and no
	// block of the tridiagonal form is tiny then (by interlacing, all its eigenvalues are 1 or
	// more): gonum's Dsterf panics where it rescales one.
	for i := range gram.SymmetricDim() {
		gram.SetSym(i, i, gram.At(i, i)+1)
	}
	var eigen mat.EigenSym
	if eigen.Factorize(&gram, false) {
		values := eigen.Values(nil)
		f = values[len(values)-1] - 1
	} else { // the iteration has no proof that it ends; the trace is within a factor of the rank
		f = mat.Trace(&gram) - float64(gram.SymmetricDim())
	}
	return f / float64(size), 2 * e
}

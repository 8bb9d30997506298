package clip

import (
	"math"

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
// the two Gram matrices, which have the same one, and takes the same steps whatever the rows hold,
// zeros too: else its time would tell a coordinator how many groups have a value, and with columns
// that are 0 in nearly all rows whether anybody has one.
func topEigenvalue(rows []float64, d, size int) (f float64, e int) {
	peak := 0.0
	for _, v := range rows {
		peak = max(peak, math.Abs(v))
	}
	e = exponent(peak)
	n := len(rows) / d
	m, length := min(n, d), max(n, d)
	y, down := make([]float64, len(rows)), math.Ldexp(1, -e)
	for i := range n {
		for j, v := range rows[i*d : (i+1)*d] {
			at := i*d + j
			if n > d { // by columns
				at = j*n + i
			}
			y[at] = settled(float64(v * down))
		}
	}
	a, trace := make([]float64, m*m), 0.0
	for i := range m {
		row := y[i*length : (i+1)*length]
		dots(a[i*m:i*m+i+1], y[:(i+1)*length], row, 0)
		for j := range i {
			a[j*m+i] = a[i*m+j]
		}
		trace += a[i*m+i]
	}
	up := exponent(trace)
	down = math.Ldexp(1, -up)
	for i, v := range a {
		a[i] = settled(float64(v * down))
	}
	return largest(tridiagonal(a, m)) / float64(size), 2*e + up
}

// exponent is that of x as [math.Logb] has it, and -1023 of 0 and of what is below 2^-1022.
func exponent(x float64) int { return int(math.Float64bits(x)>>52) - 1023 }

// settled rounds x, at most 2 in magnitude, to a multiple of 2^-50. A product of two such numbers
// is 0 or far above 2^-1022, below which a processor takes many times as long.
func settled(x float64) float64 { return float64(x+6) - 6 }

// tridiagonal returns the diagonal of a symmetric tridiagonal matrix and the squares of what is
// next to it, behind a 0: of a matrix with the eigenvalues of a, of m rows, which it overwrites
// (Householder). a is symmetric, and its trace below 2.
func tridiagonal(a []float64, m int) (diagonal, squares []float64) {
	diagonal, squares = make([]float64, m), make([]float64, m)
	work := make([]float64, 2*m)
	for k := range m {
		diagonal[k] = a[k*m+k]
		n := m - k - 1
		if n == 0 {
			break
		}
		v, w := work[:n], work[m:m+n]
		copy(v, a[k*m+k+1:(k+1)*m])
		squares[k+1] = dot(v, v)
		v[0] += math.Copysign(math.Sqrt(squares[k+1]), v[0])
		scale := 2 / max(dot(v, v), 0x1p-200) // zeros have no reflection
		for i := range w {
			row := (k + 1 + i) * m
			dots(w[i:i+1], a[row+k+1:row+m], v, 0)
			w[i] *= scale
		}
		half := dot(v, w) * scale / 2
		for i := range w {
			w[i] -= float64(half * v[i])
		}
		for i, vi := range v {
			row, wi := a[(k+1+i)*m+k+1:][:n], w[i]
			for j := range row {
				row[j] = settled(row[j] - (float64(vi*w[j]) + float64(wi*v[j])))
			}
		}
	}
	return diagonal, squares
}

// largest returns the largest eigenvalue of tridiagonal's matrix, none of whose are negative, from
// above and to 2^-50 of the trace.
func largest(diagonal, squares []float64) float64 {
	step := 0.0
	for _, v := range diagonal {
		step += v
	}
	low := 0.0
	for range 50 {
		step /= 2
		// x is above all eigenvalues where all pivots of x·I - T are positive (Sturm).
		x, pivot, none := low+step, 1.0, uint64(0)
		for i, v := range diagonal {
			pivot = x - v - squares[i]/pivot
			none |= (math.Float64bits(pivot) - 1) >> 63 // 1 of 0, too
		}
		low += step * float64(none)
	}
	return low + step
}

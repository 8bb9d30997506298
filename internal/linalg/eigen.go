package linalg

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// DenseEigen is the size up to which all eigenvectors are computed: above it the few that
// are wanted come hundreds of times faster by Lanczos.
const DenseEigen = 256

// LeadingEigen returns the k eigenvectors of the largest eigenvalues of a symmetric matrix,
// and those, descending: false where they do not converge.
func LeadingEigen(m *mat.SymDense, k int) ([][]float64, []float64, bool) {
	if d := m.SymmetricDim(); d > DenseEigen {
		space := newKrylov(m)
		for steps := max(64, 4*k); steps <= d/2 && space.grow(steps); steps *= 2 {
			if vectors, values, ok := space.leading(k); ok {
				return vectors, values, true
			}
		}
	}
	all, w, ok := Eigen(m)
	if !ok {
		return nil, nil, false
	}
	vectors, values := make([][]float64, k), make([]float64, k)
	for i := range k {
		vectors[i], values[i] = mat.Col(nil, len(all)-1-i, w), all[len(all)-1-i]
	}
	return vectors, values, true
}

// Eigen returns eigenvalues, ascending, and eigenvectors in columns: false for a matrix that is
// not finite. It is the same to the last bit on every processor, since coordinator and sites take
// the next step from it each by itself: it adds in a fixed order, and rounds every product before
// it is added, which a compiler that fuses the two respects. The matrix is brought to eigenvalues
// in [1, 3] first: nothing overflows then. What is lost is within the rounding of the largest.
func Eigen(m *mat.SymDense) ([]float64, *mat.Dense, bool) {
	n, bound := m.SymmetricDim(), 0.0
	for i := range n {
		sum := 0.0
		for j := range n {
			sum += math.Abs(m.At(i, j))
		}
		bound = max(bound, sum) // at least every eigenvalue's magnitude
	}
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return nil, nil, false
	}
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
		for j := range a[i] {
			if bound > 0 {
				a[i][j] = m.At(i, j) / bound
			}
		}
		a[i][i] += 2
	}
	diagonal, off, rows := tridiagonal(a)
	if !diagonalize(diagonal, off, rows) {
		return nil, nil, false
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(diagonal[a], diagonal[b]) })
	values, w := make([]float64, n), mat.NewDense(n, n, nil)
	for i, at := range order {
		values[i] = (diagonal[at] - 2) * bound
		w.SetCol(i, rows[at])
	}
	return values, w, true
}

// tridiagonal brings a symmetric matrix to tridiagonal form by Householder reflections (Golub and
// Van Loan 2013, section 8.3.1): its diagonal, what is next to it, and the transpose of the
// orthogonal matrix that does it. It overwrites a.
func tridiagonal(a [][]float64) (diagonal, off []float64, rows [][]float64) {
	n := len(a)
	diagonal, off = make([]float64, n), make([]float64, max(0, n-1))
	reflections := make([][]float64, n) // of unit length, from place k+1 on; nil for none
	for k := range n - 1 {
		v := make([]float64, n-k-1)
		for i := range v {
			v[i] = a[k+1+i][k]
		}
		alpha := Norm(v)
		if v[0] > 0 {
			alpha = -alpha
		}
		off[k] = v[0]
		if k == n-2 {
			break
		}
		off[k] = alpha
		v[0] -= alpha
		v, ok := normalize(v)
		if !ok {
			continue // zeros already
		}
		reflections[k] = v
		w := make([]float64, len(v)) // 2Av - 2(vᵀAv)v
		for i := range w {
			w[i] = 2 * Dot(a[k+1+i][k+1:], v)
		}
		half := Dot(w, v) / 2
		for i := range w {
			w[i] -= float64(2 * half * v[i])
		}
		for i := range v {
			row := a[k+1+i][k+1:]
			for j := range row {
				row[j] -= float64(v[i]*w[j]) + float64(w[i]*v[j])
			}
		}
	}
	rows = make([][]float64, n)
	for i := range rows {
		diagonal[i] = a[i][i]
		rows[i] = make([]float64, n)
		rows[i][i] = 1
	}
	for k := n - 3; k >= 0; k-- {
		v := reflections[k]
		if v == nil {
			continue
		}
		for _, row := range rows[k+1:] {
			part := row[k+1:]
			c := 2 * Dot(part, v)
			for j := range part {
				part[j] -= float64(c * v[j])
			}
		}
	}
	return diagonal, off, rows
}

// diagonalize turns a tridiagonal matrix into its eigenvalues by QR steps with Wilkinson's shift
// (Golub and Van Loan 2013, section 8.3.4), and rows along with it; false if they do not converge.
func diagonalize(d, off []float64, rows [][]float64) bool {
	negligible := func(k int) bool { return math.Abs(off[k]) <= 0x1p-53*(math.Abs(d[k])+math.Abs(d[k+1])) }
	steps := 0
	for hi := len(d) - 1; hi > 0; {
		if negligible(hi - 1) {
			hi--
			continue
		}
		lo := hi - 1
		for lo > 0 && !negligible(lo-1) {
			lo--
		}
		if steps++; steps > 60*len(d) {
			return false
		}
		e := off[hi-1]
		delta := (d[hi-1] - d[hi]) / 2
		root := math.Sqrt(float64(delta*delta) + float64(e*e))
		if delta < 0 {
			root = -root
		}
		x, z := d[lo]-d[hi]+float64(e*e)/(delta+root), off[lo]
		for k := lo; k < hi; k++ {
			r := math.Sqrt(float64(x*x) + float64(z*z))
			c, s := 1.0, 0.0
			if r > 0 {
				c, s = x/r, z/r
			}
			if k > lo {
				off[k-1] = r
			}
			cc, ss, cs := float64(c*c), float64(s*s), float64(c*s)
			a, b, e := d[k], d[k+1], off[k]
			d[k] = float64(cc*a) + float64(ss*b) + float64(2*cs*e)
			d[k+1] = float64(ss*a) + float64(cc*b) - float64(2*cs*e)
			off[k] = float64(cs*(b-a)) + float64((cc-ss)*e)
			if k < hi-1 {
				x, z = off[k], float64(s*off[k+1])
				off[k+1] *= c
			}
			above, below := rows[k], rows[k+1]
			for j, u := range above {
				v := below[j]
				above[j], below[j] = float64(c*u)+float64(s*v), float64(c*v)-float64(s*u)
			}
		}
	}
	return true
}

// product is the matrix times a vector.
func product(m *mat.SymDense, x []float64) []float64 {
	y, raw := make([]float64, len(x)), m.RawSymmetric()
	for i := range x {
		row := raw.Data[i*raw.Stride:][:raw.N] // from the diagonal on
		sum := float64(row[i] * x[i])
		for j := i + 1; j < len(x); j++ {
			sum += float64(row[j] * x[j])
			y[j] += float64(row[j] * x[i])
		}
		y[i] += sum
	}
	return y
}

// krylov is the Krylov space of a symmetric matrix, with full reorthogonalization (Parlett 1998,
// chapter 13). It starts from a fixed vector, so that everyone finds the same.
type krylov struct {
	m     *mat.SymDense
	basis [][]float64
	// diagonal and next are the matrix in this basis, which is tridiagonal. The last of next leads
	// out of the space, along out, which is not of unit length.
	diagonal, next, out []float64
}

func newKrylov(m *mat.SymDense) *krylov {
	q := make([]float64, m.SymmetricDim())
	for i := range q {
		q[i] = float64((i+1)*7919%10007) - 5003.5 // of no direction that data would prefer
	}
	return &krylov{m: m, out: q}
}

// grow makes it the space of so many steps. It reports whether there is one: fewer steps may span
// an invariant space, which has too few directions.
func (s *krylov) grow(steps int) bool {
	for len(s.basis) < steps {
		unit, ok := normalize(s.out)
		if !ok {
			return false
		}
		s.basis = append(s.basis, unit)
		v := product(s.m, unit)
		s.diagonal = append(s.diagonal, Dot(v, unit))
		for range 2 {
			for _, b := range s.basis {
				c := Dot(v, b)
				for i := range v {
					v[i] -= float64(c * b[i])
				}
			}
		}
		s.next, s.out = append(s.next, Norm(v)), v
	}
	return true
}

// leading returns the k leading eigenvectors and eigenvalues. ok is false where the residual of one
// is over 1e-12 of the largest eigenvalue.
func (s *krylov) leading(k int) (vectors [][]float64, values []float64, ok bool) {
	steps := len(s.basis)
	tri := mat.NewSymDense(steps, nil)
	for j, v := range s.diagonal {
		tri.SetSym(j, j, v)
		if j > 0 {
			tri.SetSym(j-1, j, s.next[j-1])
		}
	}
	all, w, ok := Eigen(tri)
	if !ok {
		return nil, nil, false
	}
	for i := range k {
		at := steps - 1 - i
		if !(math.Abs(s.next[steps-1]*w.At(steps-1, at)) <= 1e-12*math.Abs(all[steps-1])) {
			return nil, nil, false
		}
		v := make([]float64, s.m.SymmetricDim())
		for j, b := range s.basis {
			f := w.At(j, at)
			for l := range v {
				v[l] += float64(f * b[l])
			}
		}
		vectors, values = append(vectors, v), append(values, all[at])
	}
	return vectors, values, true
}

// Columns are those of a matrix, which need not lie in memory as floats all together: Read writes
// numbers from of column j, as many as to has.
type Columns struct {
	N, D int // columns, and numbers of each
	Read func(j, from int, to []float64)
}

// ColumnsOf are those of vectors of one length.
func ColumnsOf(vectors [][]float64) Columns {
	c := Columns{N: len(vectors), Read: func(j, from int, to []float64) { copy(to, vectors[j][from:]) }}
	if c.N > 0 {
		c.D = len(vectors[0])
	}
	return c
}

// panel is how many numbers of each column are read at a time: so many that those of a hundred
// columns stay in a processor's cache.
const panel = 512

// panels calls see with a part of every column, from one of its numbers on, until all were seen.
// What see is given it may change, and must not keep.
func (c Columns) panels(see func(from int, part [][]float64)) {
	part := make([][]float64, c.N)
	for j := range part {
		part[j] = make([]float64, min(panel, c.D))
	}
	for from := 0; from < c.D; from += panel {
		for j := range part {
			part[j] = part[j][:min(panel, c.D-from)]
			c.Read(j, from, part[j])
		}
		see(from, part)
	}
}

// LeadingSingular returns the k leading left singular vectors, not normalized, and singular values
// of the matrix with these columns, by falling size. Its Gram matrix is small: columns are
// rounds times components, while d may be large. It returns false where they do not converge.
func LeadingSingular(columns Columns, k int) ([][]float64, []float64, bool) {
	big, m := 0.0, columns.N
	column := make([]float64, columns.D)
	for j := range m {
		columns.Read(j, 0, column)
		big = max(big, Norm(column))
	}
	if !(big > 0) || math.IsInf(big, 0) {
		return make([][]float64, k), make([]float64, k), true
	}
	sums := make([]float64, m*m)
	columns.panels(func(_ int, part [][]float64) {
		for _, v := range part {
			for l := range v {
				v[l] /= big
			}
		}
		for i, a := range part {
			for j := i; j < m; j++ {
				sum := sums[i*m+j]
				for l, b := range part[j] {
					sum += float64(a[l] * b)
				}
				sums[i*m+j] = sum
			}
		}
	})
	gram := mat.NewSymDense(m, sums) // of the upper half
	values, w, ok := Eigen(gram)
	if !ok {
		return nil, nil, false
	}
	vectors, size := make([][]float64, k), make([]float64, k)
	for i := range k {
		vectors[i], size[i] = make([]float64, columns.D), big*math.Sqrt(max(0, values[m-1-i]))
	}
	columns.panels(func(from int, part [][]float64) {
		for i := range k {
			v := vectors[i][from:]
			for j, c := range part {
				f := w.At(j, m-1-i)
				for l, x := range c {
					v[l] += float64(f * x)
				}
			}
		}
	})
	return vectors, size, true
}

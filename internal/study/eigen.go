package study

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// denseEigen is the size up to which all eigenvectors are computed: above it the few that
// are wanted come hundreds of times faster by Lanczos.
const denseEigen = 256

// leadingEigen returns the k eigenvectors of the largest eigenvalues of a symmetric matrix,
// and those, descending.
func leadingEigen(m *mat.SymDense, k int) ([][]float64, []float64, error) {
	if d := m.SymmetricDim(); d > denseEigen {
		for steps := max(64, 4*k); steps <= d/2; steps *= 2 {
			if vectors, values, ok := lanczos(m, k, steps); ok {
				return vectors, values, nil
			}
		}
	}
	all, w, ok := allEigen(m)
	if !ok {
		return nil, nil, fieldError("releases", "the covariance's eigenvalues do not converge")
	}
	vectors, values := make([][]float64, k), make([]float64, k)
	for i := range k {
		vectors[i], values[i] = mat.Col(nil, len(all)-1-i, w), all[len(all)-1-i]
	}
	return vectors, values, nil
}

// allEigen returns eigenvalues, ascending, and eigenvectors in columns. The matrix is brought
// to eigenvalues in [1, 3] first: gonum v0.17 panics in Dsterf on a block that is tiny, and
// no file may do that to us. What is lost is within the rounding of the largest eigenvalue.
func allEigen(m *mat.SymDense) ([]float64, *mat.Dense, bool) {
	d, bound := m.SymmetricDim(), 0.0
	for i := range d {
		sum := 0.0
		for j := range d {
			sum += math.Abs(m.At(i, j))
		}
		bound = max(bound, sum) // at least every eigenvalue's magnitude
	}
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return nil, nil, false
	}
	shifted := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			v := 0.0
			if bound > 0 {
				v = m.At(i, j) / bound
			}
			if i == j {
				v += 2
			}
			shifted.SetSym(i, j, v)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(shifted, true) {
		return nil, nil, false
	}
	values := eigen.Values(nil)
	for i := range values {
		values[i] = (values[i] - 2) * bound
	}
	var w mat.Dense
	eigen.VectorsTo(&w)
	return values, &w, true
}

// lanczos finds the leading pairs in the Krylov space of so many steps, with full
// reorthogonalization (Parlett 1998, chapter 13); ok is false where the residual of one is over
// 1e-12 of the largest eigenvalue. The start is fixed, so that everyone finds the same.
func lanczos(m *mat.SymDense, k, steps int) (vectors [][]float64, values []float64, ok bool) {
	d := m.SymmetricDim()
	q := make([]float64, d)
	for i := range q {
		q[i] = math.Sin(float64(i + 1)) // of no direction that data would prefer
	}
	unit, _ := normalize(q)
	basis := [][]float64{unit}
	tri := mat.NewSymDense(steps, nil)
	next := mat.NewVecDense(d, nil)
	beta := 0.0
	for j := range steps {
		next.MulVec(m, mat.NewVecDense(d, basis[j]))
		v := next.RawVector().Data
		tri.SetSym(j, j, dot(v, basis[j]))
		for range 2 {
			for _, b := range basis {
				c := dot(v, b)
				for i := range v {
					v[i] -= float64(c * b[i])
				}
			}
		}
		beta = norm(v)
		if j == steps-1 {
			break
		}
		unit, ok := normalize(v)
		if !ok {
			return nil, nil, false // an invariant space: too few directions are in it
		}
		tri.SetSym(j, j+1, beta)
		basis = append(basis, unit)
	}
	all, w, ok := allEigen(tri)
	if !ok {
		return nil, nil, false
	}
	for i := range k {
		at := steps - 1 - i
		if !(math.Abs(beta*w.At(steps-1, at)) <= 1e-12*math.Abs(all[steps-1])) {
			return nil, nil, false
		}
		v := make([]float64, d)
		for j, b := range basis {
			f := w.At(j, at)
			for l := range v {
				v[l] += float64(f * b[l])
			}
		}
		vectors, values = append(vectors, v), append(values, all[at])
	}
	return vectors, values, true
}

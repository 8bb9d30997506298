package study

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// denseEigen is the size up to which all eigenvectors are computed: above it the few that
// are wanted come hundreds of times faster by Lanczos.
const denseEigen = 256

// leadingEigen gives the k eigenvectors of the largest eigenvalues of a symmetric matrix,
// and those, descending.
func leadingEigen(m *mat.SymDense, k int) ([][]float64, []float64, error) {
	if d := m.SymmetricDim(); d > denseEigen {
		for steps := max(64, 4*k); steps <= d/2; steps *= 2 {
			if vectors, values, ok := lanczos(m, k, steps); ok {
				return vectors, values, nil
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(m, true) {
		return nil, nil, fieldError("releases", "the covariance's eigenvalues do not converge")
	}
	all := eigen.Values(nil) // ascending
	var w mat.Dense
	eigen.VectorsTo(&w)
	vectors, values := make([][]float64, k), make([]float64, k)
	for i := range k {
		vectors[i], values[i] = mat.Col(nil, len(all)-1-i, &w), all[len(all)-1-i]
	}
	return vectors, values, nil
}

// lanczos finds the leading pairs in the Krylov space of so many steps, with full
// reorthogonalization (Parlett 1998, chapter 13); ok is false where the residual of one is over 1e-12
// of the largest eigenvalue. The start is fixed, so that everyone finds the same.
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
	var eigen mat.EigenSym
	if !eigen.Factorize(tri, true) {
		return nil, nil, false
	}
	all := eigen.Values(nil) // ascending
	var w mat.Dense
	eigen.VectorsTo(&w)
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

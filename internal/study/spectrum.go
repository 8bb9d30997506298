package study

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// moment is the noised second-moment matrix that a release of KindMoment holds.
func (r Release) moment(d int) *mat.SymDense {
	packed := r.Z()
	m := mat.NewSymDense(d, nil)
	for i, at := 0, 0; i < d; i++ {
		for j := i; j < d; j++ {
			v := packed[at]
			if j > i {
				// off-diagonal numbers travel times √2: their L2 norm is the matrix's
				v /= math.Sqrt2
			}
			m.SetSym(i, j, v)
			at++
		}
	}
	return m
}

// Spectrum returns all d eigenvalues of the noised second-moment matrix that a release of
// KindMoment holds, descending, and their unit eigenvectors. The matrix is the mean over units; its
// noise has the standard deviation Tau on the diagonal and Tau/√2 off it.
func (r Release) Spectrum(d int) ([]float64, [][]float64, error) {
	if r.Kind != KindMoment || len(r.Noised) != d*(d+1)/2 {
		return nil, nil, fieldError("releases", "query %d is no covariance of %d columns", r.Query, d)
	}
	all, w, ok := allEigen(r.moment(d))
	if !ok {
		return nil, nil, fieldError("releases", "the covariance's eigenvalues do not converge")
	}
	values, vectors := make([]float64, d), make([][]float64, d)
	for i := range d {
		values[i], vectors[i] = all[d-1-i], mat.Col(nil, d-1-i, w)
	}
	return values, vectors, nil
}

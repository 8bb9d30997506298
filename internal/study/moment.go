package study

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/proposal"
)

// Spectrum returns all d eigenvalues, descending, and unit eigenvectors of the covariance that a
// study's releases add up to, in squared units of the scaled columns, and the standard deviation
// tau of its noise on the diagonal; off it, it is tau/√2.
func Spectrum(releases []Release, d int) (values []float64, vectors [][]float64, tau float64, err error) {
	moments := momentsOf(releases)
	if len(moments) == 0 || len(moments[0].Noised) != d*(d+1)/2 {
		return nil, nil, 0, proposal.FieldErrorf("releases", "there is no covariance of %d columns among them", d)
	}
	m := pooledMoment(moments)
	all, w, ok := linalg.Eigen(m.matrix(d))
	if !ok {
		return nil, nil, 0, noConvergence()
	}
	values, vectors = make([]float64, d), make([][]float64, d)
	for i := range d {
		values[i], vectors[i] = all[d-1-i], mat.Col(nil, d-1-i, w)
	}
	return values, vectors, m.Tau, nil
}

func noConvergence() error {
	return proposal.FieldErrorf("releases", "the covariance's eigenvalues do not converge")
}

// Moment is a noised second-moment matrix: its upper triangle row by row, entries off the
// diagonal times √2, and the noise's standard deviation on each number.
type Moment struct {
	Packed []float64
	Tau    float64
}

// momentOf is what a release holds, but for columns that are left out, which have zeros.
func momentOf(r Release) Moment {
	m := Moment{r.Z(), r.Tau()}
	for i, at := 0, 0; i < len(r.Scale); i++ {
		for _, s := range r.Scale[i:] {
			if r.Scale[i] == 0 || s == 0 {
				m.Packed[at] = 0
			}
			at++
		}
	}
	return m
}

// pooledMoment adds the parts of a covariance up, each with the weight of its own noise. Parts
// clipped at a lower bound than the last are left out: they may not show what it shows. Of rows
// whose directions do not depend on their lengths a part clipped higher is the same matrix, times
// the ratio of the traces.
func pooledMoment(moments []Release) Moment {
	last := moments[len(moments)-1]
	base := momentOf(last)
	d := dimension(len(base.Packed))
	scale := trace(base.Packed, d)
	sum, weight := make([]float64, len(base.Packed)), 0.0
	for _, r := range moments {
		z, ratio := momentOf(r).Packed, 1.0
		switch {
		case r.Radius < last.Radius:
			continue
		case r.Radius > last.Radius:
			if ratio = trace(z, d) / scale; !(ratio >= 1 && ratio <= r.Radius/last.Radius) {
				continue // noise: neither bound allows it
			}
		}
		tau := r.Tau() / base.Tau // relative, to stay in range
		w := ratio / (tau * tau)
		for i, v := range z {
			sum[i] += float64(w * v)
		}
		weight += float64(w * ratio)
	}
	for i := range sum {
		sum[i] /= weight
	}
	return Moment{sum, base.Tau / math.Sqrt(weight)}
}

// Trace is the sum of the diagonal.
func (m Moment) Trace(d int) float64 { return trace(m.Packed, d) }

// dimension is d of d(d+1)/2.
func dimension(values int) int { return int((math.Sqrt(float64(8*values+1)) - 1) / 2) }

func trace(packed []float64, d int) float64 {
	sum := 0.0
	for i, at := 0, 0; i < d; i++ {
		sum += packed[at]
		at += d - i
	}
	return sum
}

// matrix unpacks m.
func (m Moment) matrix(d int) *mat.SymDense {
	out := mat.NewSymDense(d, nil)
	for i, at := 0, 0; i < d; i++ {
		for j := i; j < d; j++ {
			v := m.Packed[at]
			if j > i {
				// off-diagonal numbers travel times √2: their L2 norm is the matrix's
				v /= math.Sqrt2
			}
			out.SetSym(i, j, v)
			at++
		}
	}
	return out
}

// Principal returns the k leading eigenvectors of m, and its eigenvalues, descending. An
// eigenvector of a noised matrix is post-processing.
//
// A coordinate that is left out has no part in any of them: beside eigenvalues that noise made
// negative, its own would be a larger one.
func (m Moment) Principal(d, k int) ([][]float64, []float64, error) {
	all := m.matrix(d)
	var in []int
	for j := range d {
		if !slices.ContainsFunc(all.RawSymmetric().Data[j*d:(j+1)*d], func(v float64) bool { return v != 0 }) &&
			!slices.ContainsFunc(in, func(i int) bool { return all.At(i, j) != 0 }) {
			continue
		}
		in = append(in, j)
	}
	if len(in) == d || len(in) < k {
		vectors, values, ok := linalg.LeadingEigen(all, k)
		if !ok {
			return nil, nil, noConvergence()
		}
		return linalg.Orthonormalize(vectors, vectors), values, nil
	}
	part := mat.NewSymDense(len(in), nil)
	for i, a := range in {
		for j := i; j < len(in); j++ {
			part.SetSym(i, j, all.At(a, in[j]))
		}
	}
	vectors, values, ok := linalg.LeadingEigen(part, k)
	if !ok {
		return nil, nil, noConvergence()
	}
	out := make([][]float64, k)
	for l, v := range linalg.Orthonormalize(vectors, vectors) {
		out[l] = make([]float64, d)
		for i, j := range in {
			out[l][j] = v[i]
		}
	}
	return out, values, nil
}

// principal is of the matrix that one release holds.
func principal(r Release, d, k int) ([][]float64, []float64, error) {
	return momentOf(r).Principal(d, k)
}

package study

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
)

// allEigen is the most columns of which all eigenvalues are computed. Of more, what is taken for
// them is too little where many are close to the leading ones: long rows then seem to differ.
const allEigen = 512

// hidden reports whether the longest rows show directions that those clipped low do not: whether of
// the variance of the high clip, along its leading directions that stand clear of noise, the
// components of the low clip have less than they should.
func hidden(low, high Release, d, k int, sure float64) (bool, error) {
	m := momentOf(high).matrix(d)
	seen := d
	if d > allEigen { // all of them would take long, and every site computes this
		seen = k
	}
	w, values, ok := linalg.LeadingEigen(m, seen)
	if !ok {
		return false, noConvergence()
	}
	rest, spread := bulk(m, values)
	s := high.Tau()
	clear := 0
	for clear < k && values[clear] > standsClear*s*math.Sqrt(2*float64(d)) {
		clear++
	}
	if clear == 0 {
		return false, nil
	}
	top, excess := 0.0, 0.0
	for i := range clear {
		top += values[i]
		// what leading eigenvectors gain by following noise (Stein)
		for _, v := range values[clear:] {
			excess += float64(s*s) / (values[i] - v)
		}
		if gap := values[i] - rest; seen < d { // to second order in their spread
			excess += float64(float64(s*s)*float64(d-seen)) / gap * (1 + spread/float64(gap*gap))
		}
	}
	components, _, err := principal(low, d, k)
	if err != nil {
		return false, err
	}
	got, common, ok := captured(m, components, w[:clear])
	if !ok {
		return false, noConvergence()
	}
	noise := s * math.Sqrt(max(0, 2*(float64(clear)-common))) // of top - got
	return top-excess-got > float64(sure*noise)+float64(missed*top), nil
}

// captured returns the variance of m along as many directions in the span of components as leading
// has, those with the most, and tr(PQ), where P projects onto these and Q onto leading. It reports
// false where eigenvalues do not converge.
func captured(m *mat.SymDense, components, leading [][]float64) (variance, common float64, ok bool) {
	d, k := m.SymmetricDim(), len(components)
	inside, row := mat.NewSymDense(k, nil), make([]float64, d)
	for i, a := range components {
		through := make([]float64, d) // m times a
		for r := range through {
			for l := range row {
				row[l] = m.At(r, l)
			}
			through[r] = linalg.Dot(row, a)
		}
		for j := i; j < k; j++ {
			inside.SetSym(i, j, linalg.Dot(through, components[j]))
		}
	}
	has, u, ok := linalg.Eigen(inside)
	if !ok {
		return 0, 0, false
	}
	for i := range leading {
		variance += has[k-1-i]
		x := make([]float64, d)
		for a, v := range components {
			f := u.At(a, k-1-i)
			for l := range x {
				x[l] += float64(f * v[l])
			}
		}
		for _, w := range leading {
			c := linalg.Dot(x, w)
			common += float64(c * c)
		}
	}
	return variance, common, true
}

// bulk returns the mean and the variance of a matrix's eigenvalues but the leading ones; 0, 0
// where there are no others.
func bulk(m *mat.SymDense, leading []float64) (mean, variance float64) {
	d := m.SymmetricDim()
	n := float64(d - len(leading))
	if n == 0 {
		return 0, 0
	}
	square := 0.0
	for i := range d {
		mean += m.At(i, i)
		for j := range d {
			v := m.At(i, j)
			square += float64(v * v)
		}
	}
	for _, v := range leading {
		mean -= v
		square -= float64(v * v)
	}
	mean /= n
	return mean, max(0, square/n-float64(mean*mean))
}

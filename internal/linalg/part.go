package linalg

import "gonum.org/v1/gonum/mat"

// Within returns the variance of m along as many directions in the span of components as leading
// has, those with the most, and tr(PQ), where P projects onto these and Q onto leading. It reports
// false where eigenvalues do not converge.
func Within(m *mat.SymDense, components, leading [][]float64) (variance, common float64, ok bool) {
	d, k := m.SymmetricDim(), len(components)
	inside, row := mat.NewSymDense(k, nil), make([]float64, d)
	for i, a := range components {
		through := make([]float64, d) // m times a
		for r := range through {
			for l := range row {
				row[l] = m.At(r, l)
			}
			through[r] = Dot(row, a)
		}
		for j := i; j < k; j++ {
			inside.SetSym(i, j, Dot(through, components[j]))
		}
	}
	has, u, ok := Eigen(inside)
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
			c := Dot(x, w)
			common += float64(c * c)
		}
	}
	return variance, common, true
}

// Bulk returns the mean and the variance of a matrix's eigenvalues but the leading ones; 0, 0
// where there are no others.
func Bulk(m *mat.SymDense, leading []float64) (mean, variance float64) {
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

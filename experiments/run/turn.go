package run

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Rotated returns the law of src in a random basis, drawn once from the number of columns: loadings
// are then dense.
func Rotated(src Source) Source {
	rng := generator(uint64(src.D))
	g := mat.NewDense(src.D, src.D, nil)
	for i := range src.D {
		for j := range src.D {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q mat.Dense
	qr.QTo(&q)
	return Source{src.Name, src.D, func(n int, seed uint64) (*Data, error) {
		m, err := src.Draw(n, seed)
		if err != nil {
			return nil, err
		}
		var rows, left mat.Dense
		rows.Mul(mat.NewDense(n, src.D, m.values), q.T())
		left.Mul(&q, m.Sigma)
		var full mat.Dense
		full.Mul(&left, q.T())
		sigma := mat.NewSymDense(src.D, nil)
		for i := range src.D {
			for j := i; j < src.D; j++ {
				sigma.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
			}
		}
		return newData(m.Name, src.D, rows.RawMatrix().Data, sigma)
	}}
}

// Repeated returns the law of src with each row so many times, one after another, as an export that
// was joined with another table has it: n/times rows are drawn.
func Repeated(src Source, times int) Source {
	return Source{src.Name, src.D, func(n int, seed uint64) (*Data, error) {
		m, err := src.Draw(n/times, seed)
		if err != nil {
			return nil, err
		}
		var values []float64
		for row := range slices.Chunk(m.values, src.D) {
			for range times {
				values = append(values, row...)
			}
		}
		return newData(m.Name, src.D, values, m.Sigma)
	}}
}

// Eigen returns the eigenvalues of the matrix whose components are looked for, descending, and
// their eigenvectors.
func (m *Data) Eigen() ([]float64, [][]float64) {
	var e mat.EigenSym
	if !e.Factorize(m.Sigma, true) {
		return nil, nil
	}
	var w mat.Dense
	e.VectorsTo(&w)
	values, vectors := make([]float64, m.D), make([][]float64, m.D)
	for i, v := range e.Values(nil) {
		values[m.D-1-i], vectors[m.D-1-i] = v, mat.Col(nil, i, &w)
	}
	return values, vectors
}

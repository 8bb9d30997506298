package clip

// Along sets scores[i·k+l] to row i's product with direction l of the k in x, each of length d, one
// after another, and squares[i] to row i's squared length: 0 of a row that counts as zero. They are
// of single rows, exact but for rounding and NOT private: for use at the site alone. A [*QueryError]
// reports directions that are not orthonormal within 1e-6, or that scores and squares do not fit.
func (m *Matrix) Along(scores, squares, x []float64) error {
	if err := orthonormal(x, m.d, crossTolerance); err != nil {
		return err
	}
	n, k := m.Rows(), len(x)/m.d
	if k == 0 || len(scores) != n*k || len(squares) != n {
		return &QueryError{"direction", "is none, or scores and squares have no place for all"}
	}
	s := make([]float64, n*k)
	m.values.dotsBlock(s, x, n, m.d)
	for l := range k {
		for i, v := range s[l*n : (l+1)*n] {
			scores[i*k+l] = v
		}
	}
	for i, norm := range m.norms {
		squares[i] = norm * norm
	}
	return nil
}

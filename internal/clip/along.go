package clip

import "fmt"

// Along sets scores[i·k+l] to the product of row i of values with direction l of the k in x, each
// of length d, one after another, and squares[i] to row i's squared length. They describe single
// rows, up to rounding, and are NOT private: use them only at the site. A [*QueryError] reports
// directions that are not orthonormal within 1e-6, and lengths that do not fit.
func Along(scores, squares, values []float64, d int, x []float64) error {
	if d < 1 || len(values)%d != 0 || len(x) == 0 || len(x)%d != 0 || len(squares) != len(values)/d || len(scores) != len(squares)*(len(x)/d) {
		return &QueryError{"direction", fmt.Sprintf("has length %d, rows have %d, or scores and squares have no place for all", len(x), d)}
	}
	if err := orthonormal(x, d, crossTolerance); err != nil {
		return err
	}
	n, k := len(squares), len(x)/d
	s := make([]float64, n*k)
	dotsBlock(s, values, x, n, d, 0)
	for l := range k {
		for i, v := range s[l*n : (l+1)*n] {
			scores[i*k+l] = v
		}
	}
	for i := range squares {
		row := values[i*d : (i+1)*d]
		squares[i] = dot(row, row)
	}
	return nil
}

// Along is the function of that name for the matrix's rows.
func (m *Matrix) Along(scores, squares, x []float64) error {
	if m.rows == 0 || len(x) == 0 || len(x)%m.d != 0 || len(squares) != m.rows || len(scores) != m.rows*(len(x)/m.d) {
		return Along(scores, squares, nil, m.d, x) // its error
	}
	from, k, height := m.reader(), len(x)/m.d, m.fusedHeight(farBytes)
	for lo := 0; lo < m.rows; lo += height {
		hi := min(lo+height, m.rows)
		if err := Along(scores[lo*k:hi*k], squares[lo:hi], from.widened(lo, hi), m.d, x); err != nil {
			return err
		}
	}
	return nil
}

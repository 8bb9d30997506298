package prior

import (
	"math"

	"covey/internal/linalg"
)

// Small dense matrices are slices of rows; blocks of vectors are slices of columns.

// gram is AᵀB of columns.
func gram(a, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = make([]float64, len(b))
		for j := range b {
			out[i][j] = linalg.Dot(a[i], b[j])
		}
	}
	return out
}

// product is M Mᵀ.
func product(m [][]float64) [][]float64 { return gram(m, m) }

func symmetric(m [][]float64) [][]float64 {
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = make([]float64, len(m))
		for j := range m {
			out[i][j] = (m[i][j] + m[j][i]) / 2
		}
	}
	return out
}

// orthonormal is the Q of a QR decomposition of columns. A column that depends on those in front of
// it becomes zero.
func orthonormal(v [][]float64) [][]float64 {
	out := make([][]float64, 0, len(v))
	for _, c := range v {
		c = append([]float64(nil), c...)
		for range 2 {
			for _, b := range out {
				add(c, b, -linalg.Dot(b, c))
			}
		}
		if n := math.Sqrt(linalg.Dot(c, c)); n > 0 {
			for i := range c {
				c[i] /= n
			}
		}
		out = append(out, c)
	}
	return out
}

// add is y += a·x.
func add(y, x []float64, a float64) {
	for i, v := range x {
		y[i] += float64(a * v)
	}
}

// times is the columns A·m.
func times(a [][]float64, m [][]float64) [][]float64 {
	out := make([][]float64, len(m[0]))
	for j := range out {
		out[j] = make([]float64, len(a[0]))
		for i := range a {
			add(out[j], a[i], m[i][j])
		}
	}
	return out
}

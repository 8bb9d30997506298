package worth

import (
	"errors"
	"math"

	"covey/internal/linalg"
)

var errNotPositive = errors.New("worth: the regression has no solution")

// Small dense matrices are slices of rows; vectors of d come in slices of columns.

// columns cuts vectors of d, one after another, apart; nil where they are not as long.
func columns(v []float64, d int) [][]float64 {
	if len(v)%d != 0 {
		return nil
	}
	return linalg.Split(v, d)
}

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

// jacobi returns the eigenvalues of a small symmetric matrix, descending, and eigenvectors in the
// columns of u.
func jacobi(m [][]float64) (values []float64, u [][]float64) {
	k := len(m)
	a := make([][]float64, k)
	u = make([][]float64, k)
	for i := range a {
		a[i] = append([]float64(nil), m[i]...)
		u[i] = make([]float64, k)
		u[i][i] = 1
	}
	for range 12 {
		off, all := 0.0, 0.0
		for i := range k {
			for j := range k {
				if i != j {
					off += a[i][j] * a[i][j]
				}
				all += a[i][j] * a[i][j]
			}
		}
		if !(off > 1e-24*all) {
			break
		}
		for p := range k {
			for q := p + 1; q < k; q++ {
				if a[p][q] == 0 {
					continue
				}
				theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
				t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(t*t+1)
				s := t * c
				for i := range k {
					a[i][p], a[i][q] = c*a[i][p]-s*a[i][q], s*a[i][p]+c*a[i][q]
				}
				for i := range k {
					a[p][i], a[q][i] = c*a[p][i]-s*a[q][i], s*a[p][i]+c*a[q][i]
				}
				for i := range k {
					u[i][p], u[i][q] = c*u[i][p]-s*u[i][q], s*u[i][p]+c*u[i][q]
				}
			}
		}
	}
	values = make([]float64, k)
	for i := range k {
		values[i] = a[i][i]
	}
	for i := range k { // few: by selection
		best := i
		for j := i + 1; j < k; j++ {
			if values[j] > values[best] {
				best = j
			}
		}
		values[i], values[best] = values[best], values[i]
		for l := range k {
			u[l][i], u[l][best] = u[l][best], u[l][i]
		}
	}
	return values, u
}

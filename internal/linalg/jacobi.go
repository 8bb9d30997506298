package linalg

import "math"

// Jacobi returns the eigenvalues of a small symmetric matrix, given by rows, descending, and
// eigenvectors in the columns of u. It changes nothing of m.
func Jacobi(m [][]float64) (values []float64, u [][]float64) {
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
					off += float64(a[i][j] * a[i][j])
				}
				all += float64(a[i][j] * a[i][j])
			}
		}
		if !(off > float64(1e-24*all)) {
			break
		}
		for p := range k {
			for q := p + 1; q < k; q++ {
				if a[p][q] == 0 {
					continue
				}
				theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
				t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
				if theta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(float64(t*t)+1)
				s := t * c
				for i := range k {
					a[i][p], a[i][q] = rotate(c, s, a[i][p], a[i][q])
				}
				for i := range k {
					a[p][i], a[q][i] = rotate(c, s, a[p][i], a[q][i])
				}
				for i := range k {
					u[i][p], u[i][q] = rotate(c, s, u[i][p], u[i][q])
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

// rotate returns (x, y) turned by the angle of this cosine and sine.
func rotate(c, s, x, y float64) (float64, float64) {
	return float64(c*x) - float64(s*y), float64(s*x) + float64(c*y)
}

package linalg

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestJacobi: the vectors are orthonormal, the values fall, and together they make up the matrix.
func TestJacobi(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 8).Draw(t, "k")
		m := make([][]float64, k)
		for i := range m {
			m[i] = make([]float64, k)
			for j := range i + 1 {
				m[i][j] = rapid.Float64Range(-100, 100).Draw(t, "entry")
				m[j][i] = m[i][j]
			}
		}
		values, u := Jacobi(m)
		if !slices.IsSortedFunc(values, func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Fatalf("values %v", values)
		}
		for i := range k {
			for j := range k {
				made, product := 0.0, 0.0
				for l := range k {
					made += values[l] * u[i][l] * u[j][l]
					product += u[l][i] * u[l][j]
				}
				if i == j {
					product--
				}
				if math.Abs(made-m[i][j]) > 1e-9*100 || math.Abs(product) > 1e-12 {
					t.Fatalf("entry %d, %d: %v of %v, product %v", i, j, made, m[i][j], product)
				}
			}
		}
	})
}

package linalg

import (
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// TestEigenTakesAnyMatrix: no finite matrix panics, tiny blocks of it least of all.
func TestEigenTakesAnyMatrix(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := rapid.IntRange(1, 8).Draw(r, "d")
		m := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				scale := rapid.SampledFrom([]float64{0, 1, 0x1p-500, 0x1p-1040, 0x1p400}).Draw(r, "scale")
				m.SetSym(i, j, scale*rapid.Float64Range(-1, 1).Draw(r, "value"))
			}
		}
		values, w, ok := Eigen(m)
		if !ok {
			return
		}
		for i := range d {
			if Norm(mat.Col(nil, i, w)) < 0.99 || i > 0 && values[i] < values[i-1] {
				r.Fatalf("values %v", values)
			}
		}
	})
}

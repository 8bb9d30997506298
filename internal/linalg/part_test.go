package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestBulk: what is known of eigenvalues without computing them agrees with them.
func TestBulk(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const d, k = 20, 3
	m := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			m.SetSym(i, j, rng.NormFloat64())
		}
	}
	_, values, ok := LeadingEigen(m, d)
	if !ok {
		t.Fatal("no decomposition")
	}
	mean, variance := 0.0, 0.0
	for _, v := range values[k:] {
		mean += v / (d - k)
	}
	for _, v := range values[k:] {
		variance += (v - mean) * (v - mean) / (d - k)
	}
	got, spread := Bulk(m, values[:k])
	if math.Abs(got-mean) > 1e-9 || math.Abs(spread-variance) > 1e-9 {
		t.Errorf("mean %v, variance %v; want %v, %v", got, spread, mean, variance)
	}
	if a, b := Bulk(m, values); a != 0 || b != 0 {
		t.Errorf("of no others: %v, %v", a, b)
	}
}

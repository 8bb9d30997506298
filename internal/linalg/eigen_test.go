package linalg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestLeadingEigen: Lanczos gives what the dense decomposition gives, on a signal above
// a noise matrix and on noise alone, where eigenvalues crowd.
func TestLeadingEigen(t *testing.T) {
	const d = DenseEigen + 44
	for _, signal := range []float64{0, 3, 100} {
		rng := rand.New(rand.NewPCG(5, uint64(signal)))
		m := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				m.SetSym(i, j, rng.NormFloat64()/math.Sqrt(d))
			}
			if i < 4 {
				m.SetSym(i, i, m.At(i, i)+signal/float64(i+1))
			}
		}
		vectors, values, ok := LeadingEigen(m, 3)
		if !ok {
			t.Fatal("no decomposition")
		}
		space, grown := newKrylov(m), newKrylov(m)
		space.grow(d / 2)
		if _, _, ok := space.leading(3); signal > 0 && !ok {
			t.Errorf("signal %v: Lanczos did not converge", signal)
		}
		// A space that grew is the one that was made at once: everyone finds the same to the bit.
		for _, steps := range []int{1, 20, d / 2} {
			grown.grow(steps)
		}
		if !slices.Equal(grown.diagonal, space.diagonal) || !slices.Equal(grown.next, space.next) {
			t.Errorf("signal %v: a space that grew is another one", signal)
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(m, true) {
			t.Fatal("no decomposition")
		}
		var w mat.Dense
		eigen.VectorsTo(&w)
		for i, v := range vectors {
			if want := eigen.Values(nil)[d-1-i]; math.Abs(values[i]-want) > 1e-10 {
				t.Errorf("signal %v: eigenvalue %d is %v, want %v", signal, i, values[i], want)
			}
			if c := math.Abs(Dot(v, mat.Col(nil, d-1-i, &w))); math.Abs(c-1) > 1e-9 {
				t.Errorf("signal %v: eigenvector %d is off by %v", signal, i, 1-c)
			}
		}
	}
}

// TestLanczosOfFewDirections: a matrix of low rank ends the Krylov space early, and is left
// to the dense decomposition.
func TestLanczosOfFewDirections(t *testing.T) {
	const d = DenseEigen + 44
	m := mat.NewSymDense(d, nil)
	m.SetSym(7, 7, 2)
	vectors, values, ok := LeadingEigen(m, 2)
	if !ok || math.Abs(values[0]-2) > 1e-12 || math.Abs(vectors[0][7]) < 1-1e-12 || math.Abs(values[1]) > 1e-12 {
		t.Fatalf("%v, %v", values, ok)
	}
}

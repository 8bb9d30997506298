package result

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
)

// TestNoiseAlone: a covariance of noise alone has a noise-to-signal near 0.5, as what the result is
// worth and docs/results.md say, for the first component, and more for others.
func TestNoiseAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{30, 200} {
		m := mat.NewSymDense(d, nil)
		for i := range d {
			m.SetSym(i, i, 3*random.NormFloat64())
			for j := range i { // released times √2
				m.SetSym(i, j, 3*random.NormFloat64()/math.Sqrt2)
			}
		}
		_, values, ok := linalg.LeadingEigen(m, 3)
		if !ok {
			t.Fatal("no eigenvalues")
		}
		first, third := covarianceNoise(3, d, values[0]), covarianceNoise(3, d, values[2])
		if first < 0.42 || first > 0.58 || third <= first {
			t.Errorf("d = %d: %.3g for the first component, %.3g for the third", d, first, third)
		}
	}
}

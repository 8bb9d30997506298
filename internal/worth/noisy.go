package worth

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// noisy is a covariance that is simulated: eigenvalues, each of so many columns, the noise off the
// diagonal, and how many units there are.
type noisy struct {
	lambda, weight []float64
	k              int
	s, n           float64
	center         float64 // the variance of its noise; rows about it have that direction, too
	// learned is two over the number of columns where the matrix is divided by its own diagonal,
	// whose noise then adds to that between directions (see learned; loadings are taken for alike);
	// else 0.
	learned float64
}

// run simulates one release and returns what its leading eigenvectors capture. A group of w columns
// moves a single one as w columns do: the entry's variance is w times as large.
func (c *noisy) run(rng *rand.Rand) float64 {
	d := len(c.lambda)
	m := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			columns := c.weight[i] * c.weight[j]
			if c.weight[i] > 1 && c.weight[j] > 1 {
				columns = math.Sqrt(columns)
			}
			off := 1 - (c.lambda[i]+c.lambda[j])/2
			noise := c.s * c.s / 2 * (1 + c.learned*max(-1, off*off-1))
			variance := (noise + c.lambda[i]*c.lambda[j]/c.n) * columns
			if i == j {
				m.SetSym(i, i, c.lambda[i]+math.Sqrt(2*variance)*rng.NormFloat64())
			} else {
				m.SetSym(i, j, math.Sqrt(variance)*rng.NormFloat64())
			}
		}
	}
	if c.center > 0 {
		center := mat.NewVecDense(d, nil)
		for i, w := range c.weight {
			center.SetVec(i, math.Sqrt(c.center*w)*rng.NormFloat64())
		}
		m.SymRankOne(m, 1, center)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(m, true) {
		return 0
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	got, best := 0.0, 0.0
	for i := range c.k {
		best += c.lambda[i]
		for j := range d {
			v := vectors.At(j, d-1-i)
			got += c.lambda[j] * v * v
		}
	}
	return got / best
}

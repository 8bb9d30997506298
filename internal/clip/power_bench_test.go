package clip

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// BenchmarkPowerSum reads 64 MB of rows: PowerSum with one worker and with all, and gonum's two matrix-vector products with the same
// clipping between them, in float64 and so without the sensitivity bound.
func BenchmarkPowerSum(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{7, 64, 256} {
		n := 8 << 20 / d
		values := gaussian(rng, n*d)
		x := unit(rng, d)
		m := mustMatrix(b, d, values)
		r := math.Sqrt(float64(d))
		q := Query{X: x, Radius: r, Grid: Grid(r)}
		for name, workers := range map[string]int{"one": 1, "all": 0} {
			b.Run(fmt.Sprintf("d=%d/%s", d, name), func(b *testing.B) {
				b.SetBytes(int64(8 * n * d))
				for b.Loop() {
					mustSum(b, m, q, workers)
				}
			})
		}
		b.Run(fmt.Sprintf("d=%d/gonum", d), func(b *testing.B) {
			var impl gonum.Implementation
			s, z := make([]float64, n), make([]float64, d)
			b.SetBytes(int64(8 * n * d))
			for b.Loop() {
				impl.Dgemv(blas.NoTrans, n, d, 1, values, d, x, 1, 0, s, 1)
				for i, norm := range m.norms {
					bound := q.Radius / norm
					s[i] = min(max(s[i], -bound), bound)
				}
				impl.Dgemv(blas.Trans, n, d, 1, values, d, s, 1, 0, z, 1)
			}
		})
	}
}

func BenchmarkHistogram(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{7, 256} {
		n := 8 << 20 / d
		m := mustMatrix(b, d, gaussian(rng, n*d))
		x := unit(rng, d)
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			b.SetBytes(int64(8 * n * d))
			for b.Loop() {
				mustHistogram(b, m, Query{X: x}, 1)
			}
		})
	}
}

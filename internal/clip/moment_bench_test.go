package clip

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"covey/internal/query"
)

// BenchmarkMoment sums the moments of 20,000 rows with one worker, and of fewer rows at the largest
// d of a study.
func BenchmarkMoment(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ n, d int }{{20_000, 16}, {20_000, 64}, {20_000, 256}, {500, 2000}} {
		values := gaussian(rng, c.n*c.d)
		q := Query{Map: Moment, Radius: float64(c.d), Grid: query.Grid(float64(c.d))}
		units := make([]int, c.n)
		for i := range units {
			units[i] = i / 4
		}
		rows := mustMatrix(b, c.d, values)
		four, err := NewUnits(c.d, values, units)
		if err != nil {
			b.Fatal(err)
		}
		for name, m := range map[string]*Matrix{"rows": rows, "units": four} {
			b.Run(fmt.Sprintf("n=%d/d=%d/%s", c.n, c.d, name), func(b *testing.B) {
				for b.Loop() {
					mustSum(b, m, q, 1)
				}
				products := float64(c.n) * float64(c.d) * float64(c.d+1) / 2
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/products, "ns/product")
			})
		}
	}
}

// BenchmarkBlockPower reads 64 MB of rows against k directions with one worker.
func BenchmarkBlockPower(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{64, 256} {
		n := 8 << 20 / d
		m := mustMatrix(b, d, gaussian(rng, n*d))
		r := math.Sqrt(float64(d))
		for _, k := range []int{1, 2, 5, 10} {
			q := Query{X: orthogonal(rng, d, k), Radius: r, Grid: query.Grid(r)}
			b.Run(fmt.Sprintf("d=%d/k=%d", d, k), func(b *testing.B) {
				b.SetBytes(int64(8 * n * d))
				for b.Loop() {
					mustSum(b, m, q, 1)
				}
			})
		}
	}
}

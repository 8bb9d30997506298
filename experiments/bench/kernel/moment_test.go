//go:build unix

package kernel

import (
	"fmt"
	"testing"

	"covey/internal/clip"
	"covey/internal/query"
)

// BenchmarkMoment measures the covariance of 2 to 8 MB of rows on each path, on one core, in
// processor time a product y_i·y_j of a row. It fails where two paths return other integers.
func BenchmarkMoment(b *testing.B) {
	dims := []int{64, 256, 1000}
	if testing.Short() {
		dims = dims[:1]
	}
	for _, d := range dims {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			r, agree := newRows(b, d, 1<<15*min(d, 256)), same{}
			radius := float64(d) / 12
			q := clip.Query{Map: clip.Moment, Radius: radius, Grid: query.Grid(radius)}
			products := float64(r.n) * float64(d) * float64(d+1) / 2
			for _, path := range paths() {
				b.Run("impl="+path, func(b *testing.B) {
					if err := clip.SetPath(path); err != nil {
						b.Fatal(err)
					}
					defer clip.SetPath("")
					start := cpu()
					for b.Loop() {
						v, err := clip.Sum(r.wide, q, 1)
						if err == nil {
							err = agree.check(path, v)
						}
						if err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(cpu()-start)/float64(b.N)/products, "cpu-ns/product")
				})
			}
		})
	}
}

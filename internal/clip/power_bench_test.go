package clip

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"covey/internal/query"
)

// benchBytes of rows: more than second-level caches hold. Some machines' third level holds it, and
// the read limit is that level's then.
const benchBytes = 64 << 20

// contest is the power sum over one set of rows and what it is compared with, all on one worker:
// the rows read once, and gonum's two matrix-vector products with the same clipping between them,
// in float64 and so without the sensitivity bound.
type contest struct {
	name string
	run  func()
}

func contests(tb testing.TB, d, bytes int) (all []contest, size int) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := bytes / 8 / d &^ 63
	values := make([]float64, n*d)
	for i := range values {
		values[i] = rng.Float64() - 0.5
	}
	m, err := NewMatrix(d, values)
	if err != nil {
		tb.Fatal(err)
	}
	narrow, err := NewMatrix32(d, float32s(values))
	if err != nil {
		tb.Fatal(err)
	}
	r := math.Sqrt(float64(d)) / 12
	q := Query{X: unit(rng, d), Radius: r, Grid: query.Grid(r)}
	all = append(all, contest{"read", func() { runtime.KeepAlive(Read(values)) }})
	for _, p := range supported() {
		all = append(all, contest{pathNames[p], func() {
			old := active.Swap(uint32(p))
			mustSum(tb, m, q, 1)
			active.Store(old)
		}}, contest{pathNames[p] + "-float32", func() { // the same rows in half the bytes
			old := active.Swap(uint32(p))
			mustSum(tb, narrow, q, 1)
			active.Store(old)
		}})
	}
	var impl gonum.Implementation
	s, z := make([]float64, n), make([]float64, d)
	all = append(all, contest{"gonum", func() {
		impl.Dgemv(blas.NoTrans, n, d, 1, values, d, q.X, 1, 0, s, 1)
		for i, norm := range m.norms {
			bound := q.Radius / norm
			s[i] = min(max(s[i], -bound), bound)
		}
		impl.Dgemv(blas.Trans, n, d, 1, values, d, s, 1, 0, z, 1)
	}})
	return all, 8 * len(values)
}

var benchDims = []int{16, 64, 256, 1000}

func BenchmarkPowerSum(b *testing.B) {
	for _, d := range benchDims {
		all, size := contests(b, d, benchBytes)
		for _, c := range all {
			b.Run(fmt.Sprintf("d=%d/%s", d, c.name), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					c.run()
				}
			})
		}
	}
}

// BenchmarkPowerSumRatios runs the contestants in turn, so that what else the machine does falls on
// all alike, and reports each one's speed as a part of the read limit: the median of the turns'
// ratios, and the ratio of the fastest turns, which a busy machine disturbs less.
func BenchmarkPowerSumRatios(b *testing.B) {
	for _, d := range benchDims {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			all, size := contests(b, d, benchBytes)
			spent, part := make([][]float64, len(all)), make([][]float64, len(all))
			for b.Loop() {
				for i, c := range all {
					start := time.Now()
					c.run()
					spent[i] = append(spent[i], time.Since(start).Seconds())
					part[i] = append(part[i], spent[0][len(spent[0])-1]/spent[i][len(spent[i])-1])
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(size)/slices.Min(spent[0])/1e9, "read-best-GB/s")
			for i, c := range all[1:] {
				slices.Sort(part[1+i])
				b.ReportMetric(part[1+i][len(part[1+i])/2], c.name+"-median")
				b.ReportMetric(slices.Min(spent[0])/slices.Min(spent[1+i]), c.name+"-best")
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

//go:build unix

package kernel

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"covey/internal/clip"
	"covey/internal/query"
)

var megabytes = flag.Int("mb", 512, "MB of float64 rows; 8 with -short")

// BenchmarkSum measures one power step in k directions. Implementations are read (the machine's
// limit: every value once), covey's paths, and two products without clipping between them and
// without rounding, which favors those. MB/s counts the rows as they are stored, cpu-ns/op the time
// of all cores. It fails if two paths return different integers.
func BenchmarkSum(b *testing.B) {
	dims, ks := []int{64, 256, 1000, 4000}, []int{1, 2, 4, 8, 16}
	if testing.Short() {
		dims, ks = []int{64}, []int{1, 4}
	}
	for _, d := range dims {
		b.Run(fmt.Sprintf("d=%d", d), func(b *testing.B) {
			r := newRows(b, d, size())
			for _, k := range ks {
				b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
					r.sums(b, powerStep(d, k))
					for _, p := range r.products(powerStep(d, k).X, k) {
						r.bench(b, "store=float64/cores=1/impl="+p.name, "portable", 8, func() error { p.work(); return nil })
					}
				})
			}
		})
	}
}

// BenchmarkGrowth measures the best path of one direction over n and over d, on one core, next to
// the read.
func BenchmarkGrowth(b *testing.B) {
	bytes := size()
	best := paths()[len(paths())-1]
	one := func(name string, d, bytes int) {
		b.Run(name, func(b *testing.B) {
			r, q := newRows(b, d, bytes), powerStep(d, 1)
			r.bench(b, "impl=read", best, 8, func() error { r.read(1); return nil })
			r.bench(b, "impl="+best, best, 8, func() error { _, err := clip.Sum(r.wide, q, 1); return err })
		})
	}
	for n := 1 << 10; 8*n*256 <= bytes; n *= 4 {
		one(fmt.Sprintf("d=256/n=%d", n), 256, 8*n*256)
	}
	for d := 16; d <= 1<<16; d *= 4 {
		one(fmt.Sprintf("d=%d/MB=%d", d, min(bytes, 128<<20)>>20), d, min(bytes, 128<<20))
	}
}

func size() int {
	if testing.Short() {
		return 8 << 20
	}
	return *megabytes << 20
}

// bench measures work, which goes through all rows in values of so many bytes, on a path of clip.
func (r *rows) bench(b *testing.B, name, path string, bytes int, work func() error) {
	b.Run(name, func(b *testing.B) {
		if err := clip.SetPath(path); err != nil {
			b.Fatal(err)
		}
		defer clip.SetPath("")
		b.SetBytes(int64(bytes * r.n * r.d))
		start := cpu()
		for b.Loop() {
			if err := work(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(cpu()-start)/float64(b.N), "cpu-ns/op")
	})
}

// sums measures the read and all paths of clip. The portable one has no tiles for several
// directions.
func (r *rows) sums(b *testing.B, q clip.Query) {
	var agree same
	has, one := paths(), len(q.X) == r.d
	sum := func(store string, cores int, path string, m *clip.Matrix, bytes int) {
		name := fmt.Sprintf("store=%s/cores=%d/impl=%s", store, cores, path)
		r.bench(b, name, path, bytes, func() error {
			v, err := clip.Sum(m, q, cores)
			if err != nil {
				return err
			}
			return agree.check(name, v)
		})
	}
	best := has[len(has)-1]
	for cores := 1; cores <= 2; cores++ {
		if cores > 1 && !one {
			return
		}
		r.bench(b, fmt.Sprintf("store=float64/cores=%d/impl=read", cores), best, 8, func() error { r.read(cores); return nil })
		for _, path := range has {
			if one || path != "portable" {
				sum("float64", cores, path, r.wide, 8)
				sum("float32", cores, path, r.narrow, 4)
			}
		}
		if one {
			onDisk, err := clip.NewMatrix(r.d, mapped(b, r.values))
			if err != nil {
				b.Fatal(err)
			}
			sum("mapped", cores, best, onDisk, 8)
		}
	}
}

// product is another way to compute Σ y (yᵀX), into z.
type product struct {
	name string
	work func()
	z    []float64
}

// products returns those of k directions x. All run on one core.
func (r *rows) products(x []float64, k int) (all []product) {
	var impl gonum.Implementation
	n, d, s := r.n, r.d, make([]float64, r.n*k)
	add := func(name string, work func(z []float64)) {
		z := make([]float64, k*d)
		all = append(all, product{name, func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // gonum's Gemm would take all
			work(z)
		}, z})
	}
	if k > 1 {
		add("gonum", func(z []float64) {
			impl.Dgemm(blas.NoTrans, blas.Trans, n, k, d, 1, r.values, d, x, d, 0, s, k)
			impl.Dgemm(blas.Trans, blas.NoTrans, k, d, n, 1, s, k, r.values, d, 0, z, d)
		})
		if openblas.gemm != nil {
			add("openblas", func(z []float64) { openblas.gemm(n, d, k, r.values, x, s, z) })
		}
		return all
	}
	add("gonum", func(z []float64) {
		impl.Dgemv(blas.NoTrans, n, d, 1, r.values, d, x, 1, 0, s, 1)
		impl.Dgemv(blas.Trans, n, d, 1, r.values, d, s, 1, 0, z, 1)
	})
	add("gonum-rows", func(z []float64) {
		clear(z)
		for lo := 0; lo < n*d; lo += d {
			row := r.values[lo : lo+d]
			impl.Daxpy(d, impl.Ddot(d, row, 1, x, 1), row, 1, z, 1)
		}
	})
	if openblas.gemv != nil {
		add("openblas", func(z []float64) { openblas.gemv(n, d, r.values, x, s, z) })
	}
	return all
}

func TestOtherIntegersFail(t *testing.T) {
	var s same
	if s.check("a", []int64{1}) != nil || s.check("b", []int64{1}) != nil || s.check("c", []int64{2}) == nil {
		t.Error("other integers pass, or the same do not")
	}
}

// TestProducts: what the kernel is compared with computes the kernel's sum, where nothing is
// clipped.
func TestProducts(t *testing.T) {
	const d = 8
	r := newRows(t, d, 8*d*200)
	for _, k := range []int{1, 2} {
		q := powerStep(d, k)
		q.Radius = 1 << 10
		q.Grid = query.Grid(q.Radius)
		sum, err := clip.Sum(r.wide, q, 1)
		if err != nil {
			t.Fatal(err)
		}
		all := r.products(q.X, k)
		if len(all) == 0 {
			t.Error("nothing is compared")
		}
		for _, p := range all {
			p.work()
			for j, v := range sum {
				if off := float64(v)*q.Grid - p.z[j]; math.Abs(off) > float64(r.n)*q.Grid {
					t.Errorf("k = %d, %s: value %d is %v off", k, p.name, j, off)
				}
			}
		}
	}
}

//go:build unix

package kernel

import (
	"flag"
	"fmt"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"covey/internal/clip"
)

var megabytes = flag.Int("mb", 512, "MB of float64 rows; 8 with -short")

// BenchmarkSum measures one power step in k directions. Implementations are read (the machine's
// limit: every value once), covey's paths, and two products without clipping between them and
// without rounding, which favors those. MB/s is of the rows as they are stored, cpu-ns/op the time
// of all cores. It fails where two paths return other integers.
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
					r.sums(b, query(d, k))
					r.products(b, query(d, k).X, k)
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
			r, q := newRows(b, d, bytes), query(d, 1)
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

// products measures other ways to compute Σ y (yᵀX), on one core.
func (r *rows) products(b *testing.B, x []float64, k int) {
	var impl gonum.Implementation
	n, d, s, z := r.n, r.d, make([]float64, r.n*k), make([]float64, k*r.d)
	product := func(name string, work func()) {
		r.bench(b, "store=float64/cores=1/impl="+name, "portable", 8, func() error {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // gonum's Gemm would take all
			work()
			return nil
		})
	}
	if k > 1 {
		product("gonum", func() {
			impl.Dgemm(blas.NoTrans, blas.Trans, n, k, d, 1, r.values, d, x, d, 0, s, k)
			impl.Dgemm(blas.Trans, blas.NoTrans, k, d, n, 1, s, k, r.values, d, 0, z, d)
		})
		if openblas.gemm != nil {
			product("openblas", func() { openblas.gemm(n, d, k, r.values, x, s, z) })
		}
		return
	}
	product("gonum", func() {
		impl.Dgemv(blas.NoTrans, n, d, 1, r.values, d, x, 1, 0, s, 1)
		impl.Dgemv(blas.Trans, n, d, 1, r.values, d, s, 1, 0, z, 1)
	})
	product("gonum-rows", func() {
		clear(z)
		for lo := 0; lo < n*d; lo += d {
			row := r.values[lo : lo+d]
			impl.Daxpy(d, impl.Ddot(d, row, 1, x, 1), row, 1, z, 1)
		}
	})
	if openblas.gemv != nil {
		product("openblas", func() { openblas.gemv(n, d, r.values, x, s, z) })
	}
}

func TestOtherIntegersFail(t *testing.T) {
	var s same
	if s.check("a", []int64{1}) != nil || s.check("b", []int64{1}) != nil || s.check("c", []int64{2}) == nil {
		t.Error("other integers pass, or the same do not")
	}
}

// TestProducts: what the kernel is compared with computes the same sum, where nothing is clipped.
func TestProducts(t *testing.T) {
	const d, k = 8, 2
	r := newRows(t, d, 8*d*200)
	q := query(d, k)
	want := make([]float64, k*d)
	for lo := 0; lo < len(r.values); lo += d {
		row := r.values[lo : lo+d]
		for i := range k {
			s := inner(row, q.X[i*d:(i+1)*d])
			for j, v := range row {
				want[i*d+j] += s * v
			}
		}
	}
	q.Radius = 1 << 10
	q.Grid = clip.Grid(q.Radius)
	sum, err := clip.Sum(r.wide, q, 1)
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range sum {
		if got := float64(v) * q.Grid; got < want[j]-float64(r.n)*q.Grid || got > want[j]+float64(r.n)*q.Grid {
			t.Errorf("value %d is %v, not %v", j, got, want[j])
		}
	}
}

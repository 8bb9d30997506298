package main

import (
	"fmt"
	"math"
	"runtime"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"covey/internal/clip"
)

// sums is the table of one direction at one d.
func sums(d, bytes, repeat int) (table, error) {
	r, err := newRows(d, bytes)
	if err != nil {
		return table{}, err
	}
	file, err := mapped(r.values)
	if err != nil {
		return table{}, err
	}
	defer file.close()
	onDisk, err := clip.NewMatrix(d, file.values)
	if err != nil {
		return table{}, err
	}
	q := query(d, 1)
	var (
		all   []contestant
		agree same
		has   = paths()
		reads = [3][]string{1: nil, 2: nil}
	)
	for _, p := range has {
		for workers := 1; workers <= 2; workers++ {
			name := fmt.Sprintf("read %s, %s", p, cores(workers))
			reads[workers] = append(reads[workers], name)
			all = append(all, r.read(name, p, workers))
		}
	}
	type entry struct {
		name    string
		workers int
		alone   string // the same with one worker
		wide    string // the same stored as float64
	}
	var entries []entry
	for _, p := range has {
		for _, bits := range []int{64, 32} {
			for workers := 1; workers <= 2; workers++ {
				name := func(bits, workers int) string { return fmt.Sprintf("covey %s float%d, %s", p, bits, cores(workers)) }
				m := r.wide
				if bits == 32 {
					m = r.narrow
				}
				e := entry{name: name(bits, workers), workers: workers}
				if workers > 1 {
					e.alone = name(bits, 1)
				}
				if bits == 32 {
					e.wide = name(64, workers)
				}
				entries = append(entries, e)
				all = append(all, agree.sum(e.name, p, m, q, workers))
			}
		}
	}
	best := has[len(has)-1]
	for workers := 1; workers <= 2; workers++ {
		name := func(workers int) string {
			return fmt.Sprintf("covey %s float64, mapped file, %s", best, cores(workers))
		}
		e := entry{name: name(workers), workers: workers}
		if workers > 1 {
			e.alone = name(1)
		}
		entries = append(entries, e)
		all = append(all, agree.sum(e.name, best, onDisk, q, workers))
	}
	for _, c := range gemv(r, q.X) {
		entries = append(entries, entry{name: c.name, workers: 1})
		all = append(all, c)
	}
	spent, err := turns(all, repeat)
	if err != nil {
		return table{}, err
	}
	limit := [3]string{1: spent.fastest(reads[1]...), 2: spent.fastest(reads[2]...)}
	t := table{
		Title: fmt.Sprintf("**One direction, d = %d**, %d rows, %d MB of float64. Of read: the time to read the rows as float64, with as many cores, over this one's. Times one core: the fastest turns by the clock; all else: medians, one core's by the time that it was given.", d, r.n, 8*r.n*d>>20),
		Head:  []string{"d = " + fmt.Sprint(d), "of read", "times OpenBLAS", "times float64", "times one core", "M rows/s", "GB/s"},
	}
	for w := 1; w <= 2; w++ {
		scaling := math.NaN()
		if w > 1 {
			scaling = spent.best(limit[1], limit[w])
		}
		t.line(limit[w], spent, r, 1, math.NaN(), math.NaN(), scaling, 8)
	}
	for _, e := range entries {
		bytes := 8
		if e.wide != "" {
			bytes = 4
		}
		t.line(e.name, spent, r, spent.ratio(limit[e.workers], e.name), spent.ratio(openblas, e.name), spent.ratio(e.wide, e.name), spent.best(e.alone, e.name), bytes)
	}
	return t, nil
}

func (t *table) line(name string, spent times, r *rows, ofRead, timesBLAS, timesWide, timesOne float64, bytes int) {
	s := median(spent[name])
	t.add(name, ofRead, timesBLAS, timesWide, timesOne, float64(r.n)/s/1e6, float64(bytes*r.n*r.d)/s/1e9)
}

func cores(n int) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%d cores", n)
}

// openblas names its contestant of two products.
const openblas = "OpenBLAS, two dgemv"

// gemv are other ways to compute Σ y (yᵀx) on one core, without clipping between the products and without rounding to integers: all favour them.
func gemv(r *rows, x []float64) []contestant {
	var impl gonum.Implementation
	n, d, s, z := r.n, r.d, make([]float64, r.n), make([]float64, r.d)
	all := []contestant{
		{"gonum, two Gemv", 1, func() error {
			impl.Dgemv(blas.NoTrans, n, d, 1, r.values, d, x, 1, 0, s, 1)
			impl.Dgemv(blas.Trans, n, d, 1, r.values, d, s, 1, 0, z, 1)
			return nil
		}},
		{"gonum, Dot and Axpy by rows", 1, func() error {
			clear(z)
			for lo := 0; lo < n*d; lo += d {
				row := r.values[lo : lo+d]
				impl.Daxpy(d, impl.Ddot(d, row, 1, x, 1), row, 1, z, 1)
			}
			return nil
		}},
	}
	if blasName != "none" {
		all = append(all, contestant{openblas, 1, func() error {
			blasGemv(n, d, r.values, x, s, z)
			return nil
		}})
	}
	return all
}

// alone runs f on one core: gonum's Gemm would take all.
func alone(f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f()
}

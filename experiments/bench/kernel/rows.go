package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"covey/internal/clip"
)

// rows are the same values in all forms: n rows of d, each a float32, of norm about √(d/12).
type rows struct {
	n, d         int
	values       []float64
	wide, narrow *clip.Matrix // float64, float32
}

func newRows(d, bytes int) (*rows, error) {
	n := bytes / 8 / d
	if n < 1 {
		return nil, fmt.Errorf("%d bytes hold no row of %d values", bytes, d)
	}
	if n > 64 {
		n &^= 63
	}
	r, half := &rows{n: n, d: d, values: make([]float64, n*d)}, make([]float32, n*d)
	var wg sync.WaitGroup
	const part = 1 << 20
	for lo := 0; lo < n*d; lo += part {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(lo)))
			for i := lo; i < min(lo+part, n*d); i++ {
				half[i] = rng.Float32() - 0.5
				r.values[i] = float64(half[i])
			}
		})
	}
	wg.Wait()
	var err error
	if r.wide, err = clip.NewMatrix(d, r.values); err != nil {
		return nil, err
	}
	r.narrow, err = clip.NewMatrix32(d, half)
	return r, err
}

// query is a power step in k random directions that clips about half of the rows.
func query(d, k int) clip.Query {
	rng := rand.New(rand.NewPCG(2, 2))
	x := make([]float64, 0, k*d)
	for range k {
		v := make([]float64, d)
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		for range 3 { // orthogonal to those before to the last bits
			for lo := 0; lo < len(x); lo += d {
				s := inner(v, x[lo:lo+d])
				for j := range v {
					v[j] -= s * x[lo+j]
				}
			}
			length := math.Sqrt(inner(v, v))
			for j := range v {
				v[j] /= length
			}
		}
		x = append(x, v...)
	}
	// y is about √(d/12) long, its products with the directions about √(k/12) together.
	radius := math.Sqrt(float64(d*k)) / 12
	return clip.Query{X: x, Radius: radius, Grid: clip.Grid(radius)}
}

func inner(a, b []float64) float64 {
	s := 0.0
	for j := range a {
		s += a[j] * b[j]
	}
	return s
}

// same checks that all sums of one run are one vector of integers.
type same struct{ want []int64 }

func (s *same) check(name string, got []int64) error {
	if s.want == nil {
		s.want = got
	}
	if !slices.Equal(got, s.want) {
		return fmt.Errorf("%s gives other integers", name)
	}
	return nil
}

// sum is a contestant: a matrix's sum on a path.
func (s *same) sum(name, path string, m *clip.Matrix, q clip.Query, workers int) contestant {
	return contestant{name, workers, func() error {
		if err := clip.SetPath(path); err != nil {
			return err
		}
		v, err := clip.Sum(m, q, workers)
		if err != nil {
			return err
		}
		return s.check(name, v)
	}}
}

// paths are those that this machine has, the slowest first.
func paths() []string {
	var all []string
	for _, p := range []string{"portable", "avx2", "avx512"} {
		if clip.SetPath(p) == nil {
			all = append(all, p)
		}
	}
	return all
}

// read is a contestant: the values read once on a path, by so many goroutines.
func (r *rows) read(name, path string, workers int) contestant {
	return contestant{name, workers, func() error {
		if err := clip.SetPath(path); err != nil {
			return err
		}
		var wg sync.WaitGroup
		for w := range workers {
			part := r.values[len(r.values)*w/workers : len(r.values)*(w+1)/workers]
			if w == workers-1 {
				clip.Read(part)
			} else {
				wg.Go(func() { clip.Read(part) })
			}
		}
		wg.Wait()
		return nil
	}}
}

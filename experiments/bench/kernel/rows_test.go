package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"covey/internal/clip"
	"covey/internal/query"
)

// rows are the same values in all forms: n rows of d, each a float32, of norm about √(d/12).
type rows struct {
	n, d         int
	values       []float64
	wide, narrow *clip.Matrix // float64, float32
}

func newRows(t testing.TB, d, bytes int) *rows {
	t.Helper()
	n := max(1, bytes/8/d)
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
		t.Fatal(err)
	}
	if r.narrow, err = clip.NewMatrix32(d, half); err != nil {
		t.Fatal(err)
	}
	return r
}

// powerStep returns a power step in k random directions that clips about half of the rows.
func powerStep(d, k int) clip.Query {
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
	return clip.Query{X: x, Radius: radius, Grid: query.Grid(radius)}
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
		return fmt.Errorf("%s returns other integers", name)
	}
	return nil
}

// paths returns those that this machine has, the slowest first.
func paths() []string {
	defer clip.SetPath("")
	var all []string
	for _, p := range []string{"portable", "avx2", "avx512"} {
		if clip.SetPath(p) == nil {
			all = append(all, p)
		}
	}
	return all
}

// read reads the values once, by so many goroutines.
func (r *rows) read(cores int) {
	var wg sync.WaitGroup
	for c := range cores {
		part := r.values[len(r.values)*c/cores : len(r.values)*(c+1)/cores]
		if c == cores-1 {
			clip.Read(part)
		} else {
			wg.Go(func() { clip.Read(part) })
		}
	}
	wg.Wait()
}

package study_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/query"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestCourseIsExact: S12. It takes studies of every kind to their ends and hashes every bit of what
// each release leads to, and of matrices' eigenvectors. .ci/run compares the hash with that of a
// build whose compiler fuses products and sums: a product that is not rounded before it is added
// shows, as it would between a coordinator and a site on two processors.
func TestCourseIsExact(t *testing.T) {
	bits := study.NewBits()
	var names []string
	for name := range texts.Studies {
		names = append(names, name)
	}
	slices.Sort(names)
	courses := func(p *study.Plan, releases []study.Release) {
		c := p.Start()
		for i, r := range releases {
			var err error
			if c, err = p.Next(c, r, releases[:i]); err != nil {
				t.Fatal(err)
			}
			bits.Add(c.X...)
			bits.Add(c.Center...)
			bits.Add(c.Found...)
			bits.Add(c.Scale...)
			for _, k := range query.Kinds() {
				bits.Add(c.Radii[k.Kind])
			}
		}
	}
	for _, name := range names {
		p, _, releases := runs.Run(t, texts.Studies[name], strings.Contains(name, "auto"))
		courses(p, releases)
	}
	p := study.FallingPlan(t) // rounds follow parts of a covariance
	courses(p, study.Falling(t, p, rand.New(rand.NewPCG(16, 17)), 0.85))
	// By the dense decomposition, by Lanczos, and of a run's steps, where eigenvalues crowd.
	for _, d := range []int{40, linalg.DenseEigen + 44} {
		rng := rand.New(rand.NewPCG(8, uint64(d)))
		m := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				m.SetSym(i, j, rng.Float64()-0.5)
			}
			m.SetSym(i, i, 300/float64(i+1))
		}
		vectors, values, ok := linalg.LeadingEigen(m, 6)
		if !ok {
			t.Fatal("no decomposition")
		}
		bits.Add(linalg.Flat(vectors)...)
		bits.Add(values...)
		columns := make([][]float64, 12)
		for i := range columns {
			columns[i] = make([]float64, d)
			for j := range columns[i] {
				columns[i][j] = rng.Float64() - 0.5 + 1e6*float64(j%7)
			}
		}
		if vectors, values, ok = linalg.LeadingSingular(linalg.ColumnsOf(columns), 5); !ok {
			t.Fatal("no decomposition")
		}
		bits.Add(linalg.Flat(vectors)...)
		bits.Add(values...)
	}
	for seed := range uint64(20) { // posteriors of covariances that say about as much as rounds
		const m = 12
		rng := rand.New(rand.NewPCG(9, seed))
		numbers := func() (out []float64) {
			for range m {
				out = append(out, rng.Float64()-0.5)
			}
			return out
		}
		noised := make([][]float64, m)
		for i := range noised {
			noised[i] = numbers()
		}
		var products []linalg.Products
		for range 4 {
			products = append(products, linalg.Products{X: [][]float64{numbers(), numbers()}, Z: [][]float64{numbers(), numbers()}, Tau: 0.3 + rng.Float64()})
		}
		vectors, ok := linalg.PriorOf(noised, rng.Float64(), 1+rng.Float64(), 0.3+rng.Float64()/8, m).Times(rng.Float64()).Leading(products, 3)
		if !ok {
			t.Fatal("no decomposition")
		}
		bits.Add(linalg.Flat(vectors)...)
	}
	t.Logf("bits: %x", bits.Sum(nil))
}

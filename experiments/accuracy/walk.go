package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/experiments/run"
	"covey/internal/linalg"
)

// walk is power iteration of one component on unit rows in floats: what a study does at ε = 1,
// δ = 10^-6, central noise, but that radii are the rows' own quantiles.
type walk struct {
	rows   []float64 // n unit rows of d
	n, d   int
	sigma  float64 // σ/Δ of the whole budget
	rng    *rand.Rand
	x      []float64
	radius float64
	xs, zs [][]float64
	tau    []float64
}

// newWalk draws rows of a Gaussian law and a start.
func newWalk(lambda []float64, n int, sigma float64, seed uint64) *walk {
	d, rng := len(lambda), rand.New(rand.NewPCG(seed, 0x73746f70))
	w := &walk{n: n, d: d, sigma: sigma, rng: rng}
	row := make([]float64, d)
	for range n {
		for j, l := range lambda {
			row[j] = math.Sqrt(l) * rng.NormFloat64()
		}
		w.rows = append(w.rows, unit(row)...)
	}
	w.x = run.Direction(d, rng.Uint64())
	return w
}

// step asks one round with this share of the budget.
func (w *walk) step(share float64) {
	along := make([]float64, w.n)
	for i := range along {
		for j, v := range w.rows[i*w.d : (i+1)*w.d] {
			along[i] += v * w.x[j]
		}
	}
	if t := len(w.zs); t < 8 && slices.Contains([]int{0, 1, 2, 4, 7}, t) {
		sizes := make([]float64, w.n)
		for i, a := range along {
			sizes[i] = math.Abs(a)
		}
		slices.Sort(sizes)
		w.radius = sizes[w.n*3/4]
	}
	z := make([]float64, w.d)
	for i, a := range along {
		a = max(-w.radius, min(w.radius, a))
		for j, v := range w.rows[i*w.d : (i+1)*w.d] {
			z[j] += a * v
		}
	}
	tau := w.sigma * 2 * w.radius / math.Sqrt(share) / float64(w.n)
	for j := range z {
		z[j] = z[j]/float64(w.n) + tau*w.rng.NormFloat64()
	}
	w.xs, w.zs, w.tau = append(w.xs, w.x), append(w.zs, z), append(w.tau, tau)
	w.x = unit(z)
}

func unit(v []float64) []float64 {
	out, n := slices.Clone(v), math.Sqrt(linalg.Dot(v, v))
	for j := range out {
		out[j] /= n
	}
	return out
}

// fork is a copy whose rounds are its own.
func (w *walk) fork() *walk {
	c := *w
	c.xs, c.zs, c.tau = slices.Clip(w.xs), slices.Clip(w.zs), slices.Clip(w.tau)
	return &c
}

// output is what output = "pooled" makes of all rounds.
func (w *walk) output() []float64 { return w.pooled(len(w.zs)/2, len(w.zs)) }

// pooled is the leading direction of Σ z zᵀ/τ² over rounds from..to-1.
func (w *walk) pooled(from, to int) []float64 {
	m := mat.NewSymDense(w.d, nil)
	for t := from; t < to; t++ {
		m.SymRankOne(m, 1/(w.tau[t]*w.tau[t]), mat.NewVecDense(w.d, w.zs[t]))
	}
	var e mat.EigenSym
	e.Factorize(m, true)
	var v mat.Dense
	e.VectorsTo(&v)
	return mat.Col(nil, w.d-1, &v)
}

// moved is the squared sine between the pooled outputs of the last quarter and of the one before,
// over what noise of these τ makes of it where nothing moves.
func (w *walk) moved() float64 {
	t := len(w.zs)
	a, b := w.pooled(t/2, t*3/4), w.pooled(t*3/4, t)
	c := linalg.Dot(a, b)
	noise := 0.0
	for _, q := range [][2]int{{t / 2, t * 3 / 4}, {t * 3 / 4, t}} {
		information := 0.0
		for i := q[0]; i < q[1]; i++ {
			information += linalg.Dot(w.zs[i], w.zs[i]) / (w.tau[i] * w.tau[i])
		}
		noise += float64(w.d-1) / information
	}
	return (1 - c*c) / noise
}

// grown is by how many standard deviations the variance along x_t grew from the quarter before to
// the last.
func (w *walk) grown() float64 {
	t := len(w.zs)
	mean, variance := [2]float64{}, 0.0
	for i, q := range [][2]int{{t / 2, t * 3 / 4}, {t * 3 / 4, t}} {
		weight := 0.0
		for s := q[0]; s < q[1]; s++ {
			f := 1 / (w.tau[s] * w.tau[s])
			mean[i] += f * linalg.Dot(w.xs[s], w.zs[s])
			weight += f
		}
		mean[i] /= weight
		variance += 1 / weight
	}
	return (mean[1] - mean[0]) / math.Sqrt(variance)
}

// noise is the last round's noise-to-signal.
func (w *walk) noise() float64 {
	z := w.zs[len(w.zs)-1]
	return w.tau[len(w.tau)-1] * math.Sqrt(float64(w.d)/linalg.Dot(z, z))
}

// rising asks t rounds by the rising schedule for a part of the budget, even by an even one.
func (w *walk) rising(t int, part float64) {
	for i := range t {
		w.step(part * float64(i+1) / float64(t*(t+1)/2))
	}
}

func (w *walk) even(t int, part float64) {
	for range t {
		w.step(part / float64(t))
	}
}

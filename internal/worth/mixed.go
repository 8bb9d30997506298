package worth

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"covey/internal/linalg"
	"covey/internal/result"
	"covey/internal/study"
)

// begun is a covariance whose components rounds started at. What it shows is relative to its trace,
// which has little noise: rows on the sphere have a trace of 1, so that noise and signal of rounds
// are, too.
type begun struct {
	s     float64   // its noise on the diagonal, over the mean eigenvalue
	shown []float64 // what it shows of the spectrum
	kept  float64   // of the leading variances in a step, by its clip
}

// misread is by how much, in logarithms, what a step's clip keeps may be another part: it is read
// off a histogram.
const misread = 0.01

// widerLoss times the loss that simulated studies bound is taken where rounds start at a
// covariance's components: spectra that show the same of it may lose more than those of the family.
// With fewer than wideColumns one direction above many equal ones, which the parts do not show,
// costs a study more than any of the family does.
const (
	widerLoss, widestLoss = 1.25, 1.75
	wideColumns           = 128
)

func (s *Share) widen(columns int) {
	factor := widerLoss
	if columns < wideColumns {
		factor = widestLoss
	}
	s.Lower = max(0, 1-factor*(1-s.Lower))
}

// begins reads the parts of a covariance whose components a study's rounds started at: those of a
// result that ended there, with the one that was clipped low, and in force, as the last. It returns
// why there are no figures, or "", and leaves sky.first nil where nothing stands out of the noise.
func (out *Report) begins(p *study.Plan, r *result.Result, sky *shape) (why string, err error) {
	ended := *r
	var moments []study.Release
	ended.Releases = nil
	for _, rel := range r.Releases {
		switch rel.Kind {
		case study.KindPower:
		case study.KindMoment:
			moments = append(moments, rel)
		default:
			ended.Releases = append(ended.Releases, rel)
		}
	}
	slices.Reverse(moments)
	ended.Releases = append(ended.Releases, moments...)
	ended.Radius = moments[len(moments)-1].Radius
	mu, vectors, tau, err := study.Spectrum(moments, r.D)
	if err != nil {
		return "", err
	}
	a := newSpectrum(mu, tau, int(sampleOf(r)), keptShare(r)*centerVariance(r))
	if a.heavy(p, &ended) {
		return heavyWhy, nil
	}
	out.Alarm = either(a.longer(&ended, vectors), hidden(p, &ended))
	if sky.first = a.begun(r.K); sky.first != nil {
		sky.first.kept = kept(r.K, p.Method.StepQuantile())
	}
	return "", nil
}

// begun is what the rounds of a study that started at this covariance's components are simulated
// with; nil where there is nothing but noise.
func (a *spectrum) begun(k int) *begun {
	top := 0.0
	for _, v := range a.mu[:k] {
		top += v / float64(k)
	}
	m := moments(a.mu)
	v := a.s * a.s / 2 * float64(len(a.mu)) // of the semicircle
	m[1] -= v
	m[2] -= 3 * v * m[0]
	m[3] -= 4*v*m[1] + 2*v*m[0]*m[0] + 2*v*v
	if !(m[0] > 0) || !(top > 0) {
		return nil
	}
	return &begun{s: a.s / m[0], shown: describe(m, top)}
}

// moments are those of eigenvalues, from the first.
func moments(values []float64) (m [4]float64) {
	for _, v := range values {
		for p, x := 0, v; p < len(m); p++ {
			m[p] += x / float64(len(values))
			x *= v
		}
	}
	return m
}

// describe is what a noised covariance shows of a spectrum of these moments, with the mean of its
// own leading eigenvalues, in logarithms.
func describe(m [4]float64, top float64) []float64 {
	out := []float64{math.Log(max(leastLoss, top/m[0]))}
	for p, v := range m[1:] {
		out = append(out, math.Log(max(leastLoss, v/math.Pow(m[0], float64(p+2)))))
	}
	return out
}

// leastLoss keeps logarithms finite.
const leastLoss = 1e-5

// expect is about what the covariance would show of a spectrum: the eigenvalues of a large matrix
// with noise begin at ω plus the sum of v/(ω-λ), where that of v/(ω-λ)² is 1.
func (b *begun) expect(lambda []float64) []float64 {
	m := moments(lambda)
	v := b.s * b.s / 2 * m[0] * m[0]
	at, sum := lambda[0]+math.Sqrt(v), 0.0 // not above ω, which Newton's steps reach from there
	for range 6 {
		square, cube := 0.0, 0.0
		sum = 0
		for _, l := range lambda {
			g := 1 / (at - l)
			sum += v * g
			square += v * g * g
			cube += v * g * g * g
		}
		at += (square - 1) / (2 * cube)
	}
	return describe(m, at+sum)
}

// proposed spectra are looked at for one draw, and the one that would show the most like the
// study's is taken: in units of widths.
const proposed = 40

var widths = []float64{0.02, 0.03, 0.06, 0.1}

func (b *begun) near(draw func() []float64) []float64 {
	var best []float64
	least := math.Inf(1)
	for range proposed {
		lambda, distance := draw(), 0.0
		for i, v := range b.expect(lambda) {
			x := (v - b.shown[i]) / widths[i]
			distance += x * x
		}
		if best == nil || distance < least {
			best, least = lambda, distance
		}
	}
	return best
}

// begin returns k leading directions of a matrix of these eigenvalues and noise, with what the
// matrix shows: by Lanczos' iteration, for which noise is drawn only along the directions that it
// asks about.
func (b *begun) begin(rng *rand.Rand, a []float64, k int, n float64) (start [][]float64, shown []float64) {
	steps, d, m := min(len(a)-1, 40+8*k), len(a), moments(a)
	deviation := math.Sqrt(b.s*b.s/2*m[0]*m[0] + 1/n) // of rows as a sample of their law, too
	v := normals(rng, 1, d)[0]
	for j := range v {
		v[j] *= math.Pow(a[j]/a[0], 8)
	}
	q := orthonormal([][]float64{v})
	var noise [][]float64 // of each of q
	h := mat.NewSymDense(steps, nil)
	for t := range steps {
		x, w := q[t], normals(rng, 1, d)[0]
		for j := range w {
			w[j] *= deviation
		}
		add(w, x, deviation*rng.NormFloat64())
		for i, b := range q[:t] {
			add(w, b, linalg.Dot(noise[i], x)-linalg.Dot(b, w))
		}
		noise = append(noise, w)
		y := slices.Clone(w)
		for j := range y {
			y[j] += a[j] * x[j]
		}
		for i, b := range q {
			h.SetSym(i, t, linalg.Dot(b, y))
		}
		if t+1 < steps {
			q = append(q, against(y, q))
		}
	}
	values, u, ok := linalg.Eigen(h)
	if !ok {
		return normals(rng, k, d), b.shown
	}
	top := 0.0
	for c := range k {
		x := make([]float64, d)
		for i := range steps {
			add(x, q[i], u.At(i, steps-1-c))
		}
		start = append(start, x)
		top += values[steps-1-c] / float64(k)
	}
	return start, describe(m, top)
}

// against is v less its part in the span of orthonormal basis, of unit length.
func against(v []float64, basis [][]float64) []float64 {
	v = slices.Clone(v)
	for range 2 {
		for _, b := range basis {
			add(v, b, -linalg.Dot(b, v))
		}
	}
	if n := linalg.Norm(v); n > 0 {
		for j := range v {
			v[j] /= n
		}
	}
	return v
}

// kept is what of the variance of k equal directions a clip of ‖Xᵀy‖ of normal rows at its quantile
// q leaves.
func kept(k int, q float64) float64 {
	half := float64(k) / 2
	square := mathext.GammaIncRegInv(half, q)
	up, _ := math.Lgamma(half + 0.5)
	down, _ := math.Lgamma(half)
	long := math.Sqrt(square) * math.Exp(up-down) * (1 - mathext.GammaIncReg(half+0.5, square))
	return mathext.GammaIncReg(half+1, square) + long/half
}

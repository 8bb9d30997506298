package prior

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"covey/internal/linalg"
)

// Begun is a covariance whose components rounds started at. What it shows is relative to its trace,
// which has little noise: rows on the sphere have a trace of 1, so that noise and signal of rounds
// are, too.
type Begun struct {
	Noise float64   // on the diagonal, over the mean eigenvalue
	Shown []float64 // what it shows of the spectrum
	Kept  float64   // of the leading variances in a step, by its clip
}

// Begin returns what rounds that started at the k leading components of a covariance are simulated
// with, by its eigenvalues mu, descending, and the noise s of its diagonal; nil where there is
// nothing but noise. A step clips at the quantile of rows.
func Begin(mu []float64, s float64, k int, quantile float64) *Begun {
	top := 0.0
	for _, v := range mu[:k] {
		top += v / float64(k)
	}
	m := moments(mu)
	v := s * s / 2 * float64(len(mu)) // of the semicircle
	m[1] -= v
	m[2] -= 3 * v * m[0]
	m[3] -= 4*v*m[1] + 2*v*m[0]*m[0] + 2*v*v
	if !(m[0] > 0) || !(top > 0) {
		return nil
	}
	return &Begun{Noise: s / m[0], Shown: describe(m, top), Kept: Kept(k, quantile)}
}

// misread is by how much, in logarithms, what a step's clip keeps may be another part: it is read
// off a histogram.
const misread = 0.01

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

// Expect is about what the covariance would show of a spectrum: the eigenvalues of a large matrix
// with noise begin at ω plus the sum of v/(ω-λ), where that of v/(ω-λ)² is 1.
func (b *Begun) Expect(lambda []float64) []float64 {
	m := moments(lambda)
	v := b.Noise * b.Noise / 2 * m[0] * m[0]
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

func (b *Begun) near(draw func() []float64) []float64 {
	var best []float64
	least := math.Inf(1)
	for range proposed {
		lambda, distance := draw(), 0.0
		for i, v := range b.Expect(lambda) {
			x := (v - b.Shown[i]) / widths[i]
			distance += x * x
		}
		if best == nil || distance < least {
			best, least = lambda, distance
		}
	}
	return best
}

// noised is a diagonal matrix a with symmetric normal noise, of which only what lies along basis is
// drawn: its products with each of that.
type noised struct {
	a            []float64
	deviation    float64 // of numbers off the diagonal
	basis, drawn [][]float64
}

// begin returns k leading directions of a matrix of these eigenvalues and noise, with what the
// matrix shows: by Lanczos' iteration, for which noise is drawn only along the directions that it
// asks about.
func (b *Begun) begin(rng *rand.Rand, a []float64, k int, n float64) (start [][]float64, shown []float64, of noised) {
	steps, d, m := min(len(a)-1, 40+8*k), len(a), moments(a)
	deviation := math.Sqrt(b.Noise*b.Noise/2*m[0]*m[0] + 1/n) // of rows as a sample of their law, too
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
			add(w, b, floats.Dot(noise[i], x)-floats.Dot(b, w))
		}
		noise = append(noise, w)
		y := slices.Clone(w)
		for j := range y {
			y[j] += a[j] * x[j]
		}
		for i, b := range q {
			h.SetSym(i, t, floats.Dot(b, y))
		}
		if t+1 < steps {
			q = append(q, against(y, q))
		}
	}
	values, u, ok := linalg.Eigen(h)
	if !ok {
		return normals(rng, k, d), b.Shown, noised{a, deviation, q, noise}
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
	return start, describe(m, top), noised{a, deviation, q, noise}
}

// along returns the matrix in coordinates of an orthonormal basis, with new noise where none was
// drawn.
func (m noised) along(rng *rand.Rand, basis [][]float64) [][]float64 {
	through, rest := make([][]float64, len(basis)), make([][]float64, len(basis))
	for i, v := range basis {
		in := coordinates(v, m.basis)
		through[i] = combined(in, m.drawn) // the noise times what of v has been drawn
		rest[i] = combined(in, m.basis)
		for j, x := range v {
			rest[i][j] = x - rest[i][j]
		}
	}
	outside := span(rest)
	fresh := make([][]float64, len(outside))
	for i := range fresh {
		fresh[i] = make([]float64, len(outside))
		for j := range i {
			fresh[i][j] = m.deviation * rng.NormFloat64()
			fresh[j][i] = fresh[i][j]
		}
		fresh[i][i] = m.deviation * math.Sqrt2 * rng.NormFloat64()
	}
	out, at := make([][]float64, len(basis)), make([][]float64, len(basis))
	for i := range basis {
		at[i] = coordinates(rest[i], outside)
	}
	for i, v := range basis {
		scaled := make([]float64, len(v))
		for j, x := range v {
			scaled[j] = m.a[j] * x
		}
		out[i] = coordinates(scaled, basis)
		var drawn []float64
		if len(outside) > 0 {
			drawn = combined(at[i], fresh)
		}
		for j, w := range basis {
			out[i][j] += floats.Dot(w, through[i]) + floats.Dot(through[j], rest[i])
			if drawn != nil {
				out[i][j] += floats.Dot(drawn, at[j])
			}
		}
	}
	return out
}

// against is v less its part in the span of orthonormal basis, of unit length.
func against(v []float64, basis [][]float64) []float64 {
	v = slices.Clone(v)
	for range 2 {
		for _, b := range basis {
			add(v, b, -floats.Dot(b, v))
		}
	}
	if n := linalg.Norm(v); n > 0 {
		for j := range v {
			v[j] /= n
		}
	}
	return v
}

// Kept is what of the variance of k equal directions a clip of ‖Xᵀy‖ of normal rows at its quantile
// q leaves.
func Kept(k int, q float64) float64 {
	half := float64(k) / 2
	square := mathext.GammaIncRegInv(half, q)
	up, _ := math.Lgamma(half + 0.5)
	down, _ := math.Lgamma(half)
	long := math.Sqrt(square) * math.Exp(up-down) * (1 - mathext.GammaIncReg(half+0.5, square))
	return mathext.GammaIncReg(half+1, square) + long/half
}

package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"covey/internal/linalg"
)

// criterion is what varimax makes largest: Σ over columns of the variance of squared entries.
func criterion(columns [][]float64) float64 {
	sum := 0.0
	for _, v := range columns {
		var square, fourth float64
		for _, x := range v {
			square += x * x
			fourth += x * x * x * x
		}
		n := float64(len(v))
		sum += fourth/n - (square/n)*(square/n)
	}
	return sum
}

// TestVarimaxOfTwo: of two axes the angle is the best of all angles, which are tried.
func TestVarimaxOfTwo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		a, b := make([]float64, 6), make([]float64, 6)
		for j := range a {
			a[j], b[j] = rng.NormFloat64(), rng.NormFloat64()
		}
		turned := func(angle float64) [][]float64 {
			x, y := make([]float64, 6), make([]float64, 6)
			for j := range a {
				x[j], y[j] = math.Cos(angle)*a[j]+math.Sin(angle)*b[j], math.Cos(angle)*b[j]-math.Sin(angle)*a[j]
			}
			return [][]float64{x, y}
		}
		best := 0.0
		for i := range 20_000 {
			best = max(best, criterion(turned(math.Pi/2*float64(i)/20_000)))
		}
		turn := varimax([][]float64{a, b})
		if got := criterion(turned(math.Atan2(turn[2], turn[0]))); got < best*(1-1e-6) {
			t.Errorf("criterion %v, the best angle has %v", got, best)
		}
	}
}

// TestVarimaxFindsSimpleStructure: axes that each have columns of their own are found again after
// any rotation of them.
func TestVarimaxFindsSimpleStructure(t *testing.T) {
	simple := [][]float64{
		{0.8, 0.6, 0, 0, 0, 0, 0},
		{0, 0, 0.7, 0.7, 0.141421356237309515, 0, 0},
		{0, 0, 0, 0, 0, 0.6, -0.8},
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		m := &Model{d: 7, k: 3, variances: []float64{3, 2, 1}}
		mixed := [][]float64{}
		for range 3 { // a random rotation
			w := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			v := make([]float64, 7)
			for i, s := range simple {
				for j := range v {
					v[j] += w[i] * s[j]
				}
			}
			for _, u := range mixed {
				s := linalg.Dot(u, v)
				for j := range v {
					v[j] -= s * u[j]
				}
			}
			n := math.Sqrt(linalg.Dot(v, v))
			for j := range v {
				v[j] /= n
			}
			mixed = append(mixed, v)
			m.components = append(m.components, v...)
		}
		r := m.Rotate()
		sum := 0.0
		for l, axis := range r.Axes {
			best := 0.0
			for _, s := range simple {
				best = max(best, math.Abs(linalg.Dot(axis, s)))
			}
			if best < 1-1e-9 {
				t.Errorf("axis %d is %v", l+1, axis)
			}
			sum += r.Variances[l]
			if l > 0 && r.Variances[l] > r.Variances[l-1] {
				t.Errorf("variances %v", r.Variances)
			}
		}
		if math.Abs(sum-6) > 1e-12 {
			t.Errorf("the variances add up to %v, those of the components to 6", sum)
		}
		// Scores turn as the axes do.
		z := []float64{1, -2, 3, 0.5, 2, 1, -1}
		scores, out := make([]float64, 3), make([]float64, 3)
		for i, v := range mixed {
			scores[i] = linalg.Dot(z, v)
		}
		m.turned(out, scores)
		for l, axis := range r.Axes {
			if want := linalg.Dot(z, axis); math.Abs(out[l]-want) > 1e-12 {
				t.Errorf("rotated score %v, want %v", out[l], want)
			}
		}
	}
}

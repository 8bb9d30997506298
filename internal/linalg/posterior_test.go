package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestLeadingIsTheMeans: the posterior mean is what conditioning all numbers of the matrix on all
// numbers of the products gives, by one linear system without the eigenvectors of what was asked.
func TestLeadingIsTheMeans(t *testing.T) {
	const m, k = 5, 2
	rng := rand.New(rand.NewPCG(3, 4))
	var at [][2]int // of the matrix's numbers
	for i := range m {
		for j := i; j < m; j++ {
			at = append(at, [2]int{i, j})
		}
	}
	for range 20 {
		prior := Prior{Variance: 0.1 + rng.Float64()}
		for range m {
			prior.Mean = append(prior.Mean, make([]float64, m))
		}
		precision, right := mat.NewSymDense(len(at), nil), mat.NewVecDense(len(at), nil)
		for n, ij := range at {
			v := rng.NormFloat64()
			prior.Mean[ij[0]][ij[1]], prior.Mean[ij[1]][ij[0]] = v, v
			of := 2 / prior.Variance
			if ij[0] == ij[1] {
				of = 1 / prior.Variance
			}
			precision.SetSym(n, n, of)
			right.SetVec(n, of*v)
		}
		var products []Products
		for range 3 {
			p := Products{Tau: 0.2 + rng.Float64()}
			for range k {
				x, z := make([]float64, m), make([]float64, m)
				for i := range m {
					x[i], z[i] = rng.NormFloat64(), rng.NormFloat64()
				}
				p.X, p.Z = append(p.X, x), append(p.Z, z)
				for i := range m { // z[i] = Σ S(i,j) x[j] + noise
					row := make([]float64, len(at))
					for n, ij := range at {
						if ij[0] == i {
							row[n] = x[ij[1]]
						} else if ij[1] == i {
							row[n] = x[ij[0]]
						}
					}
					for a := range at {
						right.SetVec(a, right.AtVec(a)+row[a]*z[i]/(p.Tau*p.Tau))
						for b := a; b < len(at); b++ {
							precision.SetSym(a, b, precision.At(a, b)+row[a]*row[b]/(p.Tau*p.Tau))
						}
					}
				}
			}
			products = append(products, p)
		}
		var solved mat.VecDense
		if err := solved.SolveVec(precision, right); err != nil {
			t.Fatal(err)
		}
		want := mat.NewSymDense(m, nil)
		for n, ij := range at {
			want.SetSym(ij[0], ij[1], solved.AtVec(n))
		}
		_, w, _ := Eigen(want)
		got, ok := prior.Leading(products, k)
		if !ok || len(got) != k {
			t.Fatal(got, ok)
		}
		for c, v := range got {
			if x := math.Abs(Dot(v, mat.Col(nil, m-1-c, w))); math.Abs(x-1) > 1e-9 {
				t.Errorf("direction %d is off by a cosine of %v", c, x)
			}
		}
	}
}

// TestPriorOf: a noised copy of a matrix of known spread is shrunk towards its mean eigenvalue by
// as much as brings it nearest, and one of nothing but noise to less than a tenth.
func TestPriorOf(t *testing.T) {
	const d, tau = 120, 0.05
	rng := rand.New(rand.NewPCG(5, 6))
	for name, spread := range map[string]float64{"spread": 0.5, "nothing": 0} {
		truth, noised := square(d), square(d)
		mean, sum := 0.0, 0.0
		for i := range d {
			truth[i][i] = 1 + spread*(2*float64(i)/(d-1)-1)
			for j := range i {
				g := tau / math.Sqrt2 * rng.NormFloat64()
				noised[i][j], noised[j][i] = g, g
			}
			noised[i][i] = truth[i][i] + tau*rng.NormFloat64()
			mean += noised[i][i] / d
		}
		for i := range d {
			sum += Dot(noised[i], noised[i]) / d
		}
		p := PriorOf(noised, mean, sum, tau, d)
		away := func(w float64) (out float64) {
			for i := range d {
				for j := range d {
					to := w * noised[i][j]
					if i == j {
						to += (1 - w) * mean
					}
					out += (to - truth[i][j]) * (to - truth[i][j])
				}
			}
			return out
		}
		w := p.Variance / (tau * tau)
		best := spread == 0 || away(w) < 1.02*min(away(w+0.05), away(w-0.05))
		if now := away(w); !best || (spread == 0) != (w < 0.1) {
			t.Errorf("%s: a weight of %.3f is %.4f away, of 0.05 more %.4f, of less %.4f", name, w, now, away(w+0.05), away(w-0.05))
		}
		if off, on := p.Mean[3][7], p.Mean[3][3]; math.Abs(off-w*noised[3][7]) > 1e-12 || math.Abs(on-w*noised[3][3]-(1-w)*mean) > 1e-12 {
			t.Errorf("%s: %v off the diagonal, %v on it", name, off, on)
		}
	}
}

// TestShrinkage: a noised copy has weight by what it shows beyond noise, a tenth of that at least,
// and never none.
func TestShrinkage(t *testing.T) {
	const d, mean, noise = 200, 1.0, 0.25 // of variance
	tau := math.Sqrt(2 * noise / d)
	for name, c := range map[string]struct{ shown, want float64 }{
		"much":         {1, 0.75},
		"little":       {1.02 * noise, 0.102 / 1.102},
		"less":         {0.9 * noise, 0.09 / 1.09},
		"nothing":      {0, 0.1},
		"rounded down": {-1e-9, 0.1},
		"not a number": {math.NaN(), 0.1},
	} {
		if got := Shrinkage(mean, mean*mean+c.shown, tau, d); !(math.Abs(got-c.want) < 1e-6) {
			t.Errorf("%s: a weight of %v, want %v", name, got, c.want)
		}
	}
}

// TestSpan: a basis of vectors of which some depend on others, or have no direction, has no vector
// for these.
func TestSpan(t *testing.T) {
	got := Span([][]float64{{0, 0, 0}, {3, 0, 4}, {-6, 0, -8}, {1, 2, 0}, {4, 2, 4}})
	if len(got) != 2 {
		t.Fatalf("the basis is %v", got)
	}
	if a, b, c := Dot(got[0], got[0]), Dot(got[1], got[1]), Dot(got[0], got[1]); math.Abs(a-1) > 1e-12 || math.Abs(b-1) > 1e-12 || math.Abs(c) > 1e-12 {
		t.Errorf("products are %v, %v and %v", a, b, c)
	}
}

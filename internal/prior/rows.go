package prior

import (
	"math"
	"math/rand/v2"
	"slices"

	"covey/internal/linalg"
)

// tilts are the squared tangents of each output's angle to its own eigenvector.
func tilts(output [][]float64) []float64 {
	out := make([]float64, len(output))
	for i, v := range output {
		c := v[i] * v[i]
		out[i] = max(0, 1-c) / max(c, 1e-9)
	}
	return out
}

// noiseless is what the start gives after as many rounds of the law itself.
func (s *Study) noiseless(a, lambda []float64, start [][]float64) float64 {
	x := make([][]float64, s.K)
	for i := range x {
		x[i] = append([]float64(nil), start[i]...)
	}
	for t := 0; t < len(s.Tau); t += 4 { // four rounds between two orthonormalizations
		power := float64(min(4, len(s.Tau)-t))
		for i := range x {
			for l := range x[i] {
				x[i][l] *= math.Pow(a[l]/a[0], power)
			}
		}
		x = orthonormal(x)
	}
	return Captured(lambda, x)
}

// damping is what the clip of a block leaves of each strong direction, relative to the first, for
// normal rows whose norms are alike: E[si² min(1, R/‖s‖)] / E[si²] at the 0.9 quantile R of ‖s‖.
func damping(rng *rand.Rand, top []float64) []float64 {
	const rows = 120
	out := make([]float64, len(top))
	if len(top) == 1 {
		return []float64{1}
	}
	all := make([][]float64, rows)
	lengths := make([]float64, rows)
	for r := range all {
		all[r] = make([]float64, len(top))
		for i, v := range top {
			all[r][i] = math.Sqrt(v) * rng.NormFloat64()
		}
		lengths[r] = math.Sqrt(linalg.Dot(all[r], all[r]))
	}
	bound := slices.Sorted(slices.Values(lengths))[rows*9/10]
	whole := make([]float64, len(top))
	for r, row := range all {
		w := min(1, bound/lengths[r])
		for i, v := range row {
			out[i] += w * v * v
			whole[i] += v * v
		}
	}
	for i := range out {
		out[i] /= whole[i]
	}
	return out
}

// conjugate is U diag(v) Uᵀ.
func conjugate(u [][]float64, v []float64) [][]float64 {
	out := make([][]float64, len(v))
	for i := range out {
		out[i] = make([]float64, len(v))
		for j := range v {
			for l := range v {
				out[i][j] += u[i][l] * v[l] * u[j][l]
			}
		}
	}
	return out
}

func normals(rng *rand.Rand, k, d int) [][]float64 {
	out := make([][]float64, k)
	for i := range out {
		out[i] = make([]float64, d)
		for l := range out[i] {
			out[i][l] = rng.NormFloat64()
		}
	}
	return out
}

// nodes of the integral in Sphere, geometric.
const nodes = 64

// Sphere returns E[λi gi² / Σ λj gj²] for independent normal g: the second moment of rows of
// spectrum λ that are put on the unit sphere. It sums to 1. The mean is ∫ λi/(1+2λi t) Π (1+2λj
// t)^-1/2 dt over t > 0, here over log t by the trapezoid rule.
func Sphere(lambda []float64) []float64 {
	trace := 0.0
	for _, l := range lambda {
		trace += l
	}
	out := make([]float64, len(lambda))
	if !(trace > 0) {
		return out
	}
	const low, high = -10.0, 11.0 // t·trace = e^low..e^high; the integrand is negligible outside
	sum := 0.0
	for q := range nodes {
		t := math.Exp(low+(high-low)*float64(q)/(nodes-1)) / trace
		log := 0.0
		for _, l := range lambda {
			log += math.Log1p(2 * l * t)
		}
		w := t * math.Exp(-log/2)
		for i, l := range lambda {
			v := w * l / (1 + 2*l*t)
			out[i] += v
			sum += v
		}
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

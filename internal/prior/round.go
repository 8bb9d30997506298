package prior

import (
	"math"
	"slices"

	"covey/internal/linalg"
)

// Round is one power step: what it asked about, what came and the noise of each coordinate.
type Round struct {
	X, Z [][]float64
	Tau  float64
}

// Turned is the largest angle between what was asked about and the answer, in degrees.
func (r Round) Turned() float64 {
	values, _ := linalg.Jacobi(product(gram(r.X, orthonormal(r.Z))))
	c := math.Sqrt(max(0, min(1, values[len(values)-1])))
	return math.Acos(c) * 180 / math.Pi
}

// Signal is the size of what rounds show beyond noise: the median over the last three of the mean
// eigenvalue of XᵀZ, made symmetric.
func Signal(seen []Round) float64 {
	var all []float64
	for _, s := range seen[max(0, len(seen)-3):] {
		values, _ := linalg.Jacobi(symmetric(gram(s.X, s.Z)))
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		all = append(all, sum/float64(len(values)))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Features are what the simulated studies are compared by: of each round the size of the answer
// along what was asked about, its part across that is more than noise, and how far the round still
// was from the output; and how far rounds are from each other.
func Features(seen []Round, output [][]float64) []float64 {
	theta := Signal(seen)
	var out []float64
	d, k := len(output[0]), len(output)
	first := max(0, len(seen)-24)
	if k > 1 {
		first = max(0, len(seen)-8)
	}
	for _, s := range seen[first:] {
		xz := gram(s.X, s.Z)
		values, u := linalg.Jacobi(symmetric(xz))
		for i, v := range values {
			out = append(out, v/theta)
			zu := make([]float64, d)
			inside := 0.0
			for c := range k {
				for l, z := range s.Z[c] {
					zu[l] += u[c][i] * z
				}
				part := 0.0
				for e := range k {
					part += xz[c][e] * u[e][i]
				}
				inside += part * part
			}
			rest := (linalg.Dot(zu, zu) - float64(d)*s.Tau*s.Tau - inside) / (theta * theta)
			out = append(out, math.Copysign(math.Sqrt(math.Abs(rest)), rest))
		}
		overlap := 0.0
		for _, row := range gram(s.X, output) {
			overlap += linalg.Dot(row, row)
		}
		out = append(out, math.Log(max(1e-4, 1-overlap/float64(k))))
	}
	return append(out, apart(seen)...)
}

// leastApart keeps logarithms of distances finite.
const leastApart = 1e-6

// apart is how far rounds are from each other, in logarithms of the part of one span outside the
// other. Noise pushes a direction away anew in each round, and the rounds behind bring it back as
// fast as its variance is less: that rounds far apart in time are far apart in space tells equal
// variances, which cost nothing, from those that fall slowly. Distances are means over the later
// half by the time between, of the whole span and of its worst direction, and of a grid of rounds.
func apart(seen []Round) []float64 {
	x := make([][][]float64, 0, len(seen)+1)
	for _, s := range seen {
		x = append(x, s.X)
	}
	x = append(x, orthonormal(seen[len(seen)-1].Z))
	k, n := float64(len(x[0])), len(x)
	between := func(t, s int) (span, worst float64) {
		values, _ := linalg.Jacobi(product(gram(x[t], x[s])))
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		return max(leastApart, 1-sum/k), max(leastApart, 1-values[len(values)-1])
	}
	var out []float64
	half := n / 2
	for lag := 1; lag < half; lag++ {
		sum, low := 0.0, 0.0
		for t := n - half + lag; t < n; t++ {
			span, worst := between(t, t-lag)
			sum += span
			low += worst
		}
		out = append(out, math.Log(sum/float64(half-lag)))
		if k > 1 {
			out = append(out, math.Log(low/float64(half-lag)))
		}
	}
	for s := 1; s < n; s += 2 {
		for t := s + 2; t < n; t += 4 {
			span, _ := between(t, s)
			out = append(out, math.Log(span))
		}
	}
	return out
}

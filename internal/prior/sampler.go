package prior

import (
	"math"
	"math/rand/v2"

	"covey/internal/linalg"
)

// sampler is how n rows differ from their law: by a symmetric normal matrix S with E[Sij²] = ai
// aj/n. It is the same in every round, but drawn only along the directions that rounds ask about:
// only what the previous block does not span is drawn afresh.
type sampler struct {
	root       []float64 // √(a/√n)
	last       [][]float64
	lastAnswer [][]float64
}

func (s *sampler) add(rng *rand.Rand, x, y [][]float64) {
	v := make([][]float64, len(x))
	for i := range x {
		v[i] = make([]float64, len(s.root))
		for l, r := range s.root {
			v[i][l] = r * x[i][l]
		}
	}
	// v = Q·C with orthonormal Q; W Q is fresh but for what lies in the last Q's span.
	q := orthonormal(v)
	answer := make([][]float64, len(q))
	for i := range q {
		answer[i] = make([]float64, len(s.root))
	}
	if s.last == nil {
		for i := range q {
			for l := range answer[i] {
				answer[i][l] = rng.NormFloat64()
			}
		}
	} else {
		overlap := gram(s.last, q)
		// What is left of each direction is not orthogonal to what is left of the others: draw
		// along the eigenvectors of I - OᵀO.
		k := len(q)
		left := make([][]float64, k)
		for i := range left {
			left[i] = make([]float64, k)
			for j := range left[i] {
				if i == j {
					left[i][j] = 1
				}
				for l := range k {
					left[i][j] -= overlap[l][i] * overlap[l][j]
				}
			}
		}
		size, u := linalg.Jacobi(left)
		for e := range k {
			scale := math.Sqrt(max(0, size[e]))
			for l := range s.root {
				g := scale * rng.NormFloat64()
				for i := range k {
					answer[i][l] += u[i][e] * g
				}
			}
		}
		for i := range k {
			for j := range k {
				add(answer[i], s.lastAnswer[j], overlap[j][i])
			}
		}
	}
	s.last, s.lastAnswer = q, answer
	c := gram(q, v)
	for i := range y {
		for j := range q {
			if c[j][i] == 0 {
				continue
			}
			for l, r := range s.root {
				y[i][l] += r * answer[j][l] * c[j][i]
			}
		}
	}
}

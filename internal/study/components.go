package study

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// From poolRounds on the later half of the rounds has converged, and output = "auto" pools it. With
// fewer, x_T is as good or better where the noise-to-signal of z_T is below autoNoise
// (docs/experiments.md).
const (
	poolRounds = 24
	autoNoise  = 0.12
)

// outputs are what one run of power steps may give: for each name, vectors of d.
type outputs struct {
	vectors map[string][][]float64
	chosen  string
	noise   float64 // noise-to-signal of the last step
}

// outputs makes all of them from a run's power releases, in order: post-processing, so
// free. Components come by falling size.
func (p *Plan) outputs(steps []Release) (outputs, error) {
	last := steps[len(steps)-1]
	run := p.Queries[last.Query].Run
	k := p.block()
	lastX, _, err := leading(last.columns(p.D), k)
	if err != nil {
		return outputs{}, err
	}
	pooled, err := p.pooled(steps)
	if err != nil {
		return outputs{}, err
	}
	out := outputs{noise: p.NoiseToSignal(last), chosen: p.Proposal.Spec.Output, vectors: map[string][][]float64{
		// X_J is what round J was asked about
		OutputRandom: split(steps[p.RandomRound(run)].X, p.D),
		OutputLast:   orthonormalize(lastX, split(last.X, p.D)),
		OutputPooled: orthonormalize(pooled, split(last.X, p.D)),
	}}
	if out.chosen == OutputAuto {
		out.chosen = OutputPooled
		if p.Rounds < poolRounds && out.noise < autoNoise {
			out.chosen = OutputLast
		}
	}
	for name, vectors := range out.vectors {
		out.vectors[name] = orientAll(vectors)
	}
	return out, nil
}

// pooled are the k leading directions of Σ_{t≥T/2} Z_t Z_tᵀ/τ_t² over power releases in
// order (docs/experiments.md, with each round weighted by its own noise).
func (p *Plan) pooled(steps []Release) ([][]float64, error) {
	half := steps[len(steps)/2:]
	last := half[len(half)-1].Tau()
	var columns [][]float64
	for _, s := range half {
		for _, v := range s.columns(p.D) {
			for j := range v {
				v[j] *= last / s.Tau() // relative to the last, to stay in range
			}
			columns = append(columns, v)
		}
	}
	v, _, err := leading(columns, p.block())
	return v, err
}

// leading returns the k leading left singular vectors, not normalized, and singular values
// of the matrix with these columns, by falling size. Its Gram matrix is small: columns are
// rounds times components, while d may be large.
func leading(columns [][]float64, k int) ([][]float64, []float64, error) {
	big := 0.0
	for _, v := range columns {
		big = max(big, norm(v))
	}
	if !(big > 0) || math.IsInf(big, 0) {
		return make([][]float64, k), make([]float64, k), nil
	}
	m := len(columns)
	gram := mat.NewSymDense(m, nil)
	for i := range columns {
		for j := i; j < m; j++ {
			sum := 0.0
			for l, a := range columns[i] {
				sum += float64((a / big) * (columns[j][l] / big))
			}
			gram.SetSym(i, j, sum)
		}
	}
	values, w, ok := allEigen(gram)
	if !ok {
		return nil, nil, fieldError("releases", "the components' eigenvalues do not converge")
	}
	vectors, size := make([][]float64, k), make([]float64, k)
	for i := range k {
		v := make([]float64, len(columns[0]))
		for j, c := range columns {
			f := w.At(j, m-1-i)
			for l := range v {
				v[l] += float64(f * c[l])
			}
		}
		vectors[i], size[i] = v, big*math.Sqrt(max(0, values[m-1-i]))
	}
	return vectors, size, nil
}

func orientAll(vectors [][]float64) [][]float64 {
	out := make([][]float64, len(vectors))
	for i, v := range vectors {
		out[i] = orient(v)
	}
	return out
}

// orient returns x with its largest loading positive.
func orient(x []float64) []float64 {
	x = slices.Clone(x)
	at := 0
	for i, v := range x {
		if math.Abs(v) > math.Abs(x[at]) {
			at = i
		}
	}
	if x[at] < 0 {
		for i := range x {
			x[i] = -x[i]
		}
	}
	return x
}

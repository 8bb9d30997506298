package worth

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
)

// regression is a ridge regression on standardized features and their squares.
type regression struct {
	draws        []draw
	mean, spread []float64
	rows         *mat.Dense
	factor       mat.Cholesky
}

func regress(draws []draw) (*regression, error) {
	width := len(draws[0].features)
	f := &regression{draws: draws, mean: make([]float64, width), spread: make([]float64, width)}
	for i := range width {
		for _, d := range draws {
			f.mean[i] += d.features[i] / float64(len(draws))
		}
		for _, d := range draws {
			f.spread[i] += (d.features[i] - f.mean[i]) * (d.features[i] - f.mean[i]) / float64(len(draws))
		}
		f.spread[i] = math.Sqrt(f.spread[i]) + 1e-12
	}
	f.rows = mat.NewDense(len(draws), 2*width+1, nil)
	for i, d := range draws {
		f.rows.SetRow(i, f.row(d.features))
	}
	gram := mat.NewSymDense(2*width+1, nil)
	gram.SymOuterK(1, f.rows.T())
	for i := range 2*width + 1 {
		gram.SetSym(i, i, gram.At(i, i)+ridge*float64(len(draws)))
	}
	if !f.factor.Factorize(gram) {
		return nil, errNotPositive
	}
	return f, nil
}

// row is a constant, the standardized features, kept within ±6, and their squares.
func (f *regression) row(features []float64) []float64 {
	out := make([]float64, 1, 2*len(features)+1)
	out[0] = 1
	for i, v := range features {
		out = append(out, max(-6, min(6, (v-f.mean[i])/f.spread[i])))
	}
	for _, v := range out[1 : len(features)+1] {
		out = append(out, v*v-1)
	}
	return out
}

func (f *regression) solve(answer func(draw) float64) []float64 {
	y := mat.NewVecDense(len(f.draws), nil)
	for i, d := range f.draws {
		y.SetVec(i, answer(d))
	}
	var right, w mat.VecDense
	right.MulVec(f.rows.T(), y)
	f.factor.SolveVecTo(&w, &right) // an ill-conditioned one still orders the draws
	return w.RawVector().Data
}

func (f *regression) predict(weights, features []float64) float64 {
	return linalg.Dot(weights, f.row(features))
}

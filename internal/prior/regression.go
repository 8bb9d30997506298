package prior

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
)

const (
	// fitted is the part of the draws that the regression sees; the others are compared with the
	// study, since on the same draws the bound would be too good.
	fitted = 0.4
	// nearest is how many of them are.
	nearest = 100
	ridge   = 1e-3
)

// Fit compares studies with draws: a regression predicts each answer from what a study shows, and
// the nearest in prediction, among the rest, which the regression has not seen, say how far answers
// spread.
type Fit struct {
	*regression
	rest []Draw
}

// Learn fits a regression to a part of the draws and keeps the others.
func Learn(draws []Draw) (*Fit, error) {
	cut := int(fitted * float64(len(draws)))
	r, err := regress(draws[:cut])
	return &Fit{r, draws[cut:]}, err
}

// Like returns the draws whose answers are predicted as near to those of a study that shows mine as
// errors allow.
func (f *Fit) Like(mine []float64, answers ...func(Draw) float64) []Draw {
	distance := make([]float64, len(f.rest))
	for _, answer := range answers {
		weights := f.solve(answer)
		at := f.predict(weights, mine)
		away, square := make([]float64, len(f.rest)), 0.0
		for i, d := range f.rest {
			guess := f.predict(weights, d.Features)
			away[i] = guess - at
			square += (guess - answer(d)) * (guess - answer(d)) / float64(len(f.rest))
		}
		for i, a := range away {
			distance[i] += a * a / (square + 1e-12)
		}
	}
	order := make([]int, len(f.rest))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b))
	})
	var out []Draw
	for _, i := range order[:min(nearest, len(order))] {
		out = append(out, f.rest[i])
	}
	return out
}

// regression is a ridge regression on standardized features and their squares.
type regression struct {
	draws        []Draw
	mean, spread []float64
	rows         *mat.Dense
	factor       mat.Cholesky
}

func regress(draws []Draw) (*regression, error) {
	width := len(draws[0].Features)
	f := &regression{draws: draws, mean: make([]float64, width), spread: make([]float64, width)}
	for i := range width {
		for _, d := range draws {
			f.mean[i] += d.Features[i] / float64(len(draws))
		}
		for _, d := range draws {
			f.spread[i] += (d.Features[i] - f.mean[i]) * (d.Features[i] - f.mean[i]) / float64(len(draws))
		}
		f.spread[i] = math.Sqrt(f.spread[i]) + 1e-12
	}
	f.rows = mat.NewDense(len(draws), 2*width+1, nil)
	for i, d := range draws {
		f.rows.SetRow(i, f.row(d.Features))
	}
	gram := mat.NewSymDense(2*width+1, nil)
	gram.SymOuterK(1, f.rows.T())
	for i := range 2*width + 1 {
		gram.SetSym(i, i, gram.At(i, i)+ridge*float64(len(draws)))
	}
	if !f.factor.Factorize(gram) {
		return nil, errors.New("prior: the regression has no solution")
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

func (f *regression) solve(answer func(Draw) float64) []float64 {
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

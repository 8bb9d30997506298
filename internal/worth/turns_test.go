package worth

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/study"
)

// TestClipTurnsCorrelations: of three copies of a column, among others, the clip takes more than of
// these, so that dividing by the diagonal turns components by degrees that no noise explains. The
// bounds of angles and gaps have what rows clipped like that show.
func TestClipTurnsCorrelations(t *testing.T) {
	const d, n, bound = 8, 200_000, 7.0
	rng := seeded(21)
	load := mat.NewDense(d, 3, nil)
	load.Apply(func(_, f int, _ float64) float64 { return []float64{1, 0.7, 0.6}[f] * rng.NormFloat64() }, load)
	for _, copied := range []int{1, 2} {
		load.SetRow(copied, mat.Row(nil, 0, load))
	}
	deviation := make([]float64, d)
	for j := range deviation {
		row := load.RawRowView(j)
		deviation[j] = math.Sqrt(linalg.Dot(row, row) + 0.5)
	}
	moment, whole := mat.NewSymDense(d, nil), mat.NewSymDense(d, nil)
	for range n {
		f := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		y := make([]float64, d)
		for j := range y {
			if y[j] = (linalg.Dot(load.RawRowView(j), f[:]) + math.Sqrt(0.5)*rng.NormFloat64()) / deviation[j]; j == 1 || j == 2 {
				y[j] = y[0]
			}
		}
		row := mat.NewVecDense(d, y)
		whole.SymRankOne(whole, 1.0/n, row)
		moment.SymRankOne(moment, min(1, bound/linalg.Dot(y, y))/n, row)
	}
	c := &study.Correlation{Tau: 1e-4}
	for j := range d {
		c.In, c.Factors = append(c.In, j), append(c.Factors, math.Sqrt(moment.At(j, j)))
	}
	correlation := func(m *mat.SymDense) *mat.SymDense {
		out := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				out.SetSym(i, j, m.At(i, j)/math.Sqrt(m.At(i, i)*m.At(j, j)))
			}
		}
		return out
	}
	values, vectors, _ := linalg.Eigen(correlation(moment))
	for i := range d {
		c.Values, c.Vectors = append(c.Values, values[d-1-i]), append(c.Vectors, mat.Col(nil, d-1-i, vectors))
	}
	for i := range c.Values {
		c.Values[i] = max(0, c.Values[i]) // copies leave some at 0
	}
	turns, truth := clipTurns(c, c.Values, bound), correlation(whole)
	most := 0.0
	for i, v := range c.Vectors {
		for j, w := range c.Vectors {
			want := mat.Inner(mat.NewVecDense(d, v), truth, mat.NewVecDense(d, w))
			if i == j {
				want -= c.Values[i]
			} else {
				most = max(most, math.Abs(want))
			}
			if math.Abs(turns[i][j]-want) > 0.02 {
				t.Errorf("between %d and %d the clip put %.3f, not %.3f", i, j, want, turns[i][j])
			}
		}
	}
	if most < 0.05 {
		t.Fatalf("the clip turns nothing: %v", most)
	}
	_, ofTruth, _ := linalg.Eigen(truth)
	a := &spectrum{mu: c.Values, s: c.Tau, n: n, xi: c.Values, learned: newLearned(c)}
	a.learned.turns = turns
	still := &spectrum{mu: c.Values, s: c.Tau, n: n, xi: c.Values, learned: newLearned(c)}
	missed := 0
	for i := range 3 {
		cos := linalg.Dot(c.Vectors[i], mat.Col(nil, d-1-i, ofTruth))
		tangent := (1 - cos*cos) / (cos * cos)
		if tangent > a.tangent(i, i+1) {
			t.Errorf("component %d is off by %v, the bound is %v", i+1, tangent, a.tangent(i, i+1))
		}
		if tangent > still.tangent(i, i+1) {
			missed++
		}
		if x := (c.Values[i] + c.Values[i+1]) / 2; !(a.learned.gap(i, x, n) > still.learned.gap(i, x, n)) {
			t.Errorf("the clip's part is not in the gap behind component %d", i+1)
		}
	}
	if missed == 0 {
		t.Error("bounds without the clip's part hold: the rows are too easy")
	}
}

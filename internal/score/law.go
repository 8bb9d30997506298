package score

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// Limit is above what a row is flagged at one quantile. The laws are those of normal rows with the
// result's own released variances, so that a row's flags depend on that row and the result alone,
// and are the same at every site:
//
//   - T² is chi-square with k degrees of freedom;
//   - the squared prediction error is the mean variance of all other directions times chi-square
//     with as many degrees of freedom as there are such directions, as in probabilistic PCA
//     (Tipping, Bishop 1999).
//
// Rows are seldom normal, the other directions seldom all alike, and variances of clipped rows
// too small: more rows are flagged then.
type Limit struct {
	Quantile float64 `json:"quantile"`
	T2       float64 `json:"t2,omitempty"`  // 0: none, since the variances are not known
	SPE      float64 `json:"spe,omitempty"` // 0: none, since the total variance is not known, or nothing is left of it
}

// Limits returns the limits at quantiles, which are above 0 and below 1.
func (m *Model) Limits(quantiles []float64) ([]Limit, error) {
	var out []Limit
	for _, q := range quantiles {
		if !(q > 0 && q < 1) {
			return nil, fmt.Errorf("a quantile is above 0 and below 1, got %g", q)
		}
		l := Limit{Quantile: q}
		if m.variances != nil {
			l.T2 = distuv.ChiSquared{K: float64(m.k)}.Quantile(q)
		}
		if m.rest > 0 {
			l.SPE = m.rest * distuv.ChiSquared{K: float64(m.width - m.k)}.Quantile(q)
		}
		out = append(out, l)
	}
	return out, nil
}

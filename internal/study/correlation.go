package study

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/layout"
	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/standardize"
)

// Correlation is the matrix that a study which learns constants takes its components of: the
// covariance of rows as they were scaled, each learned column divided once more by what the
// matrix's own noised diagonal says.
type Correlation struct {
	// In are the d coordinates that are not left out, rising.
	In []int
	// Factors are the d numbers that the last step divided them by.
	Factors []float64
	// Values are the d eigenvalues, descending; Vectors have all of the study's coordinates, 0 in
	// those left out.
	Values  []float64
	Vectors [][]float64
	// Tau is the noise's standard deviation on the diagonal before the last step; off it, it was
	// Tau/√2.
	Tau float64
}

// Correlation returns the matrix that the releases of a study add up to. The study keeps no gaps.
func (p *Plan) Correlation(releases []Release) (*Correlation, error) {
	moments := momentsOf(releases)
	if len(moments) == 0 || len(moments[0].Noised) != p.D*(p.D+1)/2 || len(moments[len(moments)-1].Scale) != p.D {
		return nil, proposal.FieldErrorf("releases", "they hold no covariance of %d standardized columns", p.D)
	}
	if p.Proposal.Spec.KeepsGaps() {
		return nil, proposal.FieldErrorf("missing", "a covariance of rows with gaps is not of correlations alone")
	}
	scale := moments[len(moments)-1].Scale
	pooled := pooledMoment(moments)
	scaled, factors := pooled.correlation(p.Layout, scale)
	out := &Correlation{Tau: pooled.Tau}
	for j, s := range scale {
		if s != 0 {
			out.In, out.Factors = append(out.In, j), append(out.Factors, factors[j])
		}
	}
	if len(out.In) == 0 {
		return nil, proposal.FieldErrorf("releases", "every column is left out")
	}
	all := scaled.matrix(p.D)
	part := mat.NewSymDense(len(out.In), nil)
	for i, a := range out.In {
		for j := i; j < len(out.In); j++ {
			part.SetSym(i, j, all.At(a, out.In[j]))
		}
	}
	values, w, ok := linalg.Eigen(part)
	if !ok {
		return nil, noConvergence()
	}
	slices.Reverse(values)
	out.Values = values
	for i := range out.In {
		v := make([]float64, p.D)
		for l, j := range out.In {
			v[j] = w.At(l, len(out.In)-1-i)
		}
		out.Vectors = append(out.Vectors, v)
	}
	return out, nil
}

// correlation makes the covariance of standardized rows, as far as its own noised diagonal says,
// one of correlations: a column that was learned is divided by its standard deviation relative to
// the others' median. What clipping took off all rows equally is not restored. It returns the
// matrix and the factor for each column's scale.
func (m Moment) correlation(l layout.Layout, scale []float64) (Moment, []float64) {
	d := len(l.Coordinates)
	columns, entries := make([]standardize.Column, d), make([]float64, d)
	for j, at := 0, 0; j < d; j++ {
		if entries[j] = m.Packed[at]; scale[j] == 0 || !l.Learns(j) {
			columns[j].Out = standardize.Weak // not of those that are compared
		}
		at += d - j
	}
	diagonal := standardize.Diagonal(entries, m.Tau, columns)
	var in []float64
	for _, v := range diagonal {
		if v > 0 {
			in = append(in, v)
		}
	}
	slices.Sort(in)
	factors := make([]float64, d)
	for j, v := range diagonal {
		factors[j] = 1
		if v > 0 {
			factors[j] = math.Sqrt(v / in[len(in)/2])
		}
	}
	out := Moment{make([]float64, len(m.Packed)), m.Tau}
	for i, at := 0, 0; i < d; i++ {
		for j := i; j < d; j++ {
			out.Packed[at] = m.Packed[at] / factors[i] / factors[j]
			at++
		}
	}
	return out, factors
}

package study

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// autoNoise is the noise-to-signal of z_T below which x_T is as good as the
// pooled direction or better (design section 2).
const autoNoise = 0.12

// Result is what a study found: every released value and, from them, each
// output. The names are scikit-learn's where it has them. All of it is
// (ε, δ)-differentially private, post-processing of the releases included. Its JSON
// is a result file, which Verify checks by itself once SignResult has filled it in.
// A field that is added MUST be left out of the JSON where it is empty, or results
// that are already signed no longer verify.
type Result struct {
	Name    string  `json:"name"`
	Digest  Digest  `json:"digest"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Rho     float64 `json:"rho"` // charged, all queries
	Profile string  `json:"profile"`

	Columns  []string  `json:"feature_names_in_"`
	Offset   []float64 `json:"mean_"` // public constants, not learned
	Scale    []float64 `json:"scale_"`
	Sites    []string  `json:"sites"`
	N        int       `json:"n_samples_"`
	D        int       `json:"n_features_in_"`
	Rounds   int       `json:"rounds"`
	Radius   float64   `json:"radius"` // the last in force
	Output   string    `json:"output"` // of component: random, last or pooled
	OutputAs string    `json:"output_asked"`
	// Components is 1×d, in scaled columns, its largest loading positive.
	Components [][]float64 `json:"components_"`
	// Outputs holds all three, so that another choice costs nothing.
	Outputs           map[string][]float64 `json:"outputs"`
	ExplainedVariance []float64            `json:"explained_variance_"` // null: not bought
	NoiseToSignal     float64              `json:"noise_to_signal"`     // of z_T
	Releases          []Release            `json:"releases"`            // as Signed, to be read

	Proposal  Blob            `json:"proposal"`  // its exact bytes
	Signed    []SignedRelease `json:"signed"`    // Releases, exactly as signed
	Chain     Digest          `json:"chain"`     // last link over Digest and Signed
	Signature Blob            `json:"signature"` // the coordinator's, over all of this
}

// NewResult makes the result of all of a plan's releases, in order. It is not signed.
func NewResult(p *Plan, releases []Release) (*Result, error) {
	s := p.Proposal.Spec
	r := &Result{
		Name: s.Name, Digest: p.Digest, Epsilon: s.Epsilon, Delta: s.Delta, Profile: s.Profile,
		N: p.N, D: p.D, Rounds: p.Rounds, OutputAs: s.Output, Releases: releases,
	}
	if len(releases) != len(p.Queries) {
		return nil, fieldError("releases", "%d of %d queries are released", len(releases), len(p.Queries))
	}
	for _, c := range s.Columns {
		r.Columns = append(r.Columns, c.Name)
		r.Offset = append(r.Offset, c.Offset)
		r.Scale = append(r.Scale, c.Scale)
	}
	for _, m := range p.Proposal.Roster {
		r.Sites = append(r.Sites, m.Name)
	}
	var steps []Release
	for _, rel := range releases {
		r.Rho += rel.Rho
		if rel.Kind == KindPower {
			steps = append(steps, rel)
			r.Radius = rel.Radius
		}
	}
	last, _ := p.Next(steps[len(steps)-1], r.Radius)
	r.NoiseToSignal = steps[len(steps)-1].NoiseToSignal()
	pooled, err := Pooled(steps)
	if err != nil {
		return nil, err
	}
	r.Outputs = map[string][]float64{
		OutputRandom: orient(steps[p.RandomRound()].X), // x_J is what round J was asked about
		OutputLast:   orient(last),
		OutputPooled: orient(pooled),
	}
	r.Output = s.Output
	if s.Output == OutputAuto {
		r.Output = OutputPooled
		if r.NoiseToSignal < autoNoise {
			r.Output = OutputLast
		}
	}
	r.Components = [][]float64{r.Outputs[r.Output]}
	return r, nil
}

// Pooled is the leading direction of Σ_{t≥T/2} z_t z_tᵀ/τ_t² over power releases in
// order (design section 2, with each round weighted by its own noise):
// post-processing, so free.
func Pooled(steps []Release) ([]float64, error) {
	half := steps[len(steps)/2:]
	d, last := len(half[0].Noised), half[len(half)-1].Tau()
	// The leading left singular vector of the d×m matrix of the z_t, by the
	// m×m Gram matrix: m is rounds, d may be large.
	z := mat.NewDense(len(half), d, nil)
	for i, s := range half {
		row := s.Z()
		for j := range row {
			row[j] *= last / s.Tau() // relative to the last, to stay in range
		}
		z.SetRow(i, row)
	}
	var gram mat.SymDense
	gram.SymOuterK(1, z)
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return nil, fieldError("releases", "the pooled direction's eigenvalues do not converge")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	var v mat.VecDense
	v.MulVec(z.T(), vectors.ColView(len(half)-1)) // eigenvalues ascend
	unit, ok := normalize(v.RawVector().Data)
	if !ok {
		return steps[len(steps)-1].X, nil
	}
	return unit, nil
}

// orient gives x with its largest loading positive.
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

package result

import (
	"iter"
	"reflect"

	"covey/internal/chain"
	"covey/internal/proposal"
	"covey/internal/study"
)

// Result is what a study found: every released value and, from them, each
// output. The names are scikit-learn's where it has them. All of it is
// (ε, δ)-differentially private, post-processing of the releases included. Its JSON
// is a result file, which Verify checks by itself once Sign has filled it in.
type Result struct {
	Name    string          `json:"name"`
	Digest  proposal.Digest `json:"digest"`
	Epsilon float64         `json:"epsilon"`
	Delta   float64         `json:"delta"`
	// Adjacency is what Epsilon and Delta are for: AdjacencyReplaceOne.
	Adjacency string `json:"adjacency"`
	// SitesPerUnit is at how many sites the unit that is replaced may be, where the proposal says
	// it; else 1.
	SitesPerUnit int     `json:"sites_per_unit,omitempty"`
	Rho          float64 `json:"rho"` // charged, all queries
	Profile      string  `json:"profile"`
	// Proposer names the analyst who proposed the study; empty of the coordinator's operator.
	Proposer string `json:"proposer,omitempty"`

	Columns []string  `json:"feature_names_in_"`
	Offset  []float64 `json:"offset_"` // public constants, not learned; 0 of columns that were
	Scale   []float64 `json:"scale_"`  // public, or learned
	Mean    []float64 `json:"mean_"`   // released, in scaled columns; zeros where nothing was
	// LeftOut are the columns whose constants could not be learned: every component has 0 there.
	LeftOut entries[LeftOut] `json:"left_out_,omitempty"`
	// ScaleNote says what a learned scale is; empty where none was learned.
	ScaleNote string `json:"scale_note,omitempty"`
	// LevelsNote says what the constants of columns with levels are; empty where no column has any.
	LevelsNote string   `json:"levels_note,omitempty"`
	Sites      []string `json:"sites"`
	N          int      `json:"n_samples_"` // units, or pairs of them; one at two sites is two
	D          int      `json:"n_features_in_"`
	K          int      `json:"n_components_"`
	// ComponentsAsked is "auto" where K was left to what is released, and ComponentsWhy then says
	// in a sentence how it was found, or that there is no cut and what was taken.
	ComponentsAsked string `json:"components_asked,omitempty"`
	ComponentsWhy   string `json:"components_why,omitempty"`
	Unit            string `json:"unit,omitempty"`
	// PerUnit is the released mean of kept rows per unit, where a unit is not a row or rows with a
	// missing value were left out. What is found of rows is divided by it.
	PerUnit float64 `json:"rows_per_unit,omitempty"`
	// RowsKept is how many rows were kept where those with a missing value were left out: noised,
	// with an interval that covers the true number with probability 0.95.
	RowsKept         float64     `json:"rows_kept_,omitempty"`
	RowsKeptInterval *[2]float64 `json:"rows_kept_interval_,omitempty"`

	// Missing is the proposal's, where gaps are kept. Filled is then, for each column, the share of
	// rows without a value there, noised, with an interval that covers the true one with
	// probability 0.95.
	Missing        string       `json:"missing,omitempty"`
	Filled         []float64    `json:"filled_,omitempty"`
	FilledInterval [][2]float64 `json:"filled_interval_,omitempty"`

	Center    string  `json:"center"`
	Noise     string  `json:"noise"`
	Method    string  `json:"method"` // that was used
	MethodWhy string  `json:"method_why"`
	Subspace  string  `json:"subspace"`
	Rounds    int     `json:"rounds"`
	Lambda    float64 `json:"lambda,omitempty"` // private
	// the last in force: of power steps, or B² of the covariance
	Radius float64 `json:"radius"`
	// of components: random, last, pooled or posterior; covariance where that is the method
	Output   string `json:"output"`
	OutputAs string `json:"output_asked"`
	// Components is k×d, in scaled columns, by falling explained variance where that was
	// bought; each has its largest loading positive.
	Components [][]float64 `json:"components_"`
	// Outputs holds all, so that another choice costs nothing; not reordered.
	Outputs Outputs `json:"outputs"`
	// ExplainedVariance and what belongs to it is null where it was not bought, or is not known
	// ([Result.VarianceUnknown]).
	ExplainedVariance []float64    `json:"explained_variance_"`
	VarianceInterval  [][2]float64 `json:"explained_variance_interval_"`
	VarianceRatio     []float64    `json:"explained_variance_ratio_"`
	TotalVariance     float64      `json:"total_variance_,omitempty"`
	TotalInterval     *[2]float64  `json:"total_variance_interval_,omitempty"`
	VarianceNote      string       `json:"variance_note,omitempty"`
	NoiseToSignal     float64      `json:"noise_to_signal"` // of z_T, or of the covariance

	// Pictures has one for each pair of components that the proposal names, and Scores one for each
	// component, in their order here. Both are empty unless the study has pictures.
	Pictures entries[Picture]        `json:"pictures_,omitempty"`
	Scores   entries[ScoreHistogram] `json:"score_histograms_,omitempty"`
	// PictureNote says what they show and what they do not.
	PictureNote string `json:"picture_note,omitempty"`

	// Releases are what the coordinator signed: each as [study.Release.Encode] writes it.
	Releases entries[study.Release] `json:"releases"`

	// Transcript is that of the setup, which all sites confirmed: Confirmations are their
	// signatures on it, by roster index.
	Transcript    proposal.Digest `json:"transcript"`
	Confirmations []Blob          `json:"confirmations"`
	// Certificates are the sites' signatures on the survivors of each release, in their order
	// ([secagg.Witness.Pack]).
	Certificates []Blob `json:"certificates"`
	// Approvals are the sites' signatures on the digest, by roster index ([study.SignDecision]).
	Approvals []Blob `json:"approvals"`
	// ProposerSignature is the proposer's on the digest ([proposal.SignProposal]), where there is
	// one.
	ProposerSignature Blob `json:"proposer_signature,omitempty"`

	Proposal Blob `json:"proposal"` // its exact bytes
	// Signatures are the coordinator's on Releases, in their order ([study.SigningInput]).
	Signatures []Blob          `json:"signatures"`
	Chain      proposal.Digest `json:"chain"` // last link over Digest, Releases and Signatures
	// ChainHead is the head of the chain of the coordinators' log at the entry of the last release:
	// who signs this signs all that the log had decided before.
	ChainHead chain.Head `json:"chain_head"`
	Signature Blob       `json:"signature"` // the coordinator's, over all that this says
	// SiteSignatures are those of sites that verified the result, over the same bytes.
	SiteSignatures Blob `json:"site_signatures"`

	// Simulated marks what no federation computed (package simulate). Verify refuses it, and
	// without the mark too: nobody signed it.
	Simulated bool `json:"simulated,omitempty"`

	// brief is of a result whose releases lack vectors, what Steps returns; nil where they are
	// whole.
	brief []Step
}

// fields are those of a Result that a file has.
func fields() iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		for field := range reflect.TypeFor[Result]().Fields() {
			if field.IsExported() && !yield(field) {
				return
			}
		}
	}
}

// New makes the result of all of a plan's releases, in order. It is not signed.
func New(p *study.Plan, releases []study.Release) (*Result, error) {
	c := p.Start()
	for i, rel := range releases {
		if rel.Query != c.Query {
			return nil, proposal.FieldErrorf("releases", "query %d is released where %d is due", rel.Query, c.Query)
		}
		var err error
		if c, err = p.Next(c, rel, releases[:i]); err != nil {
			return nil, err
		}
	}
	if c.Query != len(p.Queries) {
		return nil, proposal.FieldErrorf("releases", "the releases end before query %d", c.Query)
	}
	return newResult(p, releases, c, 0)
}

// newResult is New of releases that end in a course, with the thresholds of "auto" raised by slack
// of themselves.
func newResult(p *study.Plan, releases []study.Release, c study.Course, slack float64) (*Result, error) {
	s := p.Proposal.Spec
	r := &Result{
		Name: s.Name, Digest: p.Digest, Epsilon: s.Epsilon, Delta: s.Delta, Adjacency: p.Adjacency, SitesPerUnit: s.SitesPerUnit, Profile: s.Profile,
		N: p.N, D: p.D, K: p.K, Unit: s.Unit, Center: s.Center, Noise: s.Noise, Subspace: s.Subspace, Rounds: p.Rounds,
		OutputAs: s.Output, Releases: releases, Mean: make([]float64, p.D),
	}
	for _, at := range p.Layout.Coordinates {
		c := s.Columns[at.Column]
		if at.Gap {
			c.Offset, c.Scale = 0, 1
		}
		r.Columns = append(r.Columns, at.Name)
		r.Offset = append(r.Offset, c.Offset)
		r.Scale = append(r.Scale, c.Scale)
	}
	for _, m := range p.Proposal.Roster {
		r.Sites = append(r.Sites, m.Name)
	}
	if by := p.Proposal.Proposer; by != nil {
		r.Proposer = by.Name
	}
	for _, rel := range releases {
		r.Rho += rel.Rho
		if rel.Kind == study.KindPower || rel.Kind == study.KindMoment {
			r.Radius = rel.Radius
		}
	}
	r.Method, r.MethodWhy, r.Lambda, r.PerUnit = c.Method, p.MethodWhy(releases), c.Lambda, c.PerUnit
	r.setConstants(p, c)
	moment, err := r.findComponents(p, c, releases)
	if err != nil {
		return nil, err
	}
	r.keep(p, releases)
	r.count(p, releases)
	r.explain(c, releases)
	unit := r.standard(p, c, releases)
	r.picture(p, releases, unit)
	if s.Components == proposal.ComponentsAuto {
		found, err := chosen(p, r.Method, moment, releases, unit, slack)
		if err != nil {
			return nil, err
		}
		r.trim(found)
		if moment != nil {
			r.NoiseToSignal = covarianceNoise(moment.tau, p.D, moment.values[r.K-1])
		}
	}
	return r, nil
}

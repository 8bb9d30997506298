package result

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"covey/internal/chain"
	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/standardize"
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
	LeftOut []LeftOut `json:"left_out_,omitempty"`
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
	// of components: random, last or pooled; covariance where that is the method
	Output   string `json:"output"`
	OutputAs string `json:"output_asked"`
	// Components is k×d, in scaled columns, by falling explained variance where that was
	// bought; each has its largest loading positive.
	Components [][]float64 `json:"components_"`
	// Outputs holds all, so that another choice costs nothing; not reordered.
	Outputs Outputs `json:"outputs"`
	// ExplainedVariance and what belongs to it is null where it was not bought, or is not known
	// ([VarianceUnread]).
	ExplainedVariance []float64    `json:"explained_variance_"`
	VarianceInterval  [][2]float64 `json:"explained_variance_interval_"`
	VarianceRatio     []float64    `json:"explained_variance_ratio_"`
	TotalVariance     float64      `json:"total_variance_,omitempty"`
	TotalInterval     *[2]float64  `json:"total_variance_interval_,omitempty"`
	VarianceNote      string       `json:"variance_note,omitempty"`
	NoiseToSignal     float64      `json:"noise_to_signal"` // of z_T, or of the covariance

	// Pictures has one for each pair of components that the proposal names, and Scores one for each
	// component, in their order here. Both are empty unless the study has pictures.
	Pictures []Picture        `json:"pictures_,omitempty"`
	Scores   []ScoreHistogram `json:"score_histograms_,omitempty"`
	// PictureNote says what they show and what they do not.
	PictureNote string `json:"picture_note,omitempty"`

	// Releases are what the coordinator signed: each as [study.Release.Encode] writes it.
	Releases []study.Release `json:"releases"`

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

// LeftOut is a column that a study left out.
type LeftOut struct {
	Column string             `json:"column"`
	Why    standardize.Reason `json:"why"`
}

// Words say why for people.
func (l LeftOut) Words() string {
	switch l.Why {
	case standardize.Constant:
		return "it has one value, as far as its noised counts show"
	case study.OutJoined:
		return "it is rare by its noised count, and its rows count as the column's other"
	case study.OutRare:
		return "too few rows have it, as far as its noised count shows"
	case study.OutEven:
		return "by the noised count, too few rows lack a value, or too few have one"
	case study.OutSingle:
		return "fewer than two levels of the column stand out from the noise"
	}
	return "its counts do not stand out from the noise"
}

// scaleNote says what a learned scale is, scaleNoteUnset where no total variance tells by how much
// they are too small.
const (
	scaleNote = scaleNoteOf + "; all are multiplied by one factor, so that the released total variance is the number of columns"

	scaleNoteUnset = scaleNoteOf + "; all learned scales are too small by a further common factor, between 0.65 and 1: variances are too large by its square, and learned columns weigh more than others; no released total variance shows by how much"

	scaleNoteOf = "scale_ and mean_ of learned columns are private estimates: scale_ is the standard deviation of values clipped 2 to 4 deviations from their mean, so it is below the column's own if tails are heavy or values skewed; both have the noise of their releases"
)

// LearnedText says which constants were learned, and which columns were left out and why; empty
// where none were.
func (r *Result) LearnedText() string {
	if r.ScaleNote == "" {
		return ""
	}
	var out []string
	for _, l := range r.LeftOut {
		if l.Why == standardize.Weak || l.Why == standardize.Constant {
			out = append(out, fmt.Sprintf("%q (%s)", l.Column, l.Words()))
		}
	}
	if len(out) == 0 {
		return "the constants that the study's columns leave out were learned, and none of these columns was left out"
	}
	return fmt.Sprintf("the constants that the study's columns leave out were learned; left out, and with no part in any component, are %s", strings.Join(out, ", "))
}

// setConstants fills in what rows are to be moved and divided by: (x - offset_)/scale_ - mean_.
func (r *Result) setConstants(p *study.Plan, c study.Course) {
	if c.Center != nil {
		r.Mean = slices.Clone(c.Center)
	}
	if len(c.Scale) == 0 {
		return
	}
	if p.Proposal.Spec.Standardizes() {
		r.ScaleNote = scaleNoteUnset
	}
	if p.Proposal.Spec.Leveled() > 0 {
		r.LevelsNote = levelsNote
	}
	why := p.Layout.WhyLeftOut(c.Scale)
	for j, s := range c.Scale {
		if s == 0 {
			r.Mean[j] = 0
			if why[j] == "" {
				why[j] = c.Columns[j].Out
			}
			r.LeftOut = append(r.LeftOut, LeftOut{r.Columns[j], why[j]})
			continue
		}
		r.Scale[j] *= s
		r.Mean[j] /= s
	}
}

// covarianceNoise is the length of the vector by which a noised symmetric matrix moves the
// eigenvector of an eigenvalue, about.
func covarianceNoise(tau float64, d int, eigenvalue float64) float64 {
	if !(eigenvalue > 0) {
		return math.MaxFloat64
	}
	return min(math.MaxFloat64, tau*math.Sqrt(float64(d+1)/2)/eigenvalue)
}

// findComponents makes the outputs of every run and the components in force. It returns the leading
// eigenvalues of a covariance; nil of power iteration.
func (r *Result) findComponents(p *study.Plan, c study.Course, releases []study.Release) (*spectrum, error) {
	var moment *spectrum
	r.Outputs = Outputs{}
	steps := map[int][]study.Release{}
	for _, rel := range releases {
		switch rel.Kind {
		case study.KindPower:
			if r.Method == proposal.MethodCovariance { // auto took these to decide
				continue
			}
			run := p.Queries[rel.Query].Run
			steps[run] = append(steps[run], rel)
		case study.KindMoment:
			if !p.Queries.LastMoment(rel.Query) {
				continue
			}
			m, _ := p.Covariance(c, releases)
			more := 0
			if p.Proposal.Spec.Components == proposal.ComponentsAuto {
				more = cutReach + 1 // values behind the last are looked at
			}
			vectors, values, err := m.Principal(p.D, max(p.K, min(p.K+more, live(m, p.D))))
			if err != nil {
				return nil, err
			}
			vectors = vectors[:p.K]
			moment = spectrumOf(m, values, p.D, p.N)
			r.Output, r.NoiseToSignal = proposal.OutputCovariance, covarianceNoise(m.Tau, p.D, values[p.K-1])
			r.Components = linalg.OrientAll(vectors)
			r.Outputs[r.Output] = linalg.OrientAll(vectors)
		}
	}
	for run := range len(steps) {
		out, err := p.Outputs(steps[run])
		if err != nil {
			return nil, err
		}
		for name, vectors := range out.Vectors {
			r.Outputs[name] = append(r.Outputs[name], vectors...)
		}
		r.Output = out.Chosen
		for _, v := range out.Vectors[out.Chosen] {
			r.Components = append(r.Components, slices.Clone(v))
		}
		r.NoiseToSignal = max(r.NoiseToSignal, out.Noise) // of deflation's runs, the worst
	}
	return moment, nil
}

// normal95 is the half-width of a normal law's central 95% in standard deviations.
const normal95 = 1.959963984540054

// explain fills explained variance in, where it was bought and noise left something of how large
// scores are, and puts the components in its order.
func (r *Result) explain(c study.Course, releases []study.Release) {
	unknown := slices.ContainsFunc(releases, func(rel study.Release) bool {
		return (rel.Kind == study.KindVariance || rel.Kind == study.KindTotal) && rel.Unread()
	})
	rows, spread, note := c.RowsPerUnit(), 0.0, varianceNote
	if c.PerUnit > 0 {
		note = varianceNoteOfUnits
	}
	var order []int
	for _, rel := range releases {
		z := rel.Z()
		// of z/rows, both noised, to first order
		around := func(v float64) [2]float64 {
			half := normal95 * math.Hypot(rel.Tau(), v*spread) / rows
			return [2]float64{max(0, v-half), max(0, v+half)}
		}
		switch rel.Kind {
		case study.KindRows:
			spread = rel.Tau()
		case study.KindVariance:
			order = rel.ByVariance()
			for i := range z {
				z[i] /= rows
			}
			components := r.Components
			r.Components = nil
			for _, i := range order {
				v := max(0, z[i])
				r.Components = append(r.Components, components[i])
				r.ExplainedVariance = append(r.ExplainedVariance, v)
				r.VarianceInterval = append(r.VarianceInterval, around(z[i]))
			}
		case study.KindTotal:
			z[0] /= rows
			r.TotalVariance = max(0, z[0])
			total := around(z[0])
			r.TotalInterval = &total
			for _, v := range r.ExplainedVariance {
				ratio := 0.0
				if r.TotalVariance > 0 {
					ratio = min(1, v/r.TotalVariance)
				}
				r.VarianceRatio = append(r.VarianceRatio, ratio)
			}
			r.VarianceNote = note
		}
	}
	if unknown { // but for the order, which pictures have, too
		r.ExplainedVariance, r.VarianceInterval, r.VarianceRatio, r.TotalVariance, r.TotalInterval = nil, nil, nil, 0, nil
		r.VarianceNote = VarianceUnread
	}
}

// mostSpread is the half-width of the total's interval, of the total, up to which it sets scales: a
// scale errs by half as much.
const mostSpread = 0.5

// A component's variance in correlations is off by Σ_j δ_j (x_j² - 1/d), where δ_j is the logarithm
// of column j's variance over its learned scale squared, all within what a study keeps of values.
const (
	// tailDoubt is a standard deviation of δ in addition to that from noise: scales come from
	// values kept within other limits than those summed later, which matters if tails are heavy.
	tailDoubt = 0.08
	// zerosDoubt is tailDoubt of a column that is zero in most units, by power iteration.
	zerosDoubt, mostUnits = 0.14, 0.5
	// oneValue is by how much of itself the variance of a column whose tree shows no width is too
	// high, by power iteration: values beside the one that most units have were clipped, so that
	// δ is 0.37 ± 0.07 (experiments/run, kind "ceiling"). A covariance sets such scales once more.
	oneValue = 0.32
	// scalesBelow is how many standard deviations an interval reaches below: directions were looked
	// for in columns of these scales, and lean to those that are too small.
	scalesBelow = 3
)

// standard makes the scales of a study that learned all of them the columns' deviations, as far as
// the released total variance tells, and returns by how much it multiplies them; 1 where there is
// none, or the total is mostly noise, which would make scales of noise. A learned scale is of
// values that were clipped row by row, and more so where columns go together. All scales are too
// small by one factor then, and the total, which was hardly clipped, is too large by its square.
func (r *Result) standard(p *study.Plan, c study.Course, releases []study.Release) float64 {
	want := p.UnitTrace(c)
	if r.TotalVariance > 0 && want == 0 {
		r.besideLevels(p.LevelTrace(c, releases))
	}
	if !(want > 0) || !(r.TotalVariance > 0) {
		return 1
	}
	spread := (r.TotalInterval[1] - r.TotalInterval[0]) / 2 / r.TotalVariance
	if !(spread <= mostSpread) {
		return 1
	}
	ratio, doubts := want/r.TotalVariance, p.ScaleDoubts(c, releases)
	for i, v := range r.ExplainedVariance {
		around, scales, lean := r.VarianceInterval[i], 0.0, 0.0
		for j, x := range r.Components[i] {
			part, tails := p.UnitTraceOf(c, j), tailDoubt
			if !(part > 0) {
				continue
			}
			if r.Method == proposal.MethodPower && c.Columns[j].Narrow {
				lean += x * x
			}
			if r.Method == proposal.MethodPower && c.Columns[j].Zero > mostUnits {
				tails = zerosDoubt
			}
			scales = math.Hypot(scales, (x*x-part/want)*math.Hypot(doubts[j], tails))
		}
		half := around[1] - v                                               // around[0] may be cut at 0
		below := math.Hypot(half, v*math.Hypot(spread, scalesBelow*scales)) // of a ratio, to first order
		above := math.Hypot(half, v*math.Hypot(spread, normal95*scales))
		r.ExplainedVariance[i] = v * ratio
		r.VarianceInterval[i] = [2]float64{max(0, v-below-v*oneValue*lean) * ratio, (v + above) * ratio}
	}
	r.TotalVariance = want
	r.TotalInterval = &[2]float64{max(0, 1-spread) * want, (1 + spread) * want}
	unit := 1 / math.Sqrt(ratio)
	for j := range r.Scale {
		r.Scale[j] *= unit
		r.Mean[j] /= unit
	}
	r.ScaleNote = scaleNote
	r.VarianceNote += varianceNotLearned
	return unit
}

// besideLevels says in the note by how much the scales of so many learned columns are too small,
// where all others are levels, of a variance that is known but for tau. Components were found with
// these scales, so that it sets none.
func (r *Result) besideLevels(levels, tau, learned float64) {
	own := r.TotalVariance - levels
	half := math.Hypot((r.TotalInterval[1]-r.TotalInterval[0])/2, normal95*tau)
	if !(learned > 0) || !(half <= mostSpread*own) {
		return
	}
	r.ScaleNote = scaleNoteOf + fmt.Sprintf("; in components and variances learned columns weigh %.2f times (95%%: %.2f to %.2f, over the noise of total and shares) as much as columns of variance 1 would next to levels: their scales are too small by the square root of that, as the released total variance less that of the levels shows", own/learned, (own-half)/learned, (own+half)/learned)
}

// VarianceUnread is the note of a result whose explained variance was bought but is not known:
// nobody knows where the scores behind it were clipped.
const VarianceUnread = "explained variance is not known: there are too few units at this ε to tell how large scores are"

// varianceNote says what the intervals cover, varianceNoteOfUnits where a variance was divided by a
// noised number of rows per unit.
const (
	varianceNote = "each interval covers, with probability 0.95, the effect of the noise on the variance of these rows along the component, after clipping; " + varianceNot

	varianceNoteOfUnits = "each interval covers, with probability of about 0.95, the effect of the noise on the variance of these rows along the component, after clipping, and on the number of kept rows per unit; " + varianceNot

	varianceNot = "it holds for a component picked before looking: of several nearly equal variances the first listed is too high, since they are listed by the noised ones; it covers neither how other rows from the same source would vary (with few rows for the columns, new rows have less variance), nor what clipping took from the largest rows, which lowers the variance (with heavy tails, by much)"

	varianceNotLearned = "; with learned constants it describes values kept within 3 scales of their center, in these values' own deviations, and covers about what errors of learned scales add, less often if most of a column is one value: by power iteration the variance of a component that depends on such a column is then too high, by up to a half, and intervals are wider; if columns are skewed or have heavy tails, the values themselves are less correlated, and their variances are lower, in tests by up to a quarter: no released value shows by how much"
)

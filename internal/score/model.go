// Package score projects a site's own rows on the components of a study's result: scores,
// reconstruction errors and outlier flags of single rows. All of it is individual data of this site
// and not private, whatever the result is; nothing here sends anything.
//
// A row is what it was to the study: read by package dataset with the site's mapping, with levels
// joined, moved, divided and filled by the functions of package clip that answer the study's
// queries. Two things that a study does to rows are left out, since they bound what one row may add
// and are no part of what it is: the limit of values at some scales, and the division of rows by
// their lengths.
package score

import (
	"fmt"
	"math"

	"covey/internal/clip"
	"covey/internal/dataset"
	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// ResultError is a result that rows cannot be projected on.
type ResultError struct {
	Field  string // a key of the file
	Reason string
}

func (e *ResultError) Error() string {
	return fmt.Sprintf("the result cannot be used: %s: %s", e.Field, e.Reason)
}

// Model is a study's result as rows are projected on it. It may be used by several goroutines.
type Model struct {
	d, k       int
	width      int   // coordinates that are not left out
	joins      []int // nil: no level is joined
	center     []float64
	scale      []float64 // 0: left out
	unlimited  []float64 // infinities
	scaled     bool      // a scale is not 1
	moved      bool      // a center is not 0
	fills      bool
	own        []int     // indicators, as clip.Matrix.Fill takes them
	components []float64 // k of length d, one after another
	turn       []float64 // k×k, of [Model.Rotate]; nil: none
	variances  []float64 // of the rows along each component; nil where they were not bought
	rest       float64   // mean variance of a direction that no component spans; 0 where unknown
}

// most bounds a center's or scale's magnitude; more makes no sense of any data, and keeps all sums
// finite.
const most = 0x1p300

// orthonormal is how far products of components may be from those of unit vectors at right angles.
const orthonormal = 1e-6

// New checks a result, whose signatures are the caller's to verify, against the plan of its
// proposal, and returns how rows are projected on it. The error is a [*ResultError].
func New(r *result.Result, p *study.Plan) (*Model, error) {
	bad := func(field, format string, args ...any) (*Model, error) {
		return nil, &ResultError{field, fmt.Sprintf(format, args...)}
	}
	d, k := p.D, len(r.Components)
	switch {
	case r.Digest != p.Digest:
		return bad("digest", "belongs to another proposal")
	case r.D != d || len(r.Columns) != d || len(r.Scale) != d || len(r.Mean) != d || len(r.Offset) != d:
		return bad("feature_names_in_", "are %d columns with %d scales and %d means, the proposal has %d", len(r.Columns), len(r.Scale), len(r.Mean), d)
	case k < 1 || k > d || k != r.K:
		return bad("components_", "are %d of %d, for %d columns", k, r.K, d)
	}
	m := &Model{d: d, k: k, fills: p.Proposal.Spec.Missing == proposal.MissingFill, scale: make([]float64, d), center: make([]float64, d), unlimited: make([]float64, d)}
	out := map[string]bool{}
	for _, l := range r.LeftOut {
		out[l.Column] = true
	}
	for j, at := range p.Layout.Coordinates {
		m.unlimited[j] = math.Inf(1)
		if err := m.addColumn(r, p, j, out[at.Name]); err != nil {
			return nil, err
		}
	}
	m.scaled = m.scaled || m.width < d
	m.joins = p.Layout.JoinLevels(m.scale)
	m.own = p.Layout.Own()
	for i, v := range r.Components {
		if len(v) != d {
			return bad("components_", "component %d has %d loadings, for %d columns", i+1, len(v), d)
		}
		m.components = append(m.components, v...)
	}
	if err := m.checkComponents(); err != nil {
		return nil, err
	}
	return m, m.setVariances(r)
}

// addColumn takes coordinate j of the result, which must be the plan's. One that the result leaves
// out keeps scale 0.
func (m *Model) addColumn(r *result.Result, p *study.Plan, j int, leftOut bool) error {
	at := p.Layout.Coordinates[j]
	column := p.Proposal.Spec.Columns[at.Column]
	offset, scale := column.Offset, column.Scale
	if at.Gap {
		offset, scale = 0, 1
	}
	if r.Columns[j] != at.Name || r.Offset[j] != offset {
		return &ResultError{"feature_names_in_", fmt.Sprintf("column %d is another than the proposal's, or has another offset", j+1)}
	}
	if leftOut {
		return nil
	}
	m.width++
	s := r.Scale[j] / scale // what the study divided by, after the proposal's own scale
	c := r.Mean[j] * s
	if !(s > 1/most && s < most && math.Abs(c) < most) { // also of NaN
		return &ResultError{"scale_", fmt.Sprintf("or mean_ of column %d is not finite, or out of range", j+1)}
	}
	m.scale[j], m.center[j] = s, c
	m.scaled, m.moved = m.scaled || s != 1, m.moved || c != 0
	return nil
}

// checkComponents returns an error unless they are finite, orthonormal, and 0 where a column is
// left out.
func (m *Model) checkComponents() error {
	for i := range m.k {
		a := m.components[i*m.d : (i+1)*m.d]
		for j, v := range a {
			if !(math.Abs(v) <= 1+orthonormal) || v != 0 && m.scale[j] == 0 {
				return &ResultError{"components_", fmt.Sprintf("component %d is not finite, longer than 1, or not 0 where a column is left out", i+1)}
			}
		}
		for h := range i + 1 {
			want := 0.0
			if h == i {
				want = 1
			}
			if got := linalg.Dot(a, m.components[h*m.d:(h+1)*m.d]); !(math.Abs(got-want) <= orthonormal) {
				return &ResultError{"components_", fmt.Sprintf("components %d and %d are not unit vectors at right angles", h+1, i+1)}
			}
		}
	}
	return nil
}

// setVariances reads what the laws of T² and of the squared prediction error need. The variances of
// a study of pairs are about each site's mean, which it does not release, and rows are projected
// about the offsets.
func (m *Model) setVariances(r *result.Result) error {
	if len(r.ExplainedVariance) == 0 || r.Center == proposal.CenterPairs {
		return nil
	}
	if len(r.ExplainedVariance) != m.k {
		return &ResultError{"explained_variance_", fmt.Sprintf("are %d for %d components", len(r.ExplainedVariance), m.k)}
	}
	sum, positive := 0.0, true
	for _, v := range r.ExplainedVariance {
		if !(v >= 0 && v < most) {
			return &ResultError{"explained_variance_", "one is not finite, or negative"}
		}
		sum += v
		positive = positive && v > 1/most
	}
	if positive { // else T² would divide by nothing
		m.variances = r.ExplainedVariance
	}
	if !(r.TotalVariance >= 0 && r.TotalVariance < most) {
		return &ResultError{"total_variance_", "is not finite, or negative"}
	}
	if m.width > m.k {
		m.rest = max(0, (r.TotalVariance-sum)/float64(m.width-m.k))
	}
	return nil
}

// hasT2 reports whether rows have T²: the study bought the variances that it divides by, none is 0,
// and they are about the center that rows have here.
func (m *Model) hasT2() bool { return m.variances != nil }

// Scores are what is found of the rows of a block.
type Scores struct {
	// Values are the rows' scores: of row i those on component l are Values[i*k+l]. Zeros of a row
	// that is left out.
	Values []float64
	// T2 is Σ (score/standard deviation)², by the released variances; nil where [Model.hasT2] is
	// false.
	T2 []float64
	// SPE is the squared distance of a row from the components' span, in squared units of the
	// scaled columns. It is a difference of squares: rounding adds 1e-15 of the row's squared
	// length or so.
	SPE []float64
}

// Block projects the rows of a block, whose values it may change.
func (m *Model) Block(b dataset.Block) (*Scores, error) {
	if b.Gaps == nil && m.joins == nil && !m.scaled {
		return m.plain(b)
	}
	return m.stepwise(b)
}

// plain is stepwise for rows that are only moved, in place: the same numbers, in a third of the
// time (TestPlainIsStepwise). Rows that are left out are what the center makes of zeros; nobody
// reads their scores.
func (m *Model) plain(b dataset.Block) (*Scores, error) {
	if m.moved {
		for lo := 0; lo < len(b.Values); lo += m.d {
			row := b.Values[lo : lo+m.d]
			for j, c := range m.center[:len(row)] {
				row[j] -= c
			}
		}
	}
	return m.project(len(b.Values)/m.d, func(scores, squares []float64) error {
		return clip.Along(scores, squares, b.Values, m.d, m.components)
	})
}

// stepwise makes the rows as the answers to a study's queries do.
func (m *Model) stepwise(b dataset.Block) (*Scores, error) {
	rows, err := sitedata.Matrix(&dataset.Rows{D: m.d, Values: b.Values, Gaps: b.Gaps, Absent: b.Absent})
	if err == nil && m.joins != nil {
		rows, err = rows.Join(m.joins)
	}
	switch {
	case err != nil:
	case m.scaled:
		rows, err = rows.Standardize(m.center, m.scale, m.unlimited)
	case m.moved:
		rows, err = rows.Less(m.center)
	}
	if err == nil && m.fills {
		rows, err = rows.Fill(m.components, m.own)
	}
	if err != nil {
		return nil, err
	}
	return m.project(rows.Rows(), func(scores, squares []float64) error { return rows.Along(scores, squares, m.components) })
}

// project makes n rows' scores of their products with the components and their squared lengths.
func (m *Model) project(n int, along func(scores, squares []float64) error) (*Scores, error) {
	k := m.k
	s := &Scores{Values: make([]float64, n*k), SPE: make([]float64, n)}
	if err := along(s.Values, s.SPE); err != nil {
		return nil, err
	}
	if m.variances != nil {
		s.T2 = make([]float64, n)
	}
	turned := make([]float64, k)
	for i := range n {
		t := s.Values[i*k : (i+1)*k]
		t2 := 0.0
		for l, v := range t {
			s.SPE[i] -= v * v
			if m.variances != nil {
				t2 += v / m.variances[l] * v
			}
		}
		s.SPE[i] = max(0, s.SPE[i])
		if m.variances != nil {
			s.T2[i] = min(t2, math.MaxFloat64) // of a score that is far out over a tiny variance
		}
		if m.turn != nil {
			m.turned(turned, t)
			copy(t, turned)
		}
	}
	return s, nil
}

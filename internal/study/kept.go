package study

import (
	"fmt"
	"math"
)

// countsRows reports whether the study asks how many rows are kept. Where rows with a missing value
// are left out, n counts rows that are in no sum, and what is found of rows must not be divided by
// it.
func (p *Plan) countsRows() bool {
	s := p.Proposal.Spec
	return s.Missing == MissingDropRow || s.Unit != "" && (s.Center == CenterPrivate || s.ExplainedVariance == VariancePrivate)
}

// RowsShare is the part of the budget that counts rows.
func (p *Plan) RowsShare() float64 {
	sum := 0.0
	for _, q := range p.Queries {
		if q.sum() == KindRows {
			sum += q.Rho / p.Rho
		}
	}
	return sum
}

// perUnit is the mean of kept rows per unit that a release of [KindRows] leaves: within what it can
// be, and where rows may be left out at least two standard deviations of its noise, since what is
// divided by less is noise.
func (p *Plan) perUnit(r Release) float64 {
	z, least := r.Z()[0], 1.0 // a unit has a row
	s := p.Proposal.Spec
	if s.Missing == MissingDropRow {
		least = min(1, 2*r.Tau())
	}
	if s.Unit == "" {
		z = min(1, z)
	}
	return max(least, z)
}

// rowsPerUnit is what a mean over units is divided by to be one over rows.
func (c Course) rowsPerUnit() float64 {
	if c.PerUnit == 0 {
		return 1
	}
	return c.PerUnit
}

// keptShare is the share of units that have a row, as far as it is known: of units of several rows
// it is taken to be 1.
func (p *Plan) keptShare(c Course) float64 {
	if p.Proposal.Spec.Unit != "" {
		return 1
	}
	return c.rowsPerUnit()
}

// keep fills in how many rows were kept.
func (r *Result) keep(p *Plan, releases []Release) {
	if p.Proposal.Spec.Missing != MissingDropRow {
		return
	}
	for _, rel := range releases {
		if rel.Kind != KindRows {
			continue
		}
		most := math.Inf(1)
		if r.Unit == "" {
			most = float64(rel.Units)
		}
		within := func(v float64) float64 { return max(0, min(v, most)) }
		n, half := rel.Z()[0]*float64(rel.Units), normal95*rel.Tau()*float64(rel.Units)
		r.RowsKept = within(n)
		r.RowsKeptInterval = &[2]float64{within(n - half), within(n + half)}
	}
}

// KeptText says how many rows were kept; empty where none could be left out.
func (r *Result) KeptText() string {
	if r.RowsKeptInterval == nil {
		return ""
	}
	lo, hi := r.RowsKeptInterval[0], r.RowsKeptInterval[1]
	text := fmt.Sprintf("about %.0f (95%%: %.0f to %.0f)", r.RowsKept, lo, hi)
	if r.Unit != "" {
		return text + ", the others had a missing value"
	}
	of := 0 // those whose rows were counted
	for _, rel := range r.Releases {
		if rel.Kind == KindRows {
			of = rel.Units
		}
	}
	what := "rows"
	if r.Center == CenterPairs {
		what = "pairs of rows"
	}
	text += fmt.Sprintf(" of %d %s, the others had a missing value", of, what)
	if hi < 0.95*float64(of) {
		text += "; the result is about rows without one, which may differ from the rest"
	}
	return text
}

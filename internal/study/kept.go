package study

import (
	"slices"

	"covey/internal/proposal"
)

// countsRows reports whether the study asks how many rows are kept. Where rows with a missing value
// are left out, n counts rows that are in no sum, and what is found of rows must not be divided by
// it.
func (p *planner) countsRows() bool {
	s := p.Proposal.Spec
	return s.Missing == proposal.MissingDropRow || s.Unit != "" && (s.Center == proposal.CenterPrivate || s.ExplainedVariance == proposal.VariancePrivate)
}

// rows sets the mean of kept rows per unit: within what it can be, and where rows may be left out
// at least two standard deviations of its noise, since what is divided by less is noise.
func (t *transition) rows() {
	z, least := t.r.Z()[0], 1.0 // a unit has a row
	s := t.Proposal.Spec
	if s.Missing == proposal.MissingDropRow {
		least = min(1, 2*t.r.Tau())
	}
	if s.Unit == "" {
		z = min(1, z)
	}
	t.c.PerUnit = max(least, z)
}

// RowsPerUnit is what a mean over units is divided by to be one over rows.
func (c Course) RowsPerUnit() float64 {
	if c.PerUnit == 0 {
		return 1
	}
	return c.PerUnit
}

// kept is the share of units that have a row, as far as it is known: of units of several rows
// it is taken to be 1.
func (t *transition) kept() float64 {
	if t.Proposal.Spec.Unit != "" {
		return 1
	}
	return t.c.RowsPerUnit()
}

// lengths are a histogram's counts of the kept rows alone, and how many these are, in grid steps.
// The others are in the lowest bin: where they are most of the units, that bin would stand out of
// the noise alone, and a radius be that of nothing.
func (t *transition) lengths(r Release) (noised []int64, units int) {
	units = int(float64(r.Units) / r.Grid)
	kept := int(float64(t.kept() * float64(units)))
	noised = slices.Clone(r.Noised)
	noised[0] -= int64(units - kept)
	return noised, kept
}

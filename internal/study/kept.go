package study

import (
	"slices"

	"covey/internal/histogram"
	"covey/internal/proposal"
	"covey/internal/standardize"
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

// RowsPerUnit returns the number by which a mean over units is divided to become a mean over rows.
func (c Course) RowsPerUnit() float64 {
	if c.PerUnit == 0 {
		return 1
	}
	return c.PerUnit
}

// kept is the share of units that have a row, as far as the count of kept rows says: a unit has at
// least one of them. Units of several rows may be fewer, which lengths and present see.
func (t *transition) kept() float64 { return min(1, t.c.RowsPerUnit()) }

// emptied reports whether units of several rows may have lost all of them.
func (t *transition) emptied() bool {
	s := t.Proposal.Spec
	return s.Unit != "" && s.Missing == proposal.MissingDropRow
}

// lengths are a histogram's counts of the kept rows alone, in grid steps.
// The others are in the lowest bin: where they are most of the units, that bin would stand out of
// the noise alone, and a radius be that of nothing. Of units of several rows the bin itself says
// how many are empty.
func (t *transition) lengths(r Release) histogram.Noised {
	units := int(float64(r.Units) / r.Grid)
	kept := int(float64(t.kept() * float64(units)))
	if t.emptied() {
		kept = min(kept, max(units-int(r.Noised[0]), int(2*r.Spread()), 1))
	}
	noised := slices.Clone(r.Noised)
	noised[0] -= int64(units - kept)
	return histogram.Noised{Counts: noised, Spread: r.Spread(), Units: kept}
}

// present returns the share of units that have a value in each coordinate, by the counts z of
// octaves: of units of several rows, which count once however many rows have one. It returns nil
// where what is known of rows says it.
func (t *transition) present(z []float64, of []int) []float64 {
	if t.Proposal.Spec.Unit == "" || !t.emptied() && t.c.Observed == nil {
		return nil
	}
	lacks, counted := make([]float64, t.D), make([]float64, len(of))
	for j := range lacks {
		if lacks[j] = 1 - t.c.seen(j); t.emptied() {
			lacks[j] = 1
		}
	}
	for at, j := range of {
		counted[at] = lacks[j]
	}
	part, least := standardize.Lacking(z, counted), min(1, 2*t.r.Tau())
	for j, l := range lacks {
		lacks[j] = max(least, min(t.kept(), 1-float64(part*l)))
	}
	return lacks
}

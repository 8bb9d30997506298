package result

import (
	"fmt"
	"math"

	"covey/internal/proposal"
	"covey/internal/study"
)

// keep fills in how many rows were kept.
func (r *Result) keep(p *study.Plan, releases []study.Release) {
	if p.Proposal.Spec.Missing != proposal.MissingDropRow {
		return
	}
	for _, rel := range releases {
		if rel.Kind != study.KindRows {
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
	text := fmt.Sprintf("about %.0f (95%%: %.0f to %.0f)", r.RowsKept, r.RowsKeptInterval[0], r.RowsKeptInterval[1])
	if r.Unit != "" {
		return text + ", the others had a missing value"
	}
	what := "rows"
	if r.Center == proposal.CenterPairs {
		what = "pairs of rows"
	}
	text += fmt.Sprintf(" of %d %s, the others had a missing value", r.counted(), what)
	if r.KeptFew() {
		text += "; the result describes rows without one, which may differ from the rest"
	}
	return text
}

// counted is the number of units whose rows were counted.
func (r *Result) counted() int {
	of := 0
	for _, rel := range r.Releases {
		if rel.Kind == study.KindRows {
			of = rel.Units
		}
	}
	return of
}

// KeptFew reports whether so many rows were left out that what is found need not be about all.
func (r *Result) KeptFew() bool {
	return r.RowsKeptInterval != nil && r.Unit == "" && r.RowsKeptInterval[1] < 0.95*float64(r.counted())
}

package result

import (
	"fmt"
	"strings"

	"covey/internal/proposal"
	"covey/internal/study"
)

// mostly is the share of empty cells of a column from which people are told.
const mostly = 0.5

// count fills in how many cells were empty.
func (r *Result) count(p *study.Plan, releases []study.Release) {
	for _, rel := range releases {
		if rel.Kind != study.KindFilled {
			continue
		}
		z, half := rel.Z(), normal95*rel.Tau()
		within := func(v float64) float64 { return max(0, min(v, 1)) }
		for _, at := range p.Layout.Coordinates {
			v := 0.0
			interval := [2]float64{}
			if !at.Gap {
				v = within(z[at.Column])
				interval = [2]float64{within(z[at.Column] - half), within(z[at.Column] + half)}
			}
			r.Filled = append(r.Filled, v)
			r.FilledInterval = append(r.FilledInterval, interval)
		}
		r.Missing = p.Proposal.Spec.Missing
	}
}

// FilledText says how many cells had no value, and in which columns most; empty where none could
// be.
func (r *Result) FilledText() string {
	if len(r.Filled) == 0 {
		return ""
	}
	// The mean is over columns as they were released: a column with levels has several coordinates,
	// an indicator no cells, and shares cut off at 0 are too high on average.
	var share, half float64
	for _, rel := range r.Releases {
		if rel.Kind != study.KindFilled {
			continue
		}
		z := rel.Z()
		for _, v := range z {
			share += v / float64(len(z))
		}
		share, half = max(0, min(share, 1)), normal95*rel.Tau()
	}
	what := "taken as the center"
	if r.Missing == proposal.MissingFill {
		what = "filled from the rest of their row"
	}
	cells := "cells"
	if r.Center == proposal.CenterPairs { // either row of a pair may lack the value
		cells = "differences of pairs"
	}
	if half >= mostly { // a share would be read as one
		return fmt.Sprintf("noise hides how many %s had no value and were %s: each column's share in filled_ can be off by more than %.0f points", cells, what, 100*mostly)
	}
	var most []string
	for j, v := range r.Filled {
		if v > mostly {
			most = append(most, fmt.Sprintf("%q (%.0f%%)", r.Columns[j], 100*v))
		}
	}
	text := fmt.Sprintf("about %.3g%% of the %s had no value and were %s (filled_ has each column's share, 95%%: within %.2g points)", 100*share, cells, what, 100*half)
	// Beyond twice the half, noise alone makes hardly one of many columns look emptier than it is.
	at := 0
	for j, v := range r.Filled {
		if v > r.Filled[at] {
			at = j
		}
	}
	if len(most) == 0 && r.Filled[at] > share+2*half {
		text += fmt.Sprintf("; the emptiest column is %q, with about %.2g%% of its %s", r.Columns[at], 100*r.Filled[at], cells)
	}
	if len(most) > 0 {
		const shown = 5
		rest := ""
		if n := len(most) - shown; n > 0 {
			most, rest = most[:shown], fmt.Sprintf(" and %d more", n)
		}
		text += "; more than half of the " + cells + " are empty in " + strings.Join(most, ", ") + rest + ": what the result says about these columns is mostly not observed"
	}
	if len(most) > 0 || r.Filled[at] > share+2*half {
		text += "; " + r.lackText()
	}
	return text
}

// lackText says what happens to columns that a site has nothing of. A fill sees no scatter in them.
// A covariance divides each entry by the shares of both columns, as if cells went missing one by
// one, though rows without one column have neither.
func (r *Result) lackText() string {
	if r.Missing == proposal.MissingFill && r.Method == proposal.MethodCovariance {
		return "if sites lack whole columns, components of these columns come out too large and can displace others"
	}
	return "if sites lack whole columns, components of these columns come out too small and can be missed"
}

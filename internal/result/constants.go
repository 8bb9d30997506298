package result

import (
	"fmt"
	"slices"
	"strings"

	"covey/internal/standardize"
	"covey/internal/study"
)

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

// ScalesText says by how much learned scales are too small, and explained variances too large,
// where the released total variance did not set them; empty where it did, and where none were
// learned.
func (r *Result) ScalesText() string {
	rest, learned := strings.CutPrefix(r.ScaleNote, scaleNoteOf+"; ")
	if !learned || r.ScaleNote == scaleNote {
		return ""
	}
	return rest
}

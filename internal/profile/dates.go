package profile

import (
	"fmt"
	"math"
	"strings"

	"covey/internal/dataset"
)

// dates counts the texts of a column of dates by the forms that they fit. A text that fits none,
// such as a code for a missing value, says nothing about the others.
type dates struct {
	fit   map[string]int // texts that a form of dataset.DateForms fits
	some  int            // texts that any of them fits
	good  int            // texts that are read as agent.toml says
	other tally          // texts that none fits
}

// read takes a text, whose value is v when read as YYYY-MM-DD, and returns its value when read in
// the form that agent.toml has; NaN is no date.
func (d *dates) read(v float64, field, form string, at int) float64 {
	fits := false
	for _, f := range dataset.DateForms {
		if !math.IsNaN(dataset.DateOf(f, field)) {
			if d.fit == nil {
				d.fit = map[string]int{}
			}
			d.fit[f]++
			fits = true
		}
	}
	if fits {
		d.some++
	} else {
		d.other.add(at)
	}
	if form != "" {
		v = dataset.DateOf(form, field)
	}
	if !math.IsNaN(v) {
		d.good++
	}
	return v
}

// typed takes a date of a source whose type says so, which is read in whatever form texts have.
func (d *dates) typed() { d.some, d.good = d.some+1, d.good+1 }

// forms returns the forms that all texts fit which are dates, if these are at least half.
func (d *dates) forms() (out []string) {
	if d.some == 0 || d.other.count > d.some {
		return nil
	}
	for _, f := range dataset.DateForms {
		if d.fit[f] == d.some {
			out = append(out, f)
		}
	}
	return out
}

// agree reports whether all texts that are dates are read.
func (d *dates) agree() bool { return d.some > 0 && d.good == d.some }

// remedy is what to do where a column's dates are not read. Forms that differ in which of two
// numbers is the day are never chosen from.
func (d *dates) remedy(placed string) string {
	forms := d.forms()
	switch {
	case d.agree():
		return "missing_values, if these stand for a missing value; otherwise correct them in the export"
	case len(forms) == 0:
		return "no form of dates fits all of the column's texts: write them as 2024-05-31 in the export"
	}
	but := ""
	if n := d.other.count; n > 0 {
		but = fmt.Sprintf(" except %d, the first at %s %d, which are no dates", n, placed, d.other.first)
	}
	if len(forms) == 1 {
		return fmt.Sprintf("dates = %q of the column, which all of its texts fit%s", forms[0], but)
	}
	var quoted []string
	for _, f := range forms {
		quoted = append(quoted, quote(f))
	}
	return "dates = of the column, with " + strings.Join(quoted, " or ") + ": all of its texts fit both" + but + ", so ask the person who exports them which number is the day"
}

// dated proposes the form that all of a column's dates have, unless two forms fit.
func (l *proposedLine) dated(name string, forms []string, p *paste) {
	switch len(forms) {
	case 0:
	case 1:
		l.from.Dates, l.why, l.meant = forms[0], "if all of the column's dates are written so", true
	default:
		p.notes = append(p.notes, fmt.Sprintf("# dates of %s: say which number is the day: %s", key(name), strings.Join(forms, " or ")))
	}
}

// noDates returns the codes of a column of dates, none of which is a date.
func (c *column) noDates() (out []doubt) {
	for i, t := range c.coded {
		if t.count > 0 {
			out = append(out, doubt{i, "which is no date"})
		}
	}
	return out
}

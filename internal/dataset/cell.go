package dataset

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// cells makes values of a source's cells, by a [Mapping] that Check took. What a cell becomes is a
// function of that cell and of the mapping.
type cells struct {
	decimal, thousands string
	missing            map[string]bool
	codes              []float64             // those of missing that are numbers
	columns            []From                // of the request's columns
	forms              []string              // of their dates
	renamed            []map[float64]float64 // by their names, those that are of numbers
}

// newCells returns nil where a mapping leaves every cell as it is.
func newCells(m Mapping, columns []Column) *cells {
	if m.decimal() == "." && m.Thousands == "" && len(m.MissingValues) == 0 && m.Dates == "" && len(m.Columns) == 0 {
		return nil
	}
	c := &cells{decimal: m.decimal(), thousands: m.Thousands, missing: map[string]bool{}, columns: make([]From, len(columns)), forms: make([]string, len(columns)), renamed: make([]map[float64]float64, len(columns))}
	for j, column := range columns {
		c.columns[j], c.forms[j] = m.Columns[column.Name], m.form(column.Name)
		c.renamed[j] = c.renames(c.columns[j].Names)
	}
	for _, text := range m.MissingValues {
		c.missing[text] = true
		if v, reason := parse(c.plain(text)); reason == "" && !math.IsNaN(v) {
			c.codes = append(c.codes, v)
			if near, other := narrow(v); other {
				c.codes = append(c.codes, near)
			}
		}
	}
	return c
}

// narrow returns what a column of float32 has for v; other is false of a whole number, which may be
// another value.
func narrow(v float64) (near float64, other bool) {
	near = float64(float32(v))
	return near, near != math.Trunc(near)
}

// renames returns what numbers become by names, however a cell writes them and whatever the source
// holds them as; NaN by a name that is no number. Of two texts of one number the first counts.
func (c *cells) renames(names map[string]string) map[float64]float64 {
	if len(names) == 0 {
		return nil
	}
	out, texts := map[float64]float64{}, slices.Sorted(maps.Keys(names))
	for _, of := range []func(float64) (float64, bool){func(v float64) (float64, bool) { return v, true }, narrow} {
		for _, text := range texts {
			v, reason := c.number(text)
			v, ok := of(v)
			if _, twice := out[v]; twice || !ok || reason != "" || math.IsNaN(v) {
				continue
			}
			if out[v], reason = c.number(names[text]); reason != "" {
				out[v] = math.NaN()
			}
		}
	}
	return out
}

// rename returns what a column's number is in the study's words.
func (c *cells) rename(j int, v float64) float64 {
	if to, ok := c.renamed[j][v]; ok {
		return to
	}
	return v
}

// days returns what days since 1970-01-01 become in a column of dates by missing and its names, at
// whatever time of day and in whatever form a cell has them; NaN is a missing value.
func (c *cells) days(j int) map[int]float64 {
	if c == nil {
		return nil
	}
	out := map[int]float64{}
	take := func(text string, to float64) {
		for _, form := range []string{"", c.forms[j]} {
			if day, ok := dateIn(form, text); ok {
				out[day] = to
			}
		}
	}
	for text := range c.missing {
		take(text, math.NaN())
	}
	names := c.columns[j].Names
	for _, text := range slices.Backward(slices.Sorted(maps.Keys(names))) { // of two texts of a day the first counts
		to := math.NaN()
		if day, ok := date(names[text]); ok {
			to = float64(day)
		}
		take(text, to)
	}
	return out
}

// names reports whether a column's names have a text.
func (c *cells) names(j int, text string) bool {
	if c == nil {
		return false
	}
	_, ok := c.columns[j].Names[text]
	return ok
}

// text is a column's field in the study's words.
func (c *cells) text(j int, field string) string {
	field = trim(field)
	if name, ok := c.columns[j].Names[field]; ok {
		return name
	}
	if c.missing[field] {
		return ""
	}
	return field
}

// form is the form of a column's dates, in which a field must be; empty where it is YYYY-MM-DD with
// all of its digits, and of a text that names has: that is in the study's words.
func (c *cells) form(j int, field string) string {
	if c == nil || c.forms[j] == "" {
		return ""
	}
	if c.names(j, trim(field)) {
		return ""
	}
	return c.forms[j]
}

// number reads a field of text as [parse] does.
func (c *cells) number(field string) (v float64, reason string) { return parse(c.plain(field)) }

// coded reports whether a field of text, which may be a level, is a number that stands for a
// missing value.
func (c *cells) coded(field string) bool {
	if c == nil || len(c.codes) == 0 || field == "" || !strings.Contains("0123456789+-.,", field[:1]) || Padded(field) {
		return false
	}
	v, reason := c.number(strings.Clone(field)) // which a caller's bytes need not outlive
	return reason == "" && slices.Contains(c.codes, v)
}

// Padded reports whether a text begins with a 0 that a number does not need: as a level, 09 is a
// month or a code, and not the number that 9 is.
func Padded(text string) bool {
	return len(text) > 1 && text[0] == '0' && '0' <= text[1] && text[1] <= '9'
}

// plain is a number as strconv reads it. Any other field stays one that is
// not a number: with another mark before the fraction, a number has no point.
func (c *cells) plain(field string) string {
	field = trim(field)
	if c.thousands != "" {
		field = c.ungrouped(field)
	}
	if c.decimal == "." {
		return field
	}
	if strings.Contains(field, ".") {
		return "." // not a number
	}
	return strings.Replace(field, c.decimal, ".", 1)
}

// ungrouped takes the marks between groups of three digits out of a number. A first group of 0 is
// none: 0.125 is an eighth with another mark before its fraction. 001.234 is padded with zeros.
func (c *cells) ungrouped(field string) string {
	mark := c.thousands
	if mark == " " { // which exports write in one of three ways
		field = strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(field)
	}
	whole, fraction, _ := strings.Cut(field, c.decimal)
	if !strings.Contains(whole, mark) || strings.Contains(fraction, mark) {
		return field
	}
	groups := strings.Split(strings.TrimLeft(whole, "+-"), mark)
	if groups[0] == "0" {
		return field
	}
	for i, g := range groups {
		if len(g) != 3 && (i > 0 || len(g) == 0 || len(g) > 3) || strings.Trim(g, "0123456789") != "" {
			return field
		}
	}
	return strings.ReplaceAll(whole, mark, "") + field[len(whole):]
}

// convert is a column's number in the study's unit of measurement, below limit in magnitude; NaN is
// a missing value. v is finite or NaN.
func (c *cells) convert(j int, v, limit float64) float64 {
	if slices.Contains(c.codes, v) {
		return math.NaN()
	}
	f := &c.columns[j]
	if !f.numeric() {
		return v
	}
	if f.Multiply != 0 {
		v = float64(v * f.Multiply) // rounded here, whatever the processor can do at once
	}
	if v += f.Add; math.Abs(v) < limit || math.IsNaN(v) {
		return v
	}
	return math.Copysign(math.Nextafter(limit, 0), v)
}

// missingUnit reports whether a field is a missing value's text that is no number: a code such as
// -9 may be a unit's name.
func (c *cells) missingUnit(field string) bool {
	if !c.missing[field] {
		return false
	}
	_, err := strconv.ParseFloat(c.plain(field), 64)
	return err != nil
}

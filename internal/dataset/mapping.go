package dataset

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Mapping says how a site's table becomes the one that studies ask for: how its text is written,
// what stands for a missing value, and what the site names and measures in another way. It is the
// site's own, fixed before a study, and part of what an approval binds. The zero Mapping is a
// comma-separated file in UTF-8 whose columns are as studies name and measure them.
type Mapping struct {
	// Separator of a text file's fields: ",", ";", "|" or a tab. Empty: ",".
	Separator string
	// Decimal is the mark before a text number's fraction, "." or ",". Empty: ".".
	Decimal string
	// Thousands is the mark between groups of three digits: ",", ".", "'" or a space, which is also
	// a no-break space. Empty: a number with one is no number.
	Thousands string
	// Encoding of a text file. Empty: UTF8.
	Encoding Encoding
	// SkipRows are the lines before the header, SkipLast the records at the end that are no rows,
	// such as a line of totals.
	SkipRows, SkipLast int
	// MissingValues stand for a missing value beside those of [Missing]. A number among them,
	// written as the file writes numbers, stands for itself however a cell writes it, and not for a
	// unit, and a date for its day.
	MissingValues []string
	// Dates is the form of dates in text, one of [DateForms], in columns whose From has none.
	// Empty: YYYY-MM-DD with all of its digits.
	Dates string
	// Columns are what the source has for a column of a study, by the study's name of it.
	Columns map[string]From
}

// From is where a column of a study comes from: a value v of the source is v·Multiply + Add, in the
// study's unit of measurement. The unit column has a name alone.
type From struct {
	// Name of the source's column; empty: the study's.
	Name string
	// Multiply is finite and not 0, but that 0 is read as 1. Add is finite.
	Multiply, Add float64
	// Names are the study's texts for the source's. One that is a number stands for it in a column
	// of numbers however a cell writes it, or the source holds it; one that is a date, in a column
	// of dates, for its day.
	Names map[string]string
	// Dates is the form of the column's dates in text; empty: the mapping's.
	Dates string
}

// Bounds of a mapping.
const (
	maxSkip    = 10_000
	maxMissing = 100
	maxNames   = 1_000
	maxText    = 200 // bytes of a name or a text
)

// MappingError is a mapping that cannot be. Key is dotted, as in agent.toml.
type MappingError struct{ Key, Reason string }

func (e *MappingError) Error() string { return e.Key + ": " + e.Reason }

func mappingErrorf(key, format string, args ...any) error {
	return &MappingError{key, fmt.Sprintf(format, args...)}
}

// Check returns the first fault of a mapping of a data set with that unit column, in the order of
// its keys; nil if it is in order. The error is a *[MappingError].
func (m Mapping) Check(unit string) error {
	for _, check := range []func() error{m.checkForm, m.checkMissing, func() error { return m.checkColumns(unit) }} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkForm returns the first fault of how the file is written, or of how much the mapping holds.
func (m Mapping) checkForm() error {
	switch {
	case !slices.Contains([]string{"", ",", ";", "\t", "|"}, m.Separator):
		return mappingErrorf("separator", `must be ",", ";", "tab" or "|", got %q`, m.Separator)
	case !slices.Contains([]string{"", ".", ","}, m.Decimal):
		return mappingErrorf("decimal", `must be "." or ",", got %q`, m.Decimal)
	case !slices.Contains([]string{"", ".", ",", "'", " "}, m.Thousands):
		return mappingErrorf("thousands", `must be ",", ".", "'" or " ", got %q`, m.Thousands)
	case m.Thousands == m.decimal():
		return mappingErrorf("thousands", "must differ from decimal")
	case m.Encoding != "" && !slices.Contains(encodings, m.Encoding):
		return mappingErrorf("encoding", "must be one of %q, got %q", encodings, m.Encoding)
	case m.SkipRows < 0 || m.SkipRows > maxSkip:
		return mappingErrorf("skip_rows", "must be in 0..%d, got %d", maxSkip, m.SkipRows)
	case m.SkipLast < 0 || m.SkipLast > maxSkip:
		return mappingErrorf("skip_last", "must be in 0..%d, got %d", maxSkip, m.SkipLast)
	case len(m.MissingValues) > maxMissing:
		return mappingErrorf("missing_values", "at most %d, got %d", maxMissing, len(m.MissingValues))
	case len(m.Columns) > maxMapped:
		return mappingErrorf("columns", "at most %d, got %d", maxMapped, len(m.Columns))
	}
	if why := formFault(m.Dates); why != "" {
		return mappingErrorf("dates", "%s", why)
	}
	return nil
}

// checkMissing returns the first fault of what stands for a missing value.
func (m Mapping) checkMissing() error {
	numbers := newCells(m, nil)
	for i, text := range m.MissingValues {
		key := fmt.Sprintf("missing_values[%d]", i)
		if why := textFault(text); why != "" {
			return mappingErrorf(key, "%s", why)
		}
		// A number in another notation would be a text that no cell of numbers has.
		if _, reason := numbers.number(text); reason != "" && m.decimal() == "," {
			if _, reason = parse(text); reason == "" {
				return mappingErrorf(key, "%q is no number in a file with decimal commas: write %q, or in a column of text names = { %q = \"NA\" }", text, strings.Replace(text, ".", ",", 1), text)
			}
		}
	}
	return nil
}

// checkColumns returns the first fault of the columns' names, or of what becomes of their cells.
func (m Mapping) checkColumns(unit string) error {
	from := map[string]string{}
	for _, name := range m.names() {
		key := "columns." + name
		if why := textFault(name); why != "" {
			return mappingErrorf(key, "the name %s", why)
		}
		source := cmp.Or(m.Columns[name].Name, name)
		if why := textFault(source); why != "" {
			return mappingErrorf(key+".from", "%s", why)
		}
		if other, twice := from[source]; twice {
			return mappingErrorf(key+".from", "%q is already the source of %q", source, other)
		}
		from[source] = name
		if err := m.checkColumn(name, unit); err != nil {
			return err
		}
	}
	return nil
}

// checkColumn returns the first fault of what a mapping makes of a column's cells.
func (m Mapping) checkColumn(name, unit string) error {
	f, key := m.Columns[name], "columns."+name
	switch {
	case math.IsNaN(f.Multiply) || math.IsInf(f.Multiply, 0):
		return mappingErrorf(key+".multiply", "must be finite and not 0, got %v", f.Multiply)
	case math.IsNaN(f.Add) || math.IsInf(f.Add, 0):
		return mappingErrorf(key+".add", "must be finite, got %v", f.Add)
	case name == unit && (f.numeric() || len(f.Names) > 0 || f.Dates != ""):
		return mappingErrorf(key, "is the unit column, which can be renamed and not converted")
	case len(f.Names) > maxNames:
		return mappingErrorf(key+".names", "at most %d, got %d", maxNames, len(f.Names))
	}
	if why := formFault(f.Dates); why != "" {
		return mappingErrorf(key+".dates", "%s", why)
	}
	for _, text := range slices.Sorted(maps.Keys(f.Names)) {
		for _, v := range []string{text, f.Names[text]} {
			if why := textFault(v); why != "" {
				return mappingErrorf(key+".names", "a text %s", why)
			}
		}
	}
	return nil
}

// maxMapped bounds the columns of a mapping, as a study's are.
const maxMapped = 100_000

// Nameable reports whether a mapping can have a text, of a cell or of a column's name.
func Nameable(v string) bool { return textFault(v) == "" }

// textFault is why a text cannot be in a mapping: what is compared with a cell has no spaces around
// it, and what is printed has no line breaks.
func textFault(v string) string {
	switch {
	case v == "":
		return "is empty"
	case len(v) > maxText:
		return fmt.Sprintf("is longer than %d bytes", maxText)
	case v != trim(v):
		return "has spaces around it"
	case !utf8.ValidString(v) || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }):
		return "holds an unprintable character"
	}
	return ""
}

// formFault returns why a text cannot be a form of dates.
func formFault(form string) string {
	if form == "" || slices.Contains(DateForms, form) {
		return ""
	}
	return fmt.Sprintf("must be one of %q, got %.80q", DateForms, form)
}

// form is the form of a column's dates in text; empty: YYYY-MM-DD with all of its digits.
func (m Mapping) form(name string) string {
	if f := m.Columns[name]; f.Dates != "" {
		return f.Dates
	}
	return m.Dates
}

func (m Mapping) decimal() string { return cmp.Or(m.Decimal, ".") }

// names returns the mapped columns' names in order of bytes.
func (m Mapping) names() []string { return slices.Sorted(maps.Keys(m.Columns)) }

// Text reports whether the mapping says how a text file is written, which no other format takes.
func (m Mapping) Text() bool {
	return m.Separator+m.Decimal+m.Thousands != "" || m.Encoding != "" || m.SkipRows != 0 || m.SkipLast != 0
}

// Empty reports whether the mapping changes nothing.
func (m Mapping) Empty() bool {
	return !m.Text() && len(m.MissingValues) == 0 && m.Dates == "" && len(m.Columns) == 0
}

// Words passes all of the mapping to word, in an order that is always the same. Two mappings of the
// same words read a source in the same way; the caller keeps words apart.
func (m Mapping) Words(word func(string)) {
	list := func(v []string) {
		word(strconv.Itoa(len(v)))
		for _, text := range v {
			word(text)
		}
	}
	for _, v := range []string{m.Separator, m.Decimal, m.Thousands, string(m.Encoding), strconv.Itoa(m.SkipRows), strconv.Itoa(m.SkipLast)} {
		word(v)
	}
	list(m.MissingValues)
	word(m.Dates)
	names := m.names()
	list(names)
	for _, name := range names {
		f := m.Columns[name]
		word(f.Name)
		word(strconv.FormatUint(math.Float64bits(f.Multiply), 16))
		word(strconv.FormatUint(math.Float64bits(f.Add), 16))
		word(f.Dates)
		texts := slices.Sorted(maps.Keys(f.Names))
		list(texts)
		for _, text := range texts {
			word(f.Names[text])
		}
	}
}

// Source returns what the source calls a column of a study.
func (m Mapping) Source(name string) string { return cmp.Or(m.Columns[name].Name, name) }

// sourceNames returns columns under the source's names, the unit's too. No two are of one column of
// the source.
func (m Mapping) sourceNames(q Request) (columns []Column, unit string, err error) {
	if len(m.Columns) == 0 {
		return q.Columns, q.Unit, nil
	}
	of := make(map[string]string, len(q.Columns)+1)
	if q.Unit != "" {
		unit = m.Source(q.Unit)
		of[unit] = q.Unit
	}
	for _, c := range q.Columns {
		name := c.Name
		c.Name = m.Source(name)
		if other, twice := of[c.Name]; twice {
			return nil, "", &Error{Schema: SchemaColumns, Column: name, Reason: fmt.Sprintf("comes from %q, and so does %q", c.Name, other)}
		}
		of[c.Name] = name
		columns = append(columns, c)
	}
	return columns, unit, nil
}

// named puts the study's name of its column into a fault, and where the mapping looked for it.
func (m Mapping) named(err error, columns []Column, unit string) error {
	e, ok := err.(*Error)
	if !ok || e.Schema == "" || len(m.Columns) == 0 {
		return err
	}
	of := func(name string) bool { return e.Column == m.Source(name) && m.Source(name) != name }
	at := slices.IndexFunc(columns, func(c Column) bool { return of(c.Name) })
	switch {
	case at >= 0:
		e.Column, e.Reason = columns[at].Name, fmt.Sprintf("from %q: %s", e.Column, e.Reason)
	case unit != "" && of(unit):
		e.Column, e.Reason = unit, fmt.Sprintf("from %q: %s", e.Column, e.Reason)
	}
	return err
}

func (f From) numeric() bool { return f.Multiply != 0 && f.Multiply != 1 || f.Add != 0 }

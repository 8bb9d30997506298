package dataset

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
)

// Surveyor sees a source's fields as they are written, faults and all.
type Surveyor interface {
	// Header begins: the source's columns, by the names that it has. unit is the index of the
	// unit's, -1 without one.
	Header(names []string, unit int)
	// Unused is a column whose type cannot hold numbers, and why; no row has a field of it.
	Unused(column int, reason string)
	// Row begins a row: its line, or its number, and which unit it is of, -1 where that is missing.
	Row(at, unit int)
	// Text and Number are the row's field of a column; NaN is a missing number.
	Text(column int, field string)
	Number(column int, v float64)
	// Broken is a record that is no row; over says that it goes over several lines, and may hold
	// rows.
	Broken(at int, reason string, over bool)
}

// Survey shows a source to see, from its first row to its last. Of the source's mapping only what
// says how its text is written counts, and the unit's name. The error is an *[Error], of what makes
// it no table at all.
func Survey(s Source, unit string, o ReadOptions, see Surveyor) error {
	unit = s.Mapping.Source(unit)
	s.Mapping.Columns, s.Mapping.MissingValues = nil, nil
	if s.Query == nil && s.Kind().Text() {
		return s.surveyText(unit, o, see)
	}
	var names []string
	_, _, err := s.scan(Request{Missing: MissingDropFaulty}, ReadOptions{}, func(b *builder) { b.survey = func([]float64) error { return errSeen } }, &names)
	if err != nil && !errors.Is(err, errSeen) {
		return err
	}
	who := slices.IndexFunc(names, func(n string) bool { return unit != "" && trim(n) == unit })
	if who < 0 {
		unit = ""
	}
	see.Header(names, who)
	unused := map[string]bool{}
	for {
		q := Request{Unit: unit, Missing: MissingDropFaulty}
		var places []int
		for j, n := range names {
			if n = trim(n); j != who && n != "" && !unused[n] {
				q.Columns, places = append(q.Columns, Column{Name: n, Scale: 1}), append(places, j)
			}
		}
		seen := false
		_, _, err := s.scan(q, o, func(b *builder) {
			b.survey = func(row []float64) error {
				seen = true
				see.Row(b.row.at, b.unitAt())
				for j, v := range row {
					see.Number(places[j], v)
				}
				return nil
			}
		}, nil)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Schema != SchemaFormat || seen {
			return err
		}
		// more columns are no numbers
		reasons := map[string]string{e.Column: e.Reason}
		for _, other := range e.Others {
			reasons[other.Column] = other.Reason
		}
		found := false
		for i, c := range q.Columns {
			if reason, bad := reasons[c.Name]; bad {
				found, unused[c.Name] = true, true
				see.Unused(places[i], reason)
			}
		}
		if !found {
			return err
		}
	}
}

// errSeen ends a scan whose header is all that is wanted. It is of the kind that drivers pass on.
var errSeen = &Error{Reason: "seen"}

// unitAt is which unit the row under way is of, -1 where that is missing.
func (b *builder) unitAt() int {
	switch {
	case b.row.noUnit:
		return -1
	case b.unit == "":
		return b.taken.rows
	}
	return b.row.unit
}

func (s Source) surveyText(unit string, o ReadOptions, see Surveyor) error {
	f, err := s.openFile(o)
	if err != nil {
		return err
	}
	defer f.close()
	names := f.header()
	who := slices.Index(names, unit)
	if unit == "" {
		who = -1
	}
	see.Header(names, who)
	return f.table.(*csvTable).survey(who, see)
}

// survey shows a text file's records.
func (t *csvTable) survey(who int, see Surveyor) error {
	units := map[string]int{}
	for n := 0; ; {
		r, err := t.row()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := r.err.(*Error); ok {
			see.Broken(e.Row, e.Reason, e.Reason == reasonOver)
			continue
		}
		of := n
		if who >= 0 {
			word := trim(r.fields[who])
			at, ok := units[word]
			switch {
			case isMissing(word):
				at = -1
			case !ok:
				at = len(units)
				units[strings.Clone(word)] = at
			}
			of = at
		}
		see.Row(r.line, of)
		for j, field := range r.fields {
			see.Text(j, field)
		}
		n++
	}
}

// Cell reads a field of text as the mapping says: a number, NaN for a missing value, or why it is
// neither. Names are of one column, and are left to the caller ([Mapping.Numbers]).
func (m Mapping) Cell() func(field string) (v float64, reason string) {
	c := newCells(m, nil)
	if c == nil {
		return parse
	}
	return func(field string) (float64, string) {
		if c.missing[trim(field)] {
			return math.NaN(), ""
		}
		v, reason := c.number(field)
		for _, code := range c.codes {
			if v == code && reason == "" {
				return math.NaN(), ""
			}
		}
		return v, reason
	}
}

// Numbers returns what turns a column's numbers, however a cell writes them, into those that the
// study reads, before they are converted: by names, and NaN for a missing value.
func (m Mapping) Numbers(f From) func(v float64) float64 {
	c := newCells(m, nil)
	if c == nil {
		return func(v float64) float64 { return v }
	}
	renamed := c.renames(f.Names)
	return func(v float64) float64 {
		if to, ok := renamed[v]; ok {
			v = to
		}
		if slices.Contains(c.codes, v) {
			return math.NaN()
		}
		return v
	}
}

// Dateless returns what reports whether a text of a column of dates is one that stands for a
// missing value. typed says that the source's type is a date, and text YYYY-MM-DD.
func (m Mapping) Dateless(name string) func(text string, typed bool) bool {
	c := newCells(m, []Column{{Name: name}})
	days, form := c.days(0), m.form(name)
	return func(text string, typed bool) bool {
		form := form
		if typed {
			form = ""
		}
		day, ok := dateIn(form, text)
		to, coded := days[day]
		return ok && coded && math.IsNaN(to)
	}
}

package dataset

import (
	"math"
	"slices"
)

// layout is what a row is made of, and of which cells of a source. It stays as it is while rows are
// read.
type layout struct {
	columns       []Column
	unit          string    // the unit column; empty: every row is a unit
	sourceColumns []Column  // columns under the source's names
	sourceUnit    string    // the unit column's there
	mapped        *cells    // nil: as they are
	encoders      []encoder // of columns; nil: all are of numbers
	d             int       // the length of a row
	precision     Precision
	limit         float64 // of a magnitude, before offset and scale and after
}

// encoder makes a column's number of its cells: of a column with levels the index of the cell's.
type encoder struct {
	Reading
	first int             // of the column's numbers in a row
	index map[string]int  // of Levels
	days  map[int]float64 // of Days: what the mapping makes of some of them
}

// newLayout returns the layout of what is asked of a source with a mapping.
func newLayout(q Request, m Mapping) (l layout, err error) {
	l = layout{columns: q.Columns, unit: q.Unit, mapped: newCells(m, q.Columns), d: len(q.Columns), precision: q.Precision, limit: Limit}
	if l.precision == Float32 {
		l.limit = limit32
	}
	if slices.ContainsFunc(q.Readings, func(r Reading) bool { return r.text() || r.Indicator }) {
		l.encode(q)
	}
	l.sourceColumns, l.sourceUnit, err = m.sourceNames(q)
	return l, err
}

// encode adds what makes numbers of columns' cells where a column is more than its number.
func (l *layout) encode(q Request) {
	l.encoders, l.d = make([]encoder, len(l.columns)), 0
	for j := range l.encoders {
		r := &l.encoders[j]
		r.Reading, r.first = q.reading(j), l.d
		l.d += r.width()
		if r.As == Days {
			r.days = l.mapped.days(j)
		}
		if len(r.Levels) == 0 {
			continue
		}
		r.index = make(map[string]int, len(r.Levels))
		for i, text := range r.Levels {
			r.index[text] = i
		}
	}
}

// encoder returns column j's, nil if its cells are numbers.
func (l *layout) encoder(j int) *encoder {
	if l.encoders == nil || !l.encoders[j].text() {
		return nil
	}
	return &l.encoders[j]
}

// start returns where column j's numbers begin in a row.
func (l *layout) start(j int) int {
	if l.encoders == nil {
		return j
	}
	return l.encoders[j].first
}

// cells returns how many numbers of a row are gaps where a cell of column j is one.
func (l *layout) cells(j int) int {
	if l.encoders == nil {
		return 1
	}
	return l.encoders[j].cells()
}

// beyond is why a number at the limit or above is no value.
func (l *layout) beyond() string {
	if l.precision == Float32 {
		return "the value is beyond float32"
	}
	return "the value is 2^480 or more"
}

// numeral reads a field of text.
func (l *layout) numeral(j int, field string) (v float64, reason string) {
	if l.mapped == nil {
		return parse(field)
	}
	if to := l.mapped.renamed[j]; len(to) > 0 {
		if v, reason = l.mapped.number(field); reason == "" && !l.mapped.names(j, trim(field)) {
			if v, ok := to[v]; ok { // before texts of missing values, as of a source's number
				return v, ""
			}
		}
	}
	return l.mapped.number(l.mapped.text(j, field))
}

// named returns a column's cell in the study's words.
func (l *layout) named(j int, field string) string {
	if l.mapped == nil {
		return trim(field)
	}
	return l.mapped.text(j, field)
}

// cell returns the number of a cell of a column that is read as text; NaN is a missing value.
func (l *layout) cell(j int, field string) float64 {
	return l.formed(j, l.mapped.form(j, field), field)
}

// since is a day of the source, since 1970-01-01, as the column's number.
func (r *encoder) since(day int) float64 {
	if to, ok := r.days[day]; ok {
		return to - float64(r.Epoch)
	}
	return float64(day - r.Epoch)
}

// formed is cell of a column whose dates have a form; empty: YYYY-MM-DD with all of its digits.
func (l *layout) formed(j int, form, field string) float64 {
	r, was := &l.encoders[j], trim(field)
	if r.As == Days && !l.mapped.names(j, was) {
		day, ok := dateIn(form, was)
		if !ok {
			return math.NaN()
		}
		return r.since(day)
	}
	field = l.named(j, field)
	if r.index != nil {
		if field == was && l.mapped.coded(field) {
			return math.NaN()
		}
		if i, ok := r.index[field]; ok {
			return float64(i)
		}
	}
	return r.noLevel(field)
}

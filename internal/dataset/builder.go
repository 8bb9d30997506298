package dataset

import (
	"math"
	"strings"
)

// blockValues is how many values a builder gathers before it hands them on: as much as
// a second-level cache holds beside a buffer of the file.
const blockValues = 16 << 10

// sink takes rows in order, whole rows each time. It must not keep block.
type sink func(block []float64) error

// builder turns a table's fields into rows, one row at a time: begin; put, text and setUnit
// for its fields in any order; end. Of several faults of a row, the unit's comes first
// and then that of the first column asked for.
type builder struct {
	layout
	row   current
	taken tally

	file, word string // of faults
	missing    Missing
	strict     bool

	block   []float64 // rows that sink has not got
	scratch []float64 // for a row's numbers by column, where columns have levels
	odds    []bool    // of columnar
	sink    sink
	survey  func(row []float64) error // instead of all else ([Survey])
	kept    *texts                    // of [SurveyTexts]: what the numbers of survey's rows stand for

	reserve  func(rows float64)           // makes room for so many more; nil: none are kept
	consumed func() (read, total float64) // how many of the file's bytes are rows by now; nil: nobody knows
}

// current is the row under way.
type current struct {
	at     int       // its line, or its number
	values []float64 // the end of the builder's block
	raw    []float64 // its numbers by column: values itself, or scratch
	lost   []int     // columns without a value that are gaps
	drop   bool

	fault  int // the first column at fault, the number of columns if none is
	reason string

	noUnit bool   // the unit is missing
	unit   int    // its number
	name   string // the unit itself, where rows are streamed
}

// newBuilder returns the builder of the rows of a source, which faults call file; they count what
// word says. The caller gives it a sink.
func newBuilder(file, word string, q Request, m Mapping) (*builder, error) {
	l, err := newLayout(q, m)
	if err != nil {
		return nil, err
	}
	b := &builder{layout: l, file: file, word: word, missing: q.Missing, strict: q.Strict}
	if b.unit != "" {
		b.taken.seen = map[string]int{}
	}
	if b.encoders != nil {
		b.scratch = make([]float64, len(b.columns))
	}
	b.block = make([]float64, 0, max(1, blockValues/max(1, b.d))*b.d)
	return b, nil
}

// begin starts the row of a line.
func (b *builder) begin(at int) {
	r := &b.row
	r.values = b.block[len(b.block) : len(b.block)+b.d]
	if r.raw = r.values; b.encoders != nil {
		r.raw = b.scratch
	}
	r.at, r.drop, r.fault, r.noUnit, r.lost = at, false, len(b.columns), false, r.lost[:0]
}

// put gives a column its number, not yet offset and scaled; NaN is a missing value.
func (b *builder) put(j int, v float64) { b.row.raw[j] = v }

// scale offsets and scales the row. Whether a number is a value is decided before: what
// is refused MUST NOT depend on Offset and Scale, or whoever proposes them would learn
// the largest value to any digit by asking which are refused. Whatever they take beyond the
// limit is brought to the nearest below it.
func (b *builder) scale() {
	if b.encoders != nil {
		for j, raw := range b.row.raw {
			if r := &b.encoders[j]; r.index == nil {
				b.row.values[r.first] = b.scaled(j, raw)
			} else {
				b.level(j, b.row.values[r.first:r.first+r.width()], raw)
			}
		}
		return
	}
	for j, raw := range b.row.values {
		b.row.values[j] = b.scaled(j, raw)
	}
}

// scaled offsets and scales one number.
func (b *builder) scaled(j int, raw float64) float64 {
	c := &b.columns[j]
	if b.mapped != nil && math.Abs(raw) < b.limit && b.encoder(j) == nil {
		raw = b.mapped.convert(j, raw, b.limit)
	}
	v := raw
	if c.Offset != 0 || c.Scale != 1 {
		v = (raw - c.Offset) / c.Scale
	}
	switch {
	case !(math.Abs(raw) < b.limit): // also an infinity, and NaN
		b.odd(j, raw)
	case !(math.Abs(v) < b.limit): // no NaN: raw and Offset are finite, their difference too, Scale is above 0
		v = math.Copysign(math.Nextafter(b.limit, 0), v)
	}
	return v
}

// level makes a column's numbers of its level's index: one of them 1.
func (b *builder) level(j int, out []float64, index float64) {
	clear(out)
	if math.IsNaN(index) {
		b.odd(j, index)
		return
	}
	out[int(index)] = 1
}

// odd takes a number that is no value.
func (b *builder) odd(j int, raw float64) {
	switch {
	case math.IsInf(raw, 0):
		b.fault(j, "the value is infinite")
	case !math.IsNaN(raw):
		b.fault(j, b.beyond())
	case b.missing == MissingError:
		b.fault(j, reasonMissing)
	case b.missing != MissingGaps:
		b.row.drop = true
	}
	if b.missing == MissingGaps {
		b.row.lost = append(b.row.lost, j)
	}
}

// gap marks the row's cells without a value, and puts 0 in their place. Rows before it that have
// none are made room for now: of a file without gaps there are no bits at all.
func (b *builder) gap() {
	stride, at := GapStride(b.d), b.taken.rows-b.taken.first
	b.taken.cover(at+1, stride)
	bits := b.taken.gaps[at*stride:]
	for _, j := range b.row.lost {
		for k := b.start(j); k < b.start(j)+b.cells(j); k++ {
			bits[k/8] |= 1 << (k % 8)
			b.row.values[k] = 0
		}
	}
}

// indicate sets the row's indicators.
func (b *builder) indicate() {
	for j := range b.encoders {
		if r := &b.encoders[j]; r.Indicator {
			b.row.values[r.first+r.cells()] = 0
		}
	}
	for _, j := range b.row.lost {
		if b.encoders != nil && b.encoders[j].Indicator {
			b.row.values[b.encoders[j].first+b.encoders[j].cells()] = 1
		}
	}
}

// text gives a column its field as text.
func (b *builder) text(j int, field string) {
	if b.encoder(j) != nil {
		b.put(j, b.cell(j, field))
		return
	}
	v, reason := b.numeral(j, field)
	if reason != "" {
		b.fault(j, reason)
		if b.missing == MissingGaps {
			v = math.NaN()
		}
	}
	b.put(j, v)
}

func (b *builder) fault(j int, reason string) {
	if j < b.row.fault {
		b.row.fault, b.row.reason = j, reason
	}
}

// setUnit gives the row its unit. Values are compared as text: 7, 07 and 7.0
// are three units. A missing value (the same as in a number's column) is a fault
// whatever becomes of missing numbers: nobody can tell whose row it is, and rows
// of many people taken for one unit, or of one for many, would not be protected as
// the study says.
func (b *builder) setUnit(field string) {
	field = trim(field)
	switch {
	case isMissing(field) || b.mapped != nil && b.mapped.missingUnit(field):
		b.row.noUnit = true
	case b.taken.streams:
		b.row.name = strings.Clone(field) // not its line
	default:
		b.row.unit = b.taken.number(field)
	}
}

// end offsets and scales the row, checks it and takes it.
func (b *builder) end() error {
	if b.survey != nil {
		err := b.survey(b.row.raw)
		b.taken.rows++
		return err
	}
	b.scale()
	return b.take()
}

// take checks the row, which is offset and scaled, and takes it. A row is validated whole before it
// is dropped: whether a fault is reported does not depend on a missing value beside it.
func (b *builder) take() error {
	row, t := &b.row, &b.taken
	faulty := row.fault < len(b.columns)
	switch {
	case row.noUnit:
		return &Error{File: b.file, Row: row.at, word: b.word, Column: b.unit, Reason: "the unit is missing"}
	case faulty && (b.strict || b.missing != MissingDropFaulty && b.missing != MissingGaps):
		return b.faultOf()
	case t.rows == MaxRows:
		return &Error{File: b.file, Row: row.at, word: b.word, Reason: "more than 2^31-1 rows"}
	}
	if faulty {
		if t.fault == nil {
			t.fault = b.faultOf()
		}
		t.faulty++
		row.drop = b.missing == MissingDropFaulty
	}
	if len(row.lost) > 0 {
		b.gap()
	}
	b.indicate()
	if row.drop {
		clear(row.values)
		t.drop()
	}
	switch {
	case b.unit != "" && t.streams:
		t.names = append(t.names, row.name)
	case b.unit != "":
		t.units = append(t.units, int32(row.unit))
	}
	t.rows++
	b.block = b.block[:len(b.block)+b.d]
	if len(b.block)+b.d > cap(b.block) {
		return b.flush()
	}
	return nil
}

// faultOf is the row's first fault of a value.
func (b *builder) faultOf() *Error {
	return &Error{File: b.file, Row: b.row.at, word: b.word, Column: b.columns[b.row.fault].Name, Reason: b.row.reason, Value: true}
}

// flush hands on what was gathered.
func (b *builder) flush() error {
	if len(b.block) == 0 {
		return nil
	}
	err := b.sink(b.block)
	b.block = b.block[:0]
	return err
}

// finish returns what is known of all rows, without values and hash.
func (b *builder) finish() (*Rows, error) {
	if err := b.flush(); err != nil {
		return nil, err
	}
	t := &b.taken
	if t.rows == 0 {
		reason := "has no rows"
		if b.word == "line" {
			reason = "no rows follow the header"
		}
		return nil, &Error{File: b.file, Reason: reason}
	}
	t.coverAll(GapStride(b.d))
	r := &Rows{Gaps: t.gaps, Rows: t.rows, Units: t.rows, D: b.d, Dropped: t.dropped, Faulty: t.faulty, Fault: t.fault, Absent: t.absent}
	if b.unit != "" {
		r.Units = len(t.seen)
	}
	return r, nil
}

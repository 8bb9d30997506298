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
	file, word    string
	columns       []Column
	unit          string   // the unit column; empty: every row is a unit
	sourceColumns []Column // columns under the source's names
	sourceUnit    string   // the unit column's there
	mapped        *cells   // nil: as they are
	missing       Missing
	strict        bool
	precision     Precision
	limit         float64 // of a magnitude, before offset and scale and after
	sink          sink

	encoders []encoder // of columns; nil: all are of numbers
	d        int       // the length of a row

	block   []float64 // rows that sink has not got
	row     []float64 // the one under way, the end of block
	raw     []float64 // its numbers by column: row itself, or scratch where columns have levels
	scratch []float64
	at      int // its line, or its number

	drop        bool
	lost        []int // columns of the row without a value
	empty       []int // places in the row that are gaps
	gaps        []byte
	faulty      int
	firstFault  *Error
	faultColumn int // the first at fault, len(columns) if none is
	reason      string
	noUnit      bool // the unit is missing
	number      int  // of its unit
	seen        map[string]int
	units       []int32
	absent      []int
	odds        []bool                    // of columnar
	survey      func(row []float64) error // instead of all else ([Survey])
	count       int                       // rows, the one under way not among them
	before      int                       // of them, in the files before this one
	reserve     func(rows float64)
	consumed    func() (read, total float64) // how many of the file's bytes are rows by now; nil: nobody knows

	streams bool     // rows are handed on and forgotten ([Stream])
	handed  int      // of them
	left    int      // of those that were handed on, dropped
	name    string   // the unit of the row under way
	names   []string // the units of the rows not yet handed on
}

// newBuilder returns the builder of the rows of a source, which faults call file; they count what
// word says. The caller gives it a sink.
func newBuilder(file, word string, q Request, m Mapping) (b *builder, err error) {
	b = &builder{file: file, word: word, columns: q.Columns, unit: q.Unit, mapped: newCells(m, q.Columns), missing: q.Missing, strict: q.Strict, precision: q.Precision, limit: Limit}
	if b.sourceColumns, b.sourceUnit, err = m.sourceNames(q); err != nil {
		return nil, err
	}
	if b.precision == Float32 {
		b.limit = limit32
	}
	if b.unit != "" {
		b.seen = map[string]int{}
	}
	b.encode(q)
	b.block = make([]float64, 0, max(1, blockValues/max(1, b.d))*b.d)
	return b, nil
}

// begin starts the row of a line.
func (b *builder) begin(at int) {
	b.row = b.block[len(b.block) : len(b.block)+b.d]
	if b.raw = b.row; b.encoders != nil {
		b.raw = b.scratch
	}
	b.at, b.drop, b.faultColumn, b.noUnit, b.empty, b.lost = at, false, len(b.columns), false, b.empty[:0], b.lost[:0]
}

// put gives a column its number, not yet offset and scaled; NaN is a missing value.
func (b *builder) put(j int, v float64) { b.raw[j] = v }

// scale offsets and scales the row. Whether a number is a value is decided before: what
// is refused MUST NOT depend on Offset and Scale, or whoever proposes them would learn
// the largest value to any digit by asking which are refused. Whatever they take beyond the
// limit is brought to the nearest below it.
func (b *builder) scale() {
	if b.encoders != nil {
		for j, raw := range b.raw {
			if r := &b.encoders[j]; r.index == nil {
				b.row[r.first] = b.scaled(j, raw)
			} else {
				b.level(j, b.row[r.first:r.first+r.width()], raw)
			}
		}
		return
	}
	for j, raw := range b.row {
		b.row[j] = b.scaled(j, raw)
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
		b.drop = true
	}
	if b.missing == MissingGaps {
		b.lost = append(b.lost, j)
		for at := range b.cells(j) {
			b.empty = append(b.empty, b.start(j)+at)
		}
	}
}

// gap marks the row's cells without a value, and puts 0 in their place. Rows before it that have
// none are made room for now: of a file without gaps there are no bits at all.
func (b *builder) gap() {
	stride, at := GapStride(b.d), b.count-b.handed
	if want := (at + 1) * stride; len(b.gaps) < want {
		b.gaps = append(b.gaps, make([]byte, want-len(b.gaps))...)
	}
	bits := b.gaps[at*stride:]
	for _, j := range b.empty {
		bits[j/8] |= 1 << (j % 8)
		b.row[j] = 0
	}
}

func (b *builder) beyond() string {
	if b.precision == Float32 {
		return "the value is beyond float32"
	}
	return "the value is 2^480 or more"
}

// numeral reads a field of text.
func (b *builder) numeral(j int, field string) (v float64, reason string) {
	if b.mapped == nil {
		return parse(field)
	}
	return b.mapped.number(b.mapped.text(j, field))
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
	if j < b.faultColumn {
		b.faultColumn, b.reason = j, reason
	}
}

// setUnit gives the row its unit. Values are compared as text: 7, 07 and 7.0
// are three units. A missing value (the same as in a number's column) is a fault
// whatever becomes of missing numbers: nobody can tell whose row it is, and rows
// of many people taken for one unit, or of one for many, would not be protected as
// the study says.
func (b *builder) setUnit(field string) {
	field = trim(field)
	if isMissing(field) || b.mapped != nil && b.mapped.missingUnit(field) {
		b.noUnit = true
		return
	}
	if b.streams {
		b.name = strings.Clone(field) // not its line
		return
	}
	i, ok := b.seen[field]
	if !ok {
		i = len(b.seen)
		b.seen[strings.Clone(field)] = i // not its line
	}
	b.number = i
}

// end offsets and scales the row, checks it and takes it.
func (b *builder) end() error {
	if b.survey != nil {
		err := b.survey(b.row)
		b.count++
		return err
	}
	b.scale()
	return b.take()
}

// take checks the row, which is offset and scaled, and takes it. A row is validated whole before it
// is dropped: whether a fault is reported does not depend on a missing value beside it.
func (b *builder) take() error {
	switch {
	case b.noUnit:
		return &Error{File: b.file, Row: b.at, word: b.word, Column: b.unit, Reason: "the unit is missing"}
	case b.faultColumn < len(b.columns) && (b.strict || b.missing != MissingDropFaulty && b.missing != MissingGaps):
		return b.faultOf()
	case b.count == MaxRows:
		return &Error{File: b.file, Row: b.at, word: b.word, Reason: "more than 2^31-1 rows"}
	}
	if b.faultColumn < len(b.columns) {
		if b.firstFault == nil {
			b.firstFault = b.faultOf()
		}
		b.faulty++
		b.drop = b.missing == MissingDropFaulty
	}
	if len(b.empty) > 0 {
		b.gap()
	}
	b.indicate()
	if b.drop {
		clear(b.row)
		b.absent = append(b.absent, b.count)
	}
	switch {
	case b.seen != nil && b.streams:
		b.names = append(b.names, b.name)
	case b.seen != nil:
		b.units = append(b.units, int32(b.number))
	}
	b.count++
	b.block = b.block[:len(b.block)+b.d]
	if len(b.block)+b.d > cap(b.block) {
		return b.flush()
	}
	return nil
}

// faultOf is the row's first fault of a value.
func (b *builder) faultOf() *Error {
	return &Error{File: b.file, Row: b.at, word: b.word, Column: b.columns[b.faultColumn].Name, Reason: b.reason, Value: true}
}

// What a source may hold at most: a row's unit is kept in 32 bits, and the length of a file of all
// values stays within an int64 by far.
const (
	MaxRows   = 1<<31 - 1
	MaxValues = 1 << 48
)

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
	if b.count == 0 {
		reason := "has no rows"
		if b.word == "line" {
			reason = "no rows follow the header"
		}
		return nil, &Error{File: b.file, Reason: reason}
	}
	if b.gaps != nil && !b.streams {
		b.gaps = append(b.gaps, make([]byte, b.count*GapStride(b.d)-len(b.gaps))...)
	}
	r := &Rows{Gaps: b.gaps, Rows: b.count, Units: b.count, D: b.d, Dropped: b.left + len(b.absent), Faulty: b.faulty, Fault: b.firstFault, Absent: b.absent}
	if b.seen != nil {
		r.Units = len(b.seen)
	}
	return r, nil
}

// unitColumn returns [Rows.Unit].
func (b *builder) unitColumn() []int {
	if b.seen == nil {
		return nil
	}
	out := make([]int, len(b.units))
	for i, u := range b.units {
		out[i] = int(u)
	}
	return out
}

package dataset

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Rows are a data set's rows, and the units that they belong to. Without a unit column
// each row is a unit.
//
// A dropped row stays, as a row of zeros. Privacy is under replacement of a unit,
// with the number of units public (docs/experiments.md): n counts units before
// any is dropped, or n itself would depend on values and one replaced unit could
// change it. A row of zeros is clipped to the zero vector and adds nothing to a
// power sum; in the histogram of radii it is one count of the lowest bin, which is
// a function of that unit alone, so the sensitivity holds. A unit of several rows
// keeps its place in the same way when some or all of them are dropped.
type Rows struct {
	// Values is Rows×D, row-major: row i, column j (in the proposal's order) is Values[i*D+j]. All
	// finite and below [Limit] in magnitude, brought there if need be. Owned by the caller. nil of
	// rows in float32.
	Values []float64
	// Values32 is Values in float32, each the float64 rounded once; nil of rows in float64.
	Values32 []float32
	// Unit is the unit of each row: Rows numbers in 0..Units-1, in order of first
	// appearance. nil without a unit column: row i is unit i. Owned by the caller.
	Unit []int
	// Rows counts the data rows, dropped ones too. At least 1.
	Rows int
	// Units counts the unit column's distinct values, those too all of whose rows
	// were dropped; without a unit column it is Rows.
	Units int
	// D is the number of columns asked for.
	D int
	// Dropped counts the rows that are zero because a value was missing, or was at fault. It is
	// the site's own business: it depends on values and must not be sent.
	Dropped int
	// Faulty counts those of Dropped that had a value at fault, Fault is the first such value's,
	// nil if there was none; both of [MissingDropFaulty] alone, and not kept in a cache file.
	Faulty int
	Fault  *Error
	// Absent are the indices of the dropped rows, ascending; as private as Dropped.
	Absent []int
	// SHA256 is the pin: of the file's bytes, all of them, or of a query's answer
	// ([Source]).
	SHA256 [32]byte
}

// String returns the shape, never the values.
func (r Rows) String() string { return fmt.Sprintf("dataset.Rows(%d×%d) [redacted]", r.Rows, r.D) }

// Format is [Rows.String] whatever the verb.
func (r Rows) Format(f fmt.State, _ rune) { io.WriteString(f, r.String()) }

// MarshalText keeps rows out of JSON and structured logs.
func (r Rows) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Info is what a site can say of a data set without reading its numbers.
type Info struct {
	// Rows and Units are as in [Rows].
	Rows, Units int
	// Header holds the column names in the file's order.
	Header []string
	// SHA256 is as in [Rows].
	SHA256 [32]byte
}

// blockValues is how many values a builder gathers before it hands them on: as much as
// a second-level cache holds beside a buffer of the file.
const blockValues = 16 << 10

// sink takes rows in order, whole rows each time. It must not keep block.
type sink func(block []float64) error

// builder turns a table's fields into rows, one row at a time: begin, put, text and whose
// for its fields in any order, end. Of several faults of a row, the unit's comes first
// and then that of the first column asked for.
type builder struct {
	file, word string
	columns    []Column
	unit       string // the unit column; empty: every row is a unit
	missing    Missing
	precision  Precision
	limit      float64 // of a magnitude, before offset and scale and after
	sink       sink

	block []float64 // rows that sink has not got
	row   []float64 // the one under way, the end of block
	at    int       // its line, or its number

	drop    bool
	faulty  int
	first   *Error
	bad     int // first column at fault, len(columns) if none is
	reason  string
	nobody  bool // the unit is missing
	number  int  // of its unit
	seen    map[string]int
	units   []int32
	absent  []int
	odds    []bool // of columnar
	count   int    // rows, the one under way not among them
	reserve func(rows float64)
}

func newBuilder(file, word string, columns []Column, unit string, missing Missing, precision Precision, s sink) *builder {
	b := &builder{file: file, word: word, columns: columns, unit: unit, missing: missing, precision: precision, sink: s, limit: Limit}
	if precision == Float32 {
		b.limit = limit32
	}
	rows := 1
	if len(columns) > 0 {
		rows = max(1, blockValues/len(columns))
	}
	b.block = make([]float64, 0, rows*len(columns))
	if unit != "" {
		b.seen = map[string]int{}
	}
	return b
}

// begin starts the row of a line.
func (b *builder) begin(at int) {
	d := len(b.columns)
	b.row = b.block[len(b.block) : len(b.block)+d]
	b.at, b.drop, b.bad, b.nobody = at, false, d, false
}

// put returns a column its number, not yet offset and scaled; NaN is a missing value.
func (b *builder) put(j int, v float64) { b.row[j] = v }

// scale offsets and scales the row. Whether a number is a value is decided before: what
// is refused MUST NOT depend on Offset and Scale, or whoever proposes them would learn
// the largest value to any digit by asking which are refused. Whatever they take beyond the
// limit is brought to the nearest below it.
func (b *builder) scale() {
	limit, row := b.limit, b.row
	columns := b.columns[:len(row)]
	for j, raw := range row {
		c := &columns[j]
		v := raw
		if c.Offset != 0 || c.Scale != 1 {
			v = (raw - c.Offset) / c.Scale
		}
		switch {
		case !(math.Abs(raw) < limit): // also an infinity, and NaN
			b.odd(j, raw)
		case !(math.Abs(v) < limit): // no NaN: raw and Offset are finite, their difference too, Scale is above 0
			v = math.Copysign(math.Nextafter(limit, 0), v)
		}
		row[j] = v
	}
}

// odd takes a number that is no value.
func (b *builder) odd(j int, raw float64) {
	switch {
	case math.IsInf(raw, 0):
		b.fault(j, "the value is infinite")
	case !math.IsNaN(raw):
		b.fault(j, b.beyond())
	case b.missing == MissingError:
		b.fault(j, "the value is missing")
	default:
		b.drop = true
	}
}

func (b *builder) beyond() string {
	if b.precision == Float32 {
		return "the value is beyond float32"
	}
	return "the value is 2^480 or more"
}

// text returns a column its field as text.
func (b *builder) text(j int, field string) {
	v, reason := parse(field)
	if reason != "" {
		b.fault(j, reason)
	}
	b.put(j, v)
}

func (b *builder) fault(j int, reason string) {
	if j < b.bad {
		b.bad, b.reason = j, reason
	}
}

// whose returns the row its unit. Values are compared as text: 7, 07 and 7.0
// are three units. A missing value (the same as in a number's column) is a fault
// whatever becomes of missing numbers: nobody can tell whose row it is, and rows
// of many people taken for one unit, or of one for many, would not be protected as
// the study says.
func (b *builder) whose(field string) {
	field = trim(field)
	if isMissing(field) {
		b.nobody = true
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
	b.scale()
	return b.take()
}

// take checks the row, which is offset and scaled, and takes it. A row is validated whole before it
// is dropped: whether a fault is reported does not depend on a missing value beside it.
func (b *builder) take() error {
	switch {
	case b.nobody:
		return &Error{File: b.file, Row: b.at, word: b.word, Column: b.unit, Reason: "the unit is missing"}
	case b.bad < len(b.columns) && b.missing != MissingDropFaulty:
		return b.faultOf()
	case b.count == maxRows:
		return &Error{File: b.file, Row: b.at, word: b.word, Reason: "more than 2^31-1 rows"}
	}
	if b.bad < len(b.columns) {
		if b.first == nil {
			b.first = b.faultOf()
		}
		b.faulty++
		b.drop = true
	}
	if b.drop {
		clear(b.row)
		b.absent = append(b.absent, b.count)
	}
	if b.seen != nil {
		b.units = append(b.units, int32(b.number))
	}
	b.count++
	b.block = b.block[:len(b.block)+len(b.columns)]
	if len(b.block)+len(b.columns) > cap(b.block) {
		return b.flush()
	}
	return nil
}

// faultOf is the row's first fault of a value.
func (b *builder) faultOf() *Error {
	return &Error{File: b.file, Row: b.at, word: b.word, Column: b.columns[b.bad].Name, Reason: b.reason, Value: true}
}

// maxRows keeps a row's unit in 32 bits.
const maxRows = 1<<31 - 1

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
	r := &Rows{Rows: b.count, Units: b.count, D: len(b.columns), Dropped: len(b.absent), Faulty: b.faulty, Fault: b.first, Absent: b.absent}
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

// sampleRows are read before the file's number of rows is estimated.
const sampleRows = 1024

// expect reserves memory when sampleRows rows took read of total bytes, so that
// a big file is not copied each time the slice grows. A row has at least two bytes
// a column, so what is reserved stays below about four times the file's size.
func (b *builder) expect(read, total int64) {
	if read > 0 && total > read && b.reserve != nil {
		b.reserve(float64(b.count) * float64(total-read) / float64(read) * 1.03)
	}
}

// memory is a sink that keeps all rows.
type memory struct {
	values   []float64
	values32 []float32
}

func (m *memory) take(block []float64) error {
	m.values = append(m.values, block...)
	return nil
}

func (m *memory) take32(block []float64) error {
	for _, v := range block {
		m.values32 = append(m.values32, float32(v))
	}
	return nil
}

// into returns the builder of columns that keeps rows here.
func (m *memory) into(b *builder) {
	d := float64(len(b.columns))
	if b.precision == Float32 {
		b.sink, b.reserve = m.take32, func(rows float64) { m.values32 = slices.Grow(m.values32, int(rows*d)) }
		return
	}
	b.sink, b.reserve = m.take, func(rows float64) { m.values = slices.Grow(m.values, int(rows*d)) }
}

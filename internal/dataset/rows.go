package dataset

import "slices"

// Rows are a file's rows, and the units that they belong to. Without a unit column
// each row is a unit.
//
// A dropped row stays, as a row of zeros. Privacy is under replacement of a unit,
// with the number of units public (design sections 2 and 5): n counts units before
// any is dropped, or n itself would depend on values and one replaced unit could
// change it. A row of zeros is clipped to the zero vector and adds nothing to a
// power sum; in the histogram of radii it is one count of the lowest bin, which is
// a function of that unit alone, so the sensitivity holds. A unit of several rows
// keeps its place in the same way when some or all of them are dropped.
type Rows struct {
	// Values is Rows×D, row-major: row i, column j (in the proposal's order)
	// is Values[i*D+j]. All finite and below [Limit] in magnitude. Owned by the
	// caller.
	Values []float64
	// Unit is the unit of each row: Rows numbers in 0..Units-1, in order of first
	// appearance. nil without a unit column: row i is unit i. Owned by the caller.
	Unit []int
	// Rows counts the file's data rows, dropped ones too. At least 1.
	Rows int
	// Units counts the unit column's distinct values, those too all of whose rows
	// were dropped; without a unit column it is Rows.
	Units int
	// D is the number of columns asked for.
	D int
	// Dropped counts the rows that are zero because a value was missing. It is
	// the site's own business: it depends on values and must not be sent.
	Dropped int
	// Absent are the indices of the dropped rows, ascending; as private as Dropped.
	Absent []int
	// SHA256 of the file's bytes, all of them.
	SHA256 [32]byte
}

// Info is what a site can say of a file without reading its numbers.
type Info struct {
	// Rows and Units are as in [Rows].
	Rows, Units int
	// Header holds the column names in the file's order.
	Header []string
	// SHA256 of the file's bytes, all of them.
	SHA256 [32]byte
}

// builder turns rows of text into Rows.
type builder struct {
	file    string
	columns []Column
	missing Missing
	rows    *Rows
}

func newBuilder(file string, columns []Column, missing Missing) *builder {
	return &builder{file, columns, missing, &Rows{D: len(columns)}}
}

// add appends a row. field gives the text of a column by its index in the
// proposal. A row is validated whole before it is dropped: whether a fault is
// reported does not depend on a missing value beside it.
func (b *builder) add(line int, field func(column int) string) error {
	drop := false
	for j, c := range b.columns {
		v, missing, reason := c.value(field(j))
		if missing && b.missing == MissingError {
			reason = "the value is missing"
		}
		if reason != "" {
			return &Error{File: b.file, Row: line, Column: c.Name, Reason: reason}
		}
		drop = drop || missing
		b.rows.Values = append(b.rows.Values, v)
	}
	if drop {
		clear(b.rows.Values[len(b.rows.Values)-b.rows.D:])
		b.rows.Dropped++
		b.rows.Absent = append(b.rows.Absent, b.rows.Rows)
	}
	b.rows.Rows++
	return nil
}

// sampleRows are read before the file's number of rows is estimated.
const sampleRows = 1024

// expect reserves memory when sampleRows rows took read of total bytes, so that
// a big file is not copied each time the slice grows. A row has at least two bytes
// a column, so what is reserved stays below about four times the file's size.
func (b *builder) expect(read, total int64) {
	if b.rows.Rows != sampleRows || read <= 0 || total <= read {
		return
	}
	more := float64(sampleRows) * float64(total-read) / float64(read) * 1.03
	b.rows.Values = slices.Grow(b.rows.Values, int(more)*b.rows.D)
	if b.rows.Unit != nil {
		b.rows.Unit = slices.Grow(b.rows.Unit, int(more))
	}
}

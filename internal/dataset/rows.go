package dataset

import (
	"fmt"
	"io"
	"math"
)

// Rows are a data set's rows, and the units that they belong to. Without a unit column
// each row is a unit.
//
// A dropped row stays, as a row of zeros. Privacy is under replacement of a unit,
// with the number of units public (docs/privacy.md): n counts units before
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
	// Gaps says which cells have no value; 0 stands in their place. One bit a cell, row by row,
	// each row from a byte of its own, the lowest bit first; nil if every cell has a value. Of
	// [MissingGaps] alone; as private as the values, and owned by the caller.
	Gaps []byte
	// Faulty counts the rows that had a value at fault, Fault is the first such value's, nil if
	// there was none; both of [MissingDropFaulty] and [MissingGaps] alone, and not kept in a cache
	// file.
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

// Visit shows rows as [Look] does. visit must not keep or change row.
func (r *Rows) Visit(visit func(row []float64, dropped bool)) {
	row, gone, stride := make([]float64, r.D), 0, GapStride(r.D)
	for i := range r.Rows {
		for j := range row {
			switch {
			case r.Gaps != nil && r.Gaps[i*stride+j/8]>>(j%8)&1 != 0:
				row[j] = math.NaN()
			case r.Values32 != nil:
				row[j] = float64(r.Values32[i*r.D+j])
			default:
				row[j] = r.Values[i*r.D+j]
			}
		}
		dropped := gone < len(r.Absent) && r.Absent[gone] == i
		if dropped {
			gone++
		}
		visit(row, dropped)
	}
}

// Info is what a site can say of a data set without reading its numbers.
type Info struct {
	// Rows and Units are as in [Rows].
	Rows, Units int
	// Header holds the column names in the file's order.
	Header []string
	// SHA256 is as in [Rows].
	SHA256 [32]byte
}

// GapStride returns the bytes of the gaps of a row of d numbers ([Rows.Gaps]).
func GapStride(d int) int { return (d + 7) / 8 }

package dataset

import (
	"cmp"
	"fmt"
	"math"
)

// Request says what is read of a source.
type Request struct {
	// Columns in the order in which a row holds them.
	Columns []Column
	// Readings say what the cells of each of Columns are read as; nil: all as numbers.
	Readings []Reading
	// Unit names the column whose value says which unit a row belongs to ([Rows]);
	// empty: every row is a unit. It cannot be one of Columns.
	Unit string
	// Missing says what becomes of a row with a missing value, or of its cell.
	Missing Missing
	// Strict makes a value that is a fault one of the file, whatever Missing says.
	Strict bool
	// Precision in which rows are kept; empty: Float64.
	Precision Precision
}

// reading returns what is asked of column j.
func (q Request) reading(j int) Reading {
	if j < len(q.Readings) {
		return q.Readings[j]
	}
	return Reading{}
}

// Width is the length of a row.
func (q Request) Width() int {
	d := 0
	for j := range q.Columns {
		d += q.reading(j).width()
	}
	return d
}

// checkReadings returns the first fault of what is asked for.
func (q Request) checkReadings() error {
	if n := len(q.Readings); n != 0 && n != len(q.Columns) {
		return &Error{Reason: fmt.Sprintf("%d readings for %d columns", n, len(q.Columns))}
	}
	for j, r := range q.Readings {
		bad := func(reason string) error { return &Error{Column: q.Columns[j].Name, Reason: reason} }
		if r.Indicator && q.Missing != MissingGaps {
			return bad("has a number for cells without a value, which the study does not keep")
		}
		if r.As != Number && r.As != Boolean && r.As != Days {
			return bad(`is to be read as none of a number, "boolean" and "days"`)
		}
		if len(r.Levels) > 0 && r.As != Number {
			return bad("has levels and is read as something else, too")
		}
		seen := map[string]bool{}
		for _, text := range r.Levels {
			if text != trim(text) || isMissing(text) || seen[text] {
				return bad("has a level that is a missing value, has spaces around it, or appears twice")
			}
			seen[text] = true
		}
	}
	return nil
}

// check returns the first fault of what is asked for.
func (q Request) check() error {
	if err := check(q.Columns, q.Unit, q.Missing, q.Precision); err != nil {
		return err
	}
	return q.checkReadings()
}

// check is of columns and what goes with all of them.
func check(columns []Column, unit string, missing Missing, precision Precision) error {
	switch missing {
	case MissingError, MissingDropRow, MissingDropFaulty, MissingGaps:
	default:
		return &Error{Reason: `missing must be "error" or "drop-row"`}
	}
	if precision != "" && precision != Float64 && precision != Float32 {
		return &Error{Reason: `precision must be "float64" or "float32"`}
	}
	if len(columns) == 0 {
		return &Error{Reason: "no columns are asked for"}
	}
	seen := make(map[string]bool, len(columns))
	for _, c := range columns {
		switch {
		case trim(c.Name) == "":
			return &Error{Reason: "a column without a name is asked for"}
		case c.Name != trim(c.Name):
			return &Error{Column: c.Name, Reason: "the name has spaces around it"}
		case seen[c.Name]:
			return &Error{Column: c.Name, Reason: "is asked for twice"}
		case c.Name == unit:
			return &Error{Column: c.Name, Reason: "is the unit column, which cannot be a column of numbers, too"}
		case math.IsNaN(c.Offset) || math.IsInf(c.Offset, 0):
			return &Error{Column: c.Name, Reason: "offset is not finite"}
		case !(c.Scale > 0) || math.IsInf(c.Scale, 0):
			return &Error{Column: c.Name, Reason: "scale is not finite and above 0"}
		}
		seen[c.Name] = true
	}
	return checkUnit(unit)
}

// checkUnit returns the fault of a unit column's name; none is in order.
func checkUnit(name string) error {
	switch {
	case name != "" && trim(name) == "":
		return &Error{Reason: "the unit column's name is blank"}
	case name != trim(name):
		return &Error{Column: name, Reason: "the name has spaces around it"}
	}
	return nil
}

func (q Request) precision() Precision { return cmp.Or(q.Precision, Float64) }

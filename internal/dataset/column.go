package dataset

import (
	"math"
	"strconv"
	"strings"
)

// Column is one column of the proposal: its name in the file's header and two
// public constants, in the column's own unit. A value v is read as
// (v - Offset) / Scale. Names are not empty and distinct, Offset is finite,
// Scale finite and above 0.
type Column struct {
	Name          string
	Offset, Scale float64
}

// Missing says what becomes of a row with a missing value in a column that is
// asked for. A field is missing if, without the spaces and tabs around it, it is
// empty, exactly NA, or nan in any case (Python and Julia write it so). Anything
// else that is no finite number, such as an infinity, null or ?, is a fault of the
// file under either policy.
type Missing string

const (
	// MissingError refuses the file.
	MissingError Missing = "error"
	// MissingDropRow takes the row out of every sum: it becomes a row of zeros
	// ([Rows]).
	MissingDropRow Missing = "drop-row"
)

// Limit is the magnitude, after offset and scale, that a value must stay below,
// so that neither a square nor a sum of squares over a row comes near overflow.
const Limit = 0x1p480

// check gives the first fault of what is asked for.
func check(columns []Column, unit string, missing Missing) error {
	if missing != MissingError && missing != MissingDropRow {
		return &Error{Reason: `missing must be "error" or "drop-row"`}
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

// trim takes spaces and tabs off both ends; a line break inside quotes stays.
func trim(s string) string { return strings.Trim(s, " \t") }

// isMissing says whether a trimmed field is a missing value ([Missing]).
func isMissing(field string) bool {
	return field == "" || field == "NA" || strings.EqualFold(field, "nan")
}

// value reads one field. The reason is empty if the field is in order or missing.
func (c Column) value(field string) (v float64, missing bool, reason string) {
	field = trim(field)
	if isMissing(field) {
		return 0, true, ""
	}
	v, err := strconv.ParseFloat(field, 64)
	if math.IsInf(v, 0) {
		if err != nil {
			return 0, false, "the number is beyond float64"
		}
		return 0, false, "the value is infinite"
	}
	if err != nil || math.IsNaN(v) {
		return 0, false, "not a number"
	}
	v = (v - c.Offset) / c.Scale
	// Also catches an infinity from the subtraction or the division; a NaN
	// cannot come of finite v and Offset and a Scale above 0, and would be caught.
	if !(math.Abs(v) < Limit) {
		return 0, false, "the value is 2^480 or more after offset and scale"
	}
	return v, false, ""
}

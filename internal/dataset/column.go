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
// asked for, or of its cell. A field is missing if, without the spaces and tabs around it, it is
// empty, exactly NA, or nan in any case (Python and Julia write it so). Anything
// else that is no finite number, such as an infinity, null or ?, is a fault of the
// file under the first two policies.
type Missing string

const (
	// MissingError refuses the file.
	MissingError Missing = "error"
	// MissingDropRow takes the row out of every sum: it becomes a row of zeros
	// ([Rows]).
	MissingDropRow Missing = "drop-row"
	// MissingDropFaulty takes out also the rows whose value is a fault, so that no value is a fault
	// of the file, and reading never ends at one. A text file says no types: a word in a column of
	// numbers is a value like any other.
	MissingDropFaulty Missing = "drop-faulty"
	// MissingGaps keeps the row, and its cell as a gap ([Rows.Gaps]). A value that is a fault is a
	// gap, too, so that none is a fault of the file.
	MissingGaps Missing = "gaps"
)

// Limit is the magnitude that a value must stay below in the file, and is kept below
// after offset and scale, so that neither a square nor a sum of squares over a row
// comes near overflow.
const Limit = 0x1p480

// Precision says in which numbers rows are kept. Reading and scaling are in float64
// either way.
type Precision string

const (
	Float64 Precision = "float64"
	// Float32 rounds each value once, after offset and scale.
	Float32 Precision = "float32"
)

// limit32 is the least magnitude that rounds to an infinity in float32: halfway
// between the largest float32 and 2^128.
const limit32 = 0x1.ffffffp127

// trim takes spaces and tabs off both ends; a line break inside quotes stays.
func trim(s string) string { return strings.Trim(s, " \t") }

// isMissing reports whether a trimmed field is a missing value ([Missing]).
func isMissing(field string) bool {
	switch len(field) {
	case 0:
		return true
	case 2:
		return field == "NA"
	case 3:
		return field[0]|0x20 == 'n' && field[1]|0x20 == 'a' && field[2]|0x20 == 'n'
	}
	return false
}

// parse reads one field; NaN is a missing value. The reason is empty if the field is
// in order or missing.
func parse(field string) (v float64, reason string) {
	field = trim(field)
	if isMissing(field) {
		return math.NaN(), ""
	}
	v, err := strconv.ParseFloat(field, 64)
	if math.IsInf(v, 0) {
		if err != nil {
			return 0, "the number is beyond float64"
		}
		return 0, "the value is infinite"
	}
	if err != nil || math.IsNaN(v) || strings.IndexByte(field, '_') >= 0 { // 120_80 is Go's 12080
		return 0, "not a number"
	}
	return v, ""
}

package dataset

import (
	"math"
	"slices"
)

// As is what the cells of a column are read as.
type As string

// What cells are read as. Any other text is a missing value.
const (
	Number  As = ""
	Boolean As = "boolean" // true, t, yes, y and 1 are 1, false, f, no, n and 0 are 0, in any case
	// from Reading.Epoch to a date such as 2024-05-31; a time of day is cut off
	Days As = "days"
)

// Reading is how a column's cells become numbers of a row. The zero Reading is of a column of
// numbers. What becomes of a cell is a function of that cell alone, and of a column with levels or
// of another kind than [Number] no cell is a fault.
type Reading struct {
	As As
	// Epoch is the day that Days counts from, in days since 1970-01-01.
	Epoch int
	// Levels are the texts of a column of categories, distinct and none of them a missing value's.
	// The column is len(Levels)+1 numbers of a row, one of them 1 and the others 0: the level's
	// whose text the cell is, without the spaces and tabs around it, and the last of all other
	// texts. A number in a column that is not text stands for its shortest digits.
	Levels []string
	// Indicator adds one number to the column's: 1 where the cell has no value, else 0. It is never
	// a gap. Of [MissingGaps] alone: there is nothing to say where such rows are left out.
	Indicator bool
	// Learned says that the column's Offset and Scale are 0 and 1 because a study learns them. No
	// value depends on it.
	Learned bool
}

// width is how many numbers of a row the column is.
func (r Reading) width() int {
	if r.Indicator {
		return r.cells() + 1
	}
	return r.cells()
}

// cells is how many of them are gaps where the cell is one: the first.
func (r Reading) cells() int {
	if len(r.Levels) == 0 {
		return 1
	}
	return len(r.Levels) + 1
}

// text reports whether cells are read as text, whatever the source holds them as.
func (r Reading) text() bool { return len(r.Levels) > 0 || r.As != Number }

// Of returns what a text of a source, in the study's words, is in a column with levels or of
// another kind than [Number]: a level's index, len(Levels) of all other texts, 1 or 0, or days. NaN
// is a missing value, as any text is that the kind does not have.
func (r Reading) Of(text string) float64 {
	text = trim(text)
	if l := slices.Index(r.Levels, text); l >= 0 {
		return float64(l)
	}
	return r.noLevel(text)
}

// noLevel is Of for a text that is not a level.
func (r Reading) noLevel(text string) float64 {
	switch {
	case isMissing(text):
		return math.NaN()
	case len(r.Levels) > 0:
		return float64(len(r.Levels))
	case r.As == Boolean:
		return boolean(text)
	}
	day, ok := date(text)
	if !ok {
		return math.NaN()
	}
	return float64(day - r.Epoch)
}

// boolean reads a word for true or false, NaN for any other.
func boolean(field string) float64 {
	if len(field) > 5 {
		return math.NaN()
	}
	var lower [5]byte
	for i := range len(field) {
		c := field[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	switch string(lower[:len(field)]) {
	case "true", "t", "yes", "y", "1":
		return 1
	case "false", "f", "no", "n", "0":
		return 0
	}
	return math.NaN()
}

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

// encoder makes a column's number of its cells: of a column with levels the index of the cell's.
type encoder struct {
	Reading
	first int            // of the column's numbers in a row
	index map[string]int // of Levels
}

// encode gives the builder what makes numbers of its columns' cells, where a column is more than
// its number, and the length of a row.
func (b *builder) encode(q Request) {
	b.d = len(b.columns)
	if !slices.ContainsFunc(q.Readings, func(r Reading) bool { return r.text() || r.Indicator }) {
		return
	}
	b.encoders = make([]encoder, len(b.columns))
	b.d = 0
	for j := range b.encoders {
		r := &b.encoders[j]
		r.Reading, r.first = q.reading(j), b.d
		b.d += r.width()
		if len(r.Levels) == 0 {
			continue
		}
		r.index = make(map[string]int, len(r.Levels))
		for l, text := range r.Levels {
			r.index[text] = l
		}
	}
	b.scratch = make([]float64, len(b.columns))
}

// encoder returns column j's, nil if its cells are numbers.
func (b *builder) encoder(j int) *encoder {
	if b.encoders == nil || !b.encoders[j].text() {
		return nil
	}
	return &b.encoders[j]
}

// start returns where column j's numbers begin in a row.
func (b *builder) start(j int) int {
	if b.encoders == nil {
		return j
	}
	return b.encoders[j].first
}

// cells returns how many numbers of a row are gaps where a cell of column j is one.
func (b *builder) cells(j int) int {
	if b.encoders == nil {
		return 1
	}
	return b.encoders[j].cells()
}

// indicate sets the row's indicators, given the columns without a value.
func (b *builder) indicate() {
	for j := range b.encoders {
		if r := &b.encoders[j]; r.Indicator {
			b.row[r.first+r.cells()] = 0
		}
	}
	for _, j := range b.lost {
		if b.encoders != nil && b.encoders[j].Indicator {
			b.row[b.encoders[j].first+b.encoders[j].cells()] = 1
		}
	}
}

// named returns a column's cell in the study's words.
func (b *builder) named(j int, field string) string {
	if b.mapped == nil {
		return trim(field)
	}
	return b.mapped.text(j, field)
}

// cell returns the number of a cell of a column that is read as text; NaN is a missing value.
func (b *builder) cell(j int, field string) float64 {
	r := &b.encoders[j]
	form := b.mapped.form(j, field)
	field = b.named(j, field)
	if r.As == Days && form != "" {
		day, ok := formed(form, field)
		if !ok {
			return math.NaN()
		}
		return float64(day - r.Epoch)
	}
	if r.index != nil {
		if l, ok := r.index[field]; ok {
			return float64(l)
		}
	}
	return r.noLevel(field)
}

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

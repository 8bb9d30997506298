package proposal

import (
	"fmt"
	"strings"
	"time"

	"covey/internal/name"
)

// MaxLevels is the most levels of a column.
const MaxLevels = 64

// OtherLevel names, after the column and an equals sign, the coordinate of every text that is no
// level.
const OtherLevel = "other"

// isMissing ends the name of the coordinate that is 1 where a column has no value.
const isMissing = " is missing"

// The values of Column.As.
const (
	AsNumber  = ""
	AsBoolean = "boolean"
	asDays    = "days since " // and a date, YYYY-MM-DD
)

// Coordinate is one number of a row's vector. A column of numbers is one; a column with levels is
// one for each of them and one for all other texts: 1 in the row's own, 0 in the others.
type Coordinate struct {
	Name   string
	Column int  // index into Spec.Columns
	Level  int  // index into Levels, len(Levels) of all other texts; -1: the number itself
	Gap    bool // it is 1 where the column's value is missing, else 0
}

// Width returns how many coordinates the column has.
func (c Column) Width() int {
	width := c.Cells()
	if c.Indicator {
		width++
	}
	return width
}

// Cells is how many of them are gaps where the column's cell is one: the first.
func (c Column) Cells() int {
	if len(c.Levels) == 0 {
		return 1
	}
	return len(c.Levels) + 1
}

// coordinates appends the column's coordinates, the column being number index of the spec's.
func (c Column) coordinates(out []Coordinate, index int) []Coordinate {
	if len(c.Levels) == 0 {
		out = append(out, Coordinate{Name: c.Name, Column: index, Level: -1})
	} else {
		for l, text := range c.Levels {
			out = append(out, Coordinate{Name: c.Name + "=" + text, Column: index, Level: l})
		}
		out = append(out, Coordinate{Name: c.Name + "=" + OtherLevel, Column: index, Level: len(c.Levels)})
	}
	if c.Indicator {
		out = append(out, Coordinate{Name: c.Name + isMissing, Column: index, Level: -1, Gap: true})
	}
	return out
}

// Coordinates returns the numbers of a row's vector in order: the columns' in their order.
func (s Spec) Coordinates() []Coordinate {
	out := make([]Coordinate, 0, s.Width())
	for i, c := range s.Columns {
		out = c.coordinates(out, i)
	}
	return out
}

// Width returns how many coordinates a row has: d.
func (s Spec) Width() int {
	d := 0
	for _, c := range s.Columns {
		d += c.Width()
	}
	return d
}

// Counts reports whether any coordinate is.
func (s Spec) Counts() bool { return s.Leveled() > 0 || s.Indicators() > 0 }

// Leveled returns how many columns have levels.
func (s Spec) Leveled() int {
	n := 0
	for _, c := range s.Columns {
		if len(c.Levels) > 0 {
			n++
		}
	}
	return n
}

// Epoch returns the day from which As counts, and false if As does not count days.
func (c Column) Epoch() (time.Time, bool) {
	text, ok := strings.CutPrefix(c.As, asDays)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil
}

// checkLevels checks what a column's cells are read as.
func (c Column) checkLevels(field string) error {
	if _, days := c.Epoch(); c.As != AsNumber && c.As != AsBoolean && !days {
		return FieldErrorf(field+".as", `must be "boolean" or "days since YYYY-MM-DD", got %.80q`, c.As)
	}
	if c.Levels == nil {
		return nil
	}
	field += ".levels"
	switch {
	case c.As != AsNumber:
		return FieldErrorf(field, "cannot be used with as: a column has levels or is a number")
	case len(c.Levels) == 0 || len(c.Levels) > MaxLevels:
		return FieldErrorf(field, "must be 1 to %d texts, got %d", MaxLevels, len(c.Levels))
	case c.Offset != 0 || c.Scale != 0 && c.Scale != 1:
		return FieldErrorf(field, "cannot be used with offset and scale: levels are centered and scaled by their released counts")
	}
	for l, text := range c.Levels {
		if err := validText(field, text); err != nil {
			return err
		}
		switch {
		case text != strings.Trim(text, " \t"):
			return FieldErrorf(field, "%q has spaces around it", text)
		case text == OtherLevel:
			return FieldErrorf(field, "%q stands for every text that is not a level; leave it out", text)
		case text == "NA" || strings.EqualFold(text, "nan"):
			return FieldErrorf(field, "%q is how a missing value is written", text)
		}
		for _, before := range c.Levels[:l] {
			if before == text {
				return FieldErrorf(field, "%q appears twice", text)
			} else if name.Plain(before) == name.Plain(text) {
				return alike(field, text, before)
			}
		}
	}
	return nil
}

// ColumnsText says how many columns a study has, and how many numbers a row where they are others:
// one for each level, and one for each column's missing values that count.
func ColumnsText(columns, coordinates int) string {
	text := fmt.Sprintf("%d columns", columns)
	if columns == 1 {
		text = "1 column"
	}
	if coordinates != columns {
		text += fmt.Sprintf(" (%d numbers a row)", coordinates)
	}
	return text
}

// checkCoordinates checks the number of coordinates and that no two have one name.
func (s *Spec) checkCoordinates() error {
	d := s.Width()
	if d > MaxColumns {
		return FieldErrorf("columns", "at most %d, each level counted and one more for each column with levels, got %d", MaxColumns, d)
	}
	if s.MostComponents() > d {
		return FieldErrorf("components", "%d of %s: ask for no more than that", s.Components, ColumnsText(len(s.Columns), d))
	}
	if d == len(s.Columns) {
		return nil
	}
	seen := make(map[string]bool, d)
	for _, c := range s.Coordinates() {
		if seen[c.Name] {
			return FieldErrorf(fmt.Sprintf("columns[%d]", c.Column), "%q is the name of a column and of a column's level", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

package profile

import (
	"math"
	"slices"
	"time"
)

// numbered asks about numbers that measure nothing: those of rows, and dates written without marks,
// such as 20240531, between whose months lie 70 more than between days. A range would show either,
// and few studies give one.
func (s *sight) numbered(name string, c *column) {
	switch {
	case c.values < leastValues:
	case 10*c.rises >= 9*(c.values-1) && 10*(c.most-c.least) >= 9*float64(c.values-1): // and do not begin again
		s.look(name, AboutNumbered, "rises by one from row to row: are these numbers of rows? They measure nothing, and any order of rows shows in them")
	case c.whole == c.values && !slices.ContainsFunc(c.sample, func(v float64) bool { return !isDay(v) }):
		s.look(name, AboutNumbered, "its numbers are dates without marks, such as 20240531, whose differences are no days: write them as 2024-05-31 in the export, and ask for as = \"days since 2000-01-01\" in the study")
	}
}

// isDay reports whether a number is a date of 1850 to 2150, by year, month and day.
func isDay(v float64) bool {
	if v != math.Trunc(v) || v < 1850_01_01 || v > 2150_12_31 {
		return false
	}
	year, month, day := int(v)/10000, time.Month(int(v)/100%100), int(v)%100
	y, m, d := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Date()
	return y == year && m == month && d == day
}

// Package layout says what a row's vector is made of: which numbers of it a column has, which of
// them are levels and gaps, and why some are left out. It follows from a proposal alone.
package layout

import (
	"slices"

	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/standardize"
)

// Layout is what a row's vector is made of, by the proposal alone. Nobody changes it.
type Layout struct {
	// Coordinates are those of a row's vector in order, D of them.
	Coordinates    []proposal.Coordinate
	columns        []proposal.Column
	numbers, roomy []int // what Single returns
}

// room is of how many coordinates moments are at most, over the columns of numbers. A moment query
// clips its columns together. That makes their scales too small, all alike, which does no harm
// among themselves; but beside levels, whose scales are counts, numbers would weigh too much.
const room = 3

// Of returns the layout of a proposal's rows.
func Of(s proposal.Spec) Layout {
	l := Layout{Coordinates: s.Coordinates(), columns: s.Columns}
	for j := range l.Coordinates {
		if !l.Counted(j) {
			l.numbers = append(l.numbers, j)
		}
	}
	left := (room - 1) * len(l.numbers)
	for j := range l.Coordinates {
		if l.Counted(j) {
			if left--; left < 0 {
				continue
			}
		}
		l.roomy = append(l.roomy, j)
	}
	return l
}

// Single returns the coordinates that a query about single columns is of, ascending. They are those
// of columns of numbers: with a public scale too, since these queries find its center. Levels and
// missing values have queries of their own. Moments are of some of these as well, as zeros, so that
// they have room (roomy). No caller may change it.
func (l *Layout) Single(k query.Kind) []int {
	if k == query.Moments {
		return l.roomy
	}
	return l.numbers
}

// Leveled reports whether coordinate j is of a column with levels.
func (l *Layout) Leveled(j int) bool { return l.Coordinates[j].Level >= 0 }

// Counted reports whether coordinate j is centered and scaled by a released count: of levels, or of
// cells without a value.
func (l *Layout) Counted(j int) bool { return l.Leveled(j) || l.Coordinates[j].Gap }

// Learns reports whether the constants of coordinate j's column are learned.
func (l *Layout) Learns(j int) bool {
	at := l.Coordinates[j]
	return !at.Gap && l.columns[at.Column].Standardize == proposal.StandardizePrivate
}

// Places returns, for each column, the coordinate that is a gap where the column's cell is one: its
// first.
func (l *Layout) Places() []int {
	out := make([]int, len(l.columns))
	at := 0
	for i, c := range l.columns {
		out[i] = at
		at += c.Width()
	}
	return out
}

// Own returns, for each coordinate, the one that says where its column has no value, -1 where the
// column has none; nil where no column has.
func (l *Layout) Own() []int {
	var out []int
	for at, c := range l.Coordinates {
		if !c.Gap {
			continue
		}
		if out == nil {
			out = slices.Repeat([]int{-1}, len(l.Coordinates))
		}
		for j, of := range l.Coordinates {
			if of.Column == c.Column && !of.Gap {
				out[j] = at
			}
		}
	}
	return out
}

// Indicators returns the columns with levels: where each begins among the coordinates, and how many
// it has.
func (l *Layout) Indicators() (first, width []int) {
	for i, at := range l.Places() {
		if c := l.columns[i]; len(c.Levels) > 0 {
			first, width = append(first, at), append(width, c.Cells())
		}
	}
	return first, width
}

// JoinLevels returns, for each coordinate, the one to which it is added before rows are divided by
// scale: a level of scale 0 is among the column's other texts. Nil where nothing is joined.
func (l *Layout) JoinLevels(scale []float64) []int {
	if len(scale) != len(l.Coordinates) {
		return nil
	}
	var out []int
	first, width := l.Indicators()
	for i, at := range first {
		other := at + width[i] - 1
		for j := at; j < other; j++ {
			if scale[j] > 0 || scale[other] == 0 {
				continue
			}
			if out == nil {
				out = make([]int, len(scale))
				for c := range out {
					out[c] = c
				}
			}
			out[j] = other
		}
	}
	return out
}

// Why a coordinate is left out.
const (
	// Joined: the level is rare, and its texts are among all others.
	Joined standardize.Reason = "joined"
	// Rare: all texts that have no coordinate of their own are rare together.
	Rare standardize.Reason = "rare"
	// Single: no two levels of the column are left, so that it tells no row from another.
	Single standardize.Reason = "single"
	// Even: the coordinate is for missing values, and nearly all rows are the same in it.
	Even standardize.Reason = "even"
)

// WhyLeftOut returns why coordinates of columns with levels, and those of missing values, are
// left out by their scales; empty for all others.
func (l *Layout) WhyLeftOut(scale []float64) []standardize.Reason {
	out := make([]standardize.Reason, len(l.Coordinates))
	first, width := l.Indicators()
	for i, at := range first {
		copy(out[at:], levelsOut(scale[at:at+width[i]]))
	}
	for j, at := range l.Coordinates {
		if at.Gap && scale[j] == 0 {
			out[j] = Even
		}
	}
	return out
}

// levelsOut returns why each coordinate of a column with levels is left out, by their scales; empty
// for those that are not.
func levelsOut(scale []float64) []standardize.Reason {
	out := make([]standardize.Reason, len(scale))
	other, kept := len(scale)-1, 0
	for _, s := range scale {
		if s > 0 {
			kept++
		}
	}
	for l, s := range scale {
		switch {
		case s > 0:
		case kept == 0:
			out[l] = Single
		case l < other && scale[other] > 0:
			out[l] = Joined
		default:
			out[l] = Rare
		}
	}
	return out
}

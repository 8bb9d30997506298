package profile

import (
	"math"
	"slices"
)

// codes are numbers that exports write for a missing value. Those from often on are values of many
// columns too: a few cells of one say nothing, and those of one digit are never far from others.
const often = 14

var codes = [...]float64{-1, -8, -9, -88, -99, -888, -999, -9999, -99999, 99, 999, 9999, 99999, 999999, 77, 88, 98, 777, 888, 998, 7, 8, 9}

// doubt is a code of a column that may stand for a missing value, and why.
type doubt struct {
	code int
	why  string
}

// isCode reports whether a number is one of codes, and isDigit whether it has one digit.
func isCode(v float64) bool  { return slices.Contains(codes[:], v) }
func isDigit(v float64) bool { return v >= 0 && v <= 9 }

// doubts are the codes of the column that may stand for a missing value.
func (c *column) doubts() (out []doubt) {
	if c.coded == [len(codes)]tally{} {
		return nil
	}
	slices.Sort(c.sample)
	distinct, cells := counted(c.sample)
	for i, t := range c.coded {
		if t.count == 0 || t.count == c.values {
			continue
		}
		switch v := codes[i]; {
		case c.apart(v) && (i < often || many(t.count, c.values)):
			out = append(out, doubt{i, "far from all others"})
		case c.ends(v, t.count, distinct):
			out = append(out, doubt{i, "with a gap below"})
		case c.masses(v, t.count, distinct, cells):
			out = append(out, doubt{i, "many times more than the numbers next to it"})
		case c.out(v) && 20*(c.outside-t.count) < c.values-t.count:
			out = append(out, doubt{i, "outside the study's range"})
		}
	}
	return out
}

// many reports whether a code has more cells than the tail of a count or of a skewed column.
func many(cells, values int) bool { return cells >= 5 && 100*cells >= values }

// counted are the distinct ones of sorted numbers, and how often each is there.
func counted(sorted []float64) (distinct []float64, cells []int) {
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			distinct, cells = append(distinct, v), append(cells, 0)
		}
		cells[len(cells)-1]++
	}
	return distinct, cells
}

// apart reports whether a code lies far from nearly all other numbers of the column, with next to
// none beyond it. A code of one digit is never far enough.
func (c *column) apart(code float64) bool {
	if isDigit(code) {
		return false
	}
	var rest []float64 // in order
	beyond := 0
	for _, v := range c.sample {
		if !isCode(v) || isDigit(v) {
			rest = append(rest, v)
			if code > 0 && v > code || code < 0 && v < code {
				beyond++
			}
		}
	}
	if len(rest) < 5 || 100*beyond > len(rest) {
		return false
	}
	low, high := rest[len(rest)/20], rest[len(rest)-1-len(rest)/20]
	wide := max(high-low, 1e-9*math.Abs(high))
	return code < 0 && rest[0] >= 0 || code < low-wide || code > high+wide
}

// ends reports whether a code is above the gap of a scale: whole numbers in a row, then a gap, then
// codes alone.
func (c *column) ends(code float64, cells int, distinct []float64) bool {
	const most = 12
	if c.whole < c.values || len(distinct) > most || !many(cells, c.values) {
		return false
	}
	n := 1
	for n < len(distinct) && distinct[n] == distinct[n-1]+1 {
		n++
	}
	return n >= 2 && n < len(distinct) && code > distinct[n-1] && !slices.ContainsFunc(distinct[n:], func(v float64) bool { return !isCode(v) })
}

// masses reports whether a code fills over 2% of the column's cells, while the two numbers on each
// side of it, and the two whole ones, have under a tenth as many cells each. One of them may have
// more: people round to tens. A digit that most cells have is a score.
func (c *column) masses(code float64, cells int, distinct []float64, in []int) bool {
	at := slices.Index(distinct, code)
	if 50*cells <= c.values || at < 0 || isDigit(code) && 2*cells > c.values {
		return false
	}
	beside, more := map[float64]int{}, 0
	for _, step := range []int{-1, 1} {
		near, whole := 0, 0
		for k := at + step; k >= 0 && k < len(distinct) && whole < 2; k += step {
			v := distinct[k]
			if isCode(v) && !isDigit(v) {
				continue
			}
			if v == math.Trunc(v) {
				whole++
			} else if near >= 2 {
				continue
			}
			near++
			beside[v] = in[k]
		}
	}
	for _, n := range beside {
		if 10*n >= in[at] {
			more++
		}
	}
	return len(beside) >= 3 && more <= 1
}

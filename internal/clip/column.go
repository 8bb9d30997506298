package clip

import (
	"math"
	"slices"

	"covey/internal/query"
)

// Columns answers a query about single columns, of the kind [query.Octaves], [query.Tree] or
// [query.Moments], in steps of [query.ColumnGrid]. A unit of several rows is the average of its
// rows: of one-hots rounded down, so that in each column and level its counts add up to 1 at most;
// of z and z² clipped, then rounded to nearest. So replacing one unit changes the answer by at most
// the kind's CountSensitivity in L2 (of moments: 2z differs by 2·2·1.1√d at most; z² is not
// negative, so that its square differs by 2·1.44·3d at most; the halves are orthogonal, which makes
// 28 d; rounding moves each of the 2d numbers of a difference by 1 at most). The integers are the
// same for every number of workers (as in [Sum]). They are exact sums over private units: mask them
// or add noise before they leave the site.
//
// The answer has the columns of, ascending, one after another: Values(len(of), 0) numbers, with the
// sensitivity of as many columns. No other column is read. A cell that is a gap has no count, and a
// unit's average is over its other rows; one without a value has z = 0 and z² = 1. skip names
// columns that are left out: there every unit is without one. It has an entry for each column of a
// row, or none. of MUST NOT depend on values, skip on none but released ones. A [*QueryError]
// reports a kind, columns or a length that do not fit.
func Columns(m *Matrix, kind query.Kind, of []int, skip []bool, workers int) ([]int64, error) {
	def := kind.Definition()
	for at, j := range of {
		if j < 0 || j >= m.d || at > 0 && j <= of[at-1] {
			return nil, &QueryError{"columns", "are not a row's, each once, ascending"}
		}
	}
	switch {
	case !slices.Contains([]query.Kind{query.Octaves, query.Tree, query.Moments}, kind):
		return nil, &QueryError{"kind", "is not about single columns"}
	case len(of) == 0:
		return nil, &QueryError{"columns", "are none"}
	case def.Values(len(of), 0) > query.MaxValues:
		return nil, &QueryError{"kind", "has more than 2^24 values"}
	case len(skip) != 0 && len(skip) != m.d:
		return nil, &QueryError{"skip", "has not an entry for each column of a row"}
	}
	c := columns{m: m, of: of, skip: make([]bool, m.d)}
	copy(c.skip, skip)
	height := m.height(blockBytes)
	return signed(share(m.N(), height, def.Values(len(of), 0), workers, func() func([]uint64, int, int) {
		unit := c.moments()
		switch {
		case kind == query.Octaves && m.starts == nil:
			unit = c.octaves()
		case kind == query.Octaves:
			unit = c.oneHots(query.OctaveBins, query.AppendOctaves)
		case kind == query.Tree:
			unit = c.oneHots(query.TreeBins, query.AppendTree)
		}
		return func(acc []uint64, lo, hi int) {
			for i := lo; i < hi; i++ {
				unit(acc, i)
			}
		}
	})), nil
}

// columns are those of a query about single columns.
type columns struct {
	m    *Matrix
	of   []int
	skip []bool // of all of a row
}

// one is a unit's weight in a column, in grid steps.
const one = 1 / query.ColumnGrid

// has is 1 if row i is there with a value in column j that counts, else 0. A gap takes as long as a
// value.
func (c columns) has(i, j int) uint64 {
	if c.skip[j] {
		return 0
	}
	return c.m.there(i) * (1 - c.m.gap(i, j))
}

// oneHots adds what a unit has in the bins of each column, so many, of which bins appends those of
// a value: at most one of each level.
func (c columns) oneHots(size int, bins func(to []int, x float64) []int) func(acc []uint64, unit int) {
	from := c.m.reader()
	var own []int
	counts := newTally(size) // of a column
	return func(acc []uint64, unit int) {
		first, end := c.m.unit(unit)
		rows := from.widened(first, end)
		for at, j := range c.of {
			there := uint64(0)
			for i := first; i < end; i++ {
				has := c.has(i, j)
				there += has
				own = bins(own[:0], rows[(i-first)*c.m.d+j])
				for _, b := range own {
					counts.add(b, has)
				}
			}
			counts.average(acc[at*size:], there)
		}
	}
}

// octaves is oneHots of [query.AppendOctaves] for rows that are units. A zero takes as long as
// another number: how many there are would show in the time.
func (c columns) octaves() func(acc []uint64, unit int) {
	from := c.m.reader()
	return func(acc []uint64, unit int) {
		row := from.widened(unit, unit+1)
		for at, j := range c.of {
			own, x := acc[at*query.OctaveBins:(at+1)*query.OctaveBins], row[j]
			there := one * c.has(unit, j)
			zero := there * (1 - filled(x))
			own[0] += zero
			first := 1
			for _, l := range query.OctaveLevels {
				own[first+l.Bin(x)] += there - zero
				first += l.Bins
			}
		}
	}
}

// filled is 0 of a zero and 1 of another number, without a branch.
func filled(x float64) uint64 {
	bits := math.Float64bits(x) << 1 // without the sign
	return (bits | -bits) >> 63
}

// moments adds a unit's 2z of every column, then its z², each clipped as a whole.
func (c columns) moments() func(acc []uint64, unit int) {
	from := c.m.reader()
	d := len(c.of)
	root := math.Sqrt(float64(d))
	// margin takes up the roundings of the products and of a vector's length
	values := limit{scale: 2 * one, bound: 2 * query.MomentNorm * root * one * margin}
	squares := limit{scale: one, bound: query.SquareNorm * math.Sqrt(3) * root * one * margin}
	v := make([]float64, 2*d)
	return func(acc []uint64, unit int) {
		first, end := c.m.unit(unit)
		rows := from.widened(first, end)
		for at, j := range c.of {
			sum, square, there := 0.0, 0.0, uint64(0)
			for i := first; i < end; i++ {
				has := c.has(i, j)
				z := rows[(i-first)*c.m.d+j] * float64(has)
				sum += z
				square += float64(z * z)
				there += has
			}
			some := float64(max(1, there))
			v[at], v[d+at] = sum/some, square/some+float64(1-min(1, there)) // 0 and 1 of none
		}
		addClipped(acc[:d], v[:d], values)
		addClipped(acc[d:], v[d:], squares)
	}
}

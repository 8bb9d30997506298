package clip

import (
	"slices"

	"covey/internal/query"
)

// Indicator is a column with levels: the Width coordinates from First on, of which a row has one
// that is not 0, or none where it has no level.
type Indicator struct{ First, Width int }

// Levels counts the units by their level in each column, [query.LevelBins] counts a column in steps
// of [query.ColumnGrid]. A unit of several rows counts as the average of those that have a level
// there, rounded down, so that its counts in a column add up to 1 at most, and replacing one unit
// changes the answer by at most the CountSensitivity of [query.Levels] in L2. Of a row with several
// coordinates that are not 0 the first counts. The integers are the same for every number of
// workers (as in [Sum]). They are exact sums over private units: mask them or add noise before they
// leave the site. A [*QueryError] reports columns that a row does not have.
func Levels(m *Matrix, columns []Indicator, workers int) ([]int64, error) {
	for _, c := range columns {
		if c.First < 0 || c.Width < 1 || c.Width > query.LevelBins || c.First > m.d-c.Width {
			return nil, &QueryError{"columns", "are not those of a row"}
		}
	}
	if len(columns) > query.MaxValues/query.LevelBins {
		return nil, &QueryError{"columns", "are more than an answer can count"}
	}
	return signed(share(m.N(), m.height(blockBytes), query.LevelBins*len(columns), workers, func() func([]uint64, int, int) {
		from := m.reader()
		if m.starts == nil {
			return func(acc []uint64, lo, hi int) {
				for i := lo; i < hi; i++ {
					addLevels(acc, from.widened(i, i+1), columns)
				}
			}
		}
		var counts [query.LevelBins]uint64
		return func(acc []uint64, lo, hi int) {
			for i := lo; i < hi; i++ {
				first, end := m.unit(i)
				addUnitLevels(acc, from.widened(first, end), m.d, columns, &counts)
			}
		}
	})), nil
}

// addUnitLevels is what Levels adds for a unit of rows of d values. counts are zeros, also after.
func addUnitLevels(acc []uint64, rows []float64, d int, columns []Indicator, counts *[query.LevelBins]uint64) {
	for at, c := range columns {
		there := uint64(0)
		for row := c.First; row < len(rows); row += d {
			for l, v := range rows[row : row+c.Width] {
				if v != 0 {
					counts[l]++
					there++
					break
				}
			}
		}
		for l, n := range counts[:c.Width] {
			if n > 0 { // at most 2^22 rows: no overflow
				// down: the sum stays within one
				acc[query.LevelBins*at+l] += n * one / there
				counts[l] = 0
			}
		}
	}
}

// addLevels is what Levels adds for a row that is a unit.
func addLevels(acc []uint64, row []float64, columns []Indicator) {
	for at, c := range columns {
		level, has := levelIn(row[c.First : c.First+c.Width])
		acc[query.LevelBins*at+int(level)] += one * has
	}
}

// levelIn returns the first of a row's coordinates in a column that is not 0, and 1 if there is
// any, else 0. It looks at all, without a branch: which one it is would show in the time.
func levelIn(indicators []float64) (level, has uint64) {
	for l := len(indicators) - 1; l >= 0; l-- {
		in := filled(indicators[l])
		level = level&(in-1) | uint64(l)*in
		has |= in
	}
	return level, has
}

// Join is the matrix in which coordinate j of every row is added to coordinate into[j], and is 0,
// for each j that is not into[j] itself. The units stay. A [*QueryError] reports an into that has
// not a coordinate for each, or sends one on from where it is added. Gaps stay: those of a column
// with levels are gaps in all its coordinates. A row of the result depends on the row and into
// alone.
func (m *Matrix) Join(into []int) (*Matrix, error) {
	if len(into) != m.d {
		return nil, &QueryError{"join", "does not have one entry for each coordinate of a row"}
	}
	for _, to := range into {
		if to < 0 || to >= m.d || into[to] != to {
			return nil, &QueryError{"join", "names a coordinate that no row has, or that is joined itself"}
		}
	}
	into = slices.Clone(into)
	joined := m.derived(func(from *reader) func([]float64, int, int) {
		zero, most := make([]float64, m.d), top(m.d)
		return func(out []float64, lo, hi int) {
			clear(out)
			values := from.widened(lo, hi)
			for at := 0; at < len(out); at += m.d {
				row := out[at : at+m.d]
				for j, v := range values[at : at+m.d] { // finite: far fewer than 2^23 of at most 2^500
					row[into[j]] += v
				}
			}
			stored{wide: out}.subtract(out, zero, most)
		}
	})
	joined.gaps = m.gaps
	return joined, nil
}

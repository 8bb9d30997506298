package clip

import "covey/internal/query"

// ScoreGrid is what scores are counted on: the components' directions X, orthonormal, one after
// another, and for each the standard deviation of scores along it, from released values alone.
type ScoreGrid struct {
	X          []float64
	Deviations []float64
}

// deviationLeast and deviationMost bound a deviation, so that a score in deviations is finite.
const (
	deviationLeast = 0x1p-400
	deviationMost  = 0x1p400
)

func (g ScoreGrid) validate(d int) error {
	if len(g.X) == 0 {
		return &QueryError{"direction", "is missing"}
	}
	if err := orthonormal(g.X, d, unitTolerance); err != nil {
		return err
	}
	if len(g.Deviations) != len(g.X)/d {
		return &QueryError{"deviations", "are not one for each direction"}
	}
	for _, s := range g.Deviations {
		if !(s >= deviationLeast && s <= deviationMost) {
			return &QueryError{"deviations", "are not in [2^-400, 2^400]"}
		}
	}
	return nil
}

// bin returns which of the bins a row counts in along direction l.
func (g ScoreGrid) bin(row []float64, l, bins int) int {
	d := len(row)
	return query.ScoreBin(dot(row, g.X[l*d:(l+1)*d])/g.Deviations[l], bins)
}

// Scores counts the units by their score along each direction of a grid: [query.ScoreBins] counts a
// direction in steps of [query.ColumnGrid]. A unit of several rows counts as the average of its
// rows, rounded down, so that its counts along a direction add up to 1 at most: replacing one unit
// changes the answer by at most the CountSensitivity of [query.Scores] in L2, whatever the grid is.
// A row that is absent has no count. The integers are the same for every number of workers (as in
// [Sum]). They are exact sums over private units: mask them or add noise before they leave the
// site. A [*QueryError] reports a grid that cannot be.
func Scores(m *Matrix, g ScoreGrid, workers int) ([]int64, error) {
	if err := g.validate(m.d); err != nil {
		return nil, err
	}
	k := len(g.Deviations)
	return m.oneHots(k, query.ScoreBins, workers, func(bins []int, _ int, row []float64) ([]int, uint64) {
		for l := range k {
			bins = append(bins, g.bin(row, l, query.ScoreBins))
		}
		return bins, 1
	}), nil
}

// Picture counts the units by their scores along two directions of a grid, x and y: PictureBins²
// counts a group, bin (ix, iy) at ix·PictureBins+iy, in steps of [query.ColumnGrid], in so many
// groups; group says which one row i is in, -1 for none. A unit of several rows counts as the
// average of those that are in a group, rounded down, so that all its counts add up to 1 at most:
// replacing one unit changes the answer by at most the CountSensitivity of [query.Picture] in L2,
// whatever grid and groups are, if a row's group depends on its own unit alone. Otherwise as
// [Scores].
func Picture(m *Matrix, g ScoreGrid, x, y, groups int, group func(i int) int, workers int) ([]int64, error) {
	if err := g.validate(m.d); err != nil {
		return nil, err
	}
	const bins = query.PictureBins * query.PictureBins
	switch k := len(g.Deviations); {
	case x < 0 || y < 0 || x >= k || y >= k:
		return nil, &QueryError{"pair", "names a direction that is not there"}
	case groups < 1 || groups > query.MaxValues/bins:
		return nil, &QueryError{"groups", "are none, or more than an answer can count"}
	}
	return m.oneHots(1, bins*groups, workers, func(at []int, i int, row []float64) ([]int, uint64) {
		own, in := group(i), uint64(1)
		if own < 0 || own >= groups {
			own, in = 0, 0
		}
		return append(at, own*bins+g.bin(row, x, query.PictureBins)*query.PictureBins+g.bin(row, y, query.PictureBins)), in
	}), nil
}

// oneHots counts units in so many blocks of bins: a row of values row, number i of m, is in one bin
// of each block, as bins appends them with 1, or in none of any: with 0, in the same time. A unit
// is the average of its rows that are in any, rounded down.
func (m *Matrix) oneHots(blocks, size, workers int, bins func(to []int, i int, row []float64) ([]int, uint64)) []int64 {
	return signed(share(m.N(), m.height(blockBytes), blocks*size, workers, func() func([]uint64, int, int) {
		from := m.reader()
		var own []int
		counts := newTally(blocks * size)
		return func(acc []uint64, lo, hi int) {
			for u := lo; u < hi; u++ {
				first, end := m.unit(u)
				there := uint64(0)
				for i := first; i < end; i++ {
					row := from.widened(i, i+1)
					at, in := bins(own[:0], i, row)
					own = at
					in *= m.there(i)
					there += in
					for block, b := range own {
						counts.add(block*size+b, in)
					}
				}
				counts.average(acc, there)
			}
		}
	}))
}

// LevelOf returns which of the coordinates of a column with levels a row has, by the first of them
// that is not 0, and -1 where it has none: a group for [Picture]. A row's level depends on the row
// alone.
func (m *Matrix) LevelOf(c Indicator) (func(i int) int, error) {
	if c.First < 0 || c.Width < 1 || c.First > m.d-c.Width {
		return nil, &QueryError{"columns", "are not those of a row"}
	}
	return func(i int) int {
		rows, at := m.values, i*m.d+c.First
		if m.from != nil {
			rows, at = m.reader().rows(i, i+1), c.First // of this call: several workers ask
		}
		var wide []float64
		level, has := levelIn(rows.part(at, at+c.Width).widened(&wide))
		return int(level) - 1 + int(has) // 0 is the level where there is none
	}, nil
}

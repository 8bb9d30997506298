package clip

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/query"
)

// threeColumns are a number, a column of three levels, a number, and two columns of two and five
// coordinates.
var threeColumns = []Indicator{{1, 3}, {5, 2}, {7, 5}}

const threeWidth = 12

// levelRow is a row of threeColumns: of each column at most one coordinate is 1, or, if it is
// hostile, anything.
func levelRow(rng *rand.Rand, row []float64) {
	clear(row)
	row[0], row[4] = rng.NormFloat64(), rng.NormFloat64()
	if rng.IntN(8) == 0 {
		for j := range row {
			row[j] = math.Ldexp(rng.NormFloat64(), rng.IntN(200)-100)
		}
		return
	}
	for _, c := range threeColumns {
		if l := rng.IntN(c.Width + 1); l < c.Width {
			row[c.First+l] = 1
		}
	}
}

// TestLevels: counts by hand, of rows that are units and of units of several rows.
func TestLevels(t *testing.T) {
	row := func(a, b int) []float64 { // -1: no level
		out := make([]float64, 5)
		for _, j := range []int{a, b} {
			if j >= 0 {
				out[j] = 1
			}
		}
		return out
	}
	values := slices.Concat(row(0, 2), row(1, 2), row(0, -1), row(0, 4), row(-1, -1))
	columns := []Indicator{{0, 2}, {2, 3}}
	m, err := NewMatrix(5, slices.Clone(values))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Levels(m, columns, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]int64, 2*query.LevelBins)
	want[0], want[1], want[query.LevelBins], want[query.LevelBins+2] = 3<<16, 1<<16, 2<<16, 1<<16
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	// one unit of three rows, one of two; the last row is left out
	if m, err = NewUnits(5, values, []int{0, 0, 0, 1, 1}, 4); err != nil {
		t.Fatal(err)
	}
	if got, err = Levels(m, columns, 1); err != nil {
		t.Fatal(err)
	}
	clear(want)
	want[0], want[1] = 1<<17/3+1<<16, 1<<16/3
	want[query.LevelBins], want[query.LevelBins+2] = 1<<16, 1<<16
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for _, bad := range []Indicator{{-1, 2}, {4, 2}, {0, 0}, {0, query.LevelBins + 1}, {math.MaxInt, 2}} {
		if _, err := Levels(m, []Indicator{bad}, 1); err == nil {
			t.Errorf("%v is counted", bad)
		}
	}
}

// TestReplacedUnitMovesLevelsByDelta replaces one unit among others, of one row or 2 to 200,
// whatever its rows hold: the answer never moves by more than the kind's sensitivity, and of some
// units by nearly all of it. In float32 and float64, on one worker and several.
func TestReplacedUnitMovesLevelsByDelta(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 3))
	delta := query.Levels.Definition().CountSensitivity(query.ColumnGrid, query.LevelBins*len(threeColumns))
	if want := math.Sqrt(6) * 0x1p16; !(delta >= want && delta < want*(1+1e-12)) {
		t.Fatalf("Δ is %v, not √(2·3) units", delta)
	}
	most := 0.0
	for trial := range 2000 {
		rows := 1
		if trial%2 == 1 {
			rows = 2 + rng.IntN(199)
		}
		var answers [2][]int64
		for side := range answers {
			unit := make([]float64, rows*threeWidth)
			same := rng.IntN(3) == 0 // all rows alike: the largest vectors
			for i := range rows {
				levelRow(rng, unit[i*threeWidth:(i+1)*threeWidth])
				if same {
					copy(unit[i*threeWidth:], unit[:threeWidth])
				}
			}
			values := slices.Concat(make([]float64, threeWidth), unit, make([]float64, 2*threeWidth))
			// the others stay
			levelRow(rand.New(rand.NewPCG(uint64(trial), 1)), values[:threeWidth])
			levelRow(rand.New(rand.NewPCG(uint64(trial), 2)), values[len(values)-threeWidth:])
			m := oneUnit(t, trial, threeWidth, rows, values)
			var err error
			if answers[side], err = Levels(m, threeColumns, 1); err != nil {
				t.Fatal(err)
			}
			if other, err := Levels(m, threeColumns, 4); err != nil || !slices.Equal(other, answers[side]) {
				t.Fatal("another answer on four workers")
			}
		}
		moved := make([]int64, len(answers[0]))
		for i := range moved {
			moved[i] = answers[0][i] - answers[1][i]
		}
		if exceeds(moved, delta) {
			t.Fatalf("%d rows: moved by %v, Δ is %v", rows, length(moved), delta)
		}
		most = max(most, length(moved))
	}
	if most < 0.999*delta {
		t.Errorf("moved by %v at most, Δ is %v", most, delta)
	}
}

// TestJoin: each row has its coordinates added to where they are joined, and nothing of the rows
// before it, and what no matrix holds is brought to the nearest that one can.
func TestJoin(t *testing.T) {
	const d, n = 5, 40
	into := []int{0, 3, 2, 3, 3}
	rng := rand.New(rand.NewPCG(41, 42))
	values := gaussian(rng, n*d)
	for _, j := range []int{1, 3, 4} {
		values[j] = 0.7 * top(d)
	}
	want := make([]float64, n*d)
	for i := range n {
		for j, to := range into {
			want[i*d+to] += values[i*d+j]
		}
	}
	want[3] = top(d)
	m, err := NewMatrix(d, values)
	if err != nil {
		t.Fatal(err)
	}
	joined, err := m.Join(into)
	if err != nil {
		t.Fatal(err)
	}
	from := joined.reader() // one for all blocks, whose room is used again
	for _, height := range []int{7, 1, 3} {
		for lo := 0; lo < n; lo += height {
			hi := min(lo+height, n)
			if got := from.widened(lo, hi); !slices.Equal(got, want[lo*d:hi*d]) {
				t.Fatalf("rows %d to %d are %v, want %v", lo, hi-1, got, want[lo*d:hi*d])
			}
		}
	}
	for _, bad := range [][]int{nil, {0, 1, 2, 3}, {0, 1, 2, 3, -1}, {0, 1, 2, 3, 5}, {1, 2, 2, 3, 4}} {
		if _, err := m.Join(bad); err == nil {
			t.Errorf("joined by %v", bad)
		}
	}
}

// TestLevelsAreOfARow: columns of no row, of more levels than are counted, and more columns than an
// answer can hold are refused; those at each bound are not.
func TestLevelsAreOfARow(t *testing.T) {
	m, err := NewMatrix(query.LevelBins+1, make([]float64, query.LevelBins+1))
	if err != nil {
		t.Fatal(err)
	}
	most := query.MaxValues / query.LevelBins
	for _, c := range []struct {
		columns []Indicator
		fits    bool
	}{
		{[]Indicator{{0, query.LevelBins}}, true}, {[]Indicator{{1, query.LevelBins}}, true}, {[]Indicator{{2, query.LevelBins}}, false},
		{[]Indicator{{0, query.LevelBins + 1}}, false}, {[]Indicator{{0, 0}}, false}, {[]Indicator{{-1, 1}}, false},
		{slices.Repeat([]Indicator{{0, 1}}, most), true}, {slices.Repeat([]Indicator{{0, 1}}, most+1), false},
	} {
		if _, err := Levels(m, c.columns, 1); (err == nil) != c.fits {
			t.Errorf("%d columns, the first %v: %v", len(c.columns), c.columns[0], err)
		}
	}
}

package clip

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/query"
)

// axes are two directions of three columns, across each other, and a deviation for each.
var axes = ScoreGrid{X: []float64{1, 0, 0, 0, 0.6, 0.8}, Deviations: []float64{2, 0.5}}

// TestScores: the counts of rows that one can follow by hand: of rows that are units, and of units
// of several, of which one is left out.
func TestScores(t *testing.T) {
	values := []float64{
		0, 0, 0, // scores 0 and 0: bins 16 and 16; 8 and 8 of a picture
		-100, 0, 0, // -50 deviations: bin 0
		1, 0.5, 0.25, // 0.5 and 1 deviations: bins 18 and 20; 9 and 10
		7.9, 9, 9, // bins 31 and 31; 15 and 15
	}
	m, err := NewMatrix(3, values)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, got []int64, err error, want map[int]int64) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != want[i] {
				t.Errorf("%s: bin %d holds %d, want %d", what, i, v, want[i])
			}
		}
	}
	got, err := Scores(m, axes, 1)
	check("scores", got, err, map[int]int64{16: one, 0: one, 18: one, 31: one, 32 + 16: 2 * one, 32 + 20: one, 32 + 31: one})
	all := func(int) int { return 0 }
	got, err = Picture(m, axes, 0, 1, 1, all, 1)
	check("picture", got, err, map[int]int64{8*16 + 8: one, 8: one, 9*16 + 10: one, 15*16 + 15: one})
	got, err = Picture(m, axes, 1, 0, 3, func(i int) int { return []int{2, 0, -1, 3}[i] }, 1)
	check("groups", got, err, map[int]int64{512 + 8*16 + 8: one, 8 * 16: one})

	values = slices.Clone(values)
	clear(values[3:6])
	if m, err = NewUnits(3, values, []int{0, 1, 0, 0}, 1); err != nil { // rows 0, 2 and 3, and 1, which is left out
		t.Fatal(err)
	}
	const third = 1 << 16 / 3 // down
	got, err = Scores(m, axes, 1)
	check("units", got, err, map[int]int64{16: third, 18: third, 31: third, 32 + 16: third, 32 + 20: third, 32 + 31: third})
	got, err = Picture(m, axes, 0, 1, 2, func(i int) int { return []int{0, 1, -1, 0}[i] }, 1)
	check("units in groups", got, err, map[int]int64{8*16 + 8: one / 2, 256 + 9*16 + 10: one / 2})

	for what, g := range map[string]ScoreGrid{
		"no direction":     {},
		"a long direction": {X: []float64{2, 0, 0}, Deviations: []float64{1}},
		"no deviation":     {X: axes.X, Deviations: []float64{1}},
		"deviation 0":      {X: axes.X, Deviations: []float64{1, 0}},
		"no number":        {X: axes.X, Deviations: []float64{math.NaN(), 1}},
		"infinite":         {X: axes.X, Deviations: []float64{math.Inf(1), 1}},
		"too narrow":       {X: axes.X, Deviations: []float64{math.Nextafter(0x1p-400, 0), 1}},
		"too wide":         {X: axes.X, Deviations: []float64{1, math.Nextafter(0x1p400, math.Inf(1))}},
	} {
		if _, err := Scores(m, g, 1); err == nil {
			t.Errorf("%s is taken", what)
		}
		if _, err := Picture(m, g, 0, 1, 1, all, 1); err == nil {
			t.Errorf("%s is taken by a picture", what)
		}
	}
	for _, bad := range [][3]int{{0, 2, 1}, {2, 0, 1}, {-1, 0, 1}, {0, -1, 1}, {0, 1, 0}, {0, 1, query.MaxValues/(query.PictureBins*query.PictureBins) + 1}} {
		if _, err := Picture(m, axes, bad[0], bad[1], bad[2], all, 1); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	for _, c := range []Indicator{{2, 2}, {-1, 1}, {0, 0}} {
		if _, err := m.LevelOf(c); err == nil {
			t.Errorf("a column %v, which no row has, is taken", c)
		}
	}
}

// TestReplacedUnitMovesScoresByDelta replaces one unit among others, of one row or 2 to 200,
// whatever its rows hold and whatever the grid is: the answer never moves by more than the kind's
// sensitivity, and of some units by nearly all of it. With groups and without, in float32 and
// float64, on one worker and several.
func TestReplacedUnitMovesScoresByDelta(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 4))
	bounds := map[query.Kind]float64{query.Scores: math.Sqrt(4) * 0x1p16, query.Picture: math.Sqrt(2) * 0x1p16}
	most := map[query.Kind]float64{}
	trials := 3000
	if testing.Short() {
		trials /= 5
	}
	for trial := range trials {
		rows := 1
		if trial%2 == 1 {
			rows = 2 + rng.IntN(199)
		}
		g := axes
		g.Deviations = []float64{math.Exp2(30 * rng.NormFloat64()), math.Exp2(30 * rng.NormFloat64())}
		groups := 1 + rng.IntN(4)
		answers := map[query.Kind][2][]int64{}
		for side := range 2 {
			unit := make([]float64, rows*3)
			same := rng.IntN(3) == 0 // all rows alike: the largest vectors
			for i := range unit {
				unit[i] = rng.NormFloat64() * g.Deviations[i%2] * 3
				if same && i >= 3 {
					unit[i] = unit[i-3]
				}
			}
			others := rand.New(rand.NewPCG(uint64(trial), 1)) // who stay
			values := []float64{others.NormFloat64(), 1, 2}
			values = append(append(values, unit...), others.NormFloat64(), 3, 4)
			m := oneUnit(t, trial, 3, rows, values)
			// a group by the row's own value, also none
			group := func(i int) int { return int(math.Float64bits(values[3*i])%uint64(groups+1)) - 1 }
			for kind, ask := range map[query.Kind]func(workers int) ([]int64, error){
				query.Scores:  func(workers int) ([]int64, error) { return Scores(m, g, workers) },
				query.Picture: func(workers int) ([]int64, error) { return Picture(m, g, 0, 1, groups, group, workers) },
			} {
				got, err := ask(1)
				if err != nil {
					t.Fatal(err)
				}
				if other, err := ask(4); err != nil || !slices.Equal(other, got) {
					t.Fatal("another answer on four workers")
				}
				both := answers[kind]
				both[side] = got
				answers[kind] = both
			}
		}
		for kind, both := range answers {
			moved := make([]int64, len(both[0]))
			for i := range moved {
				moved[i] = both[0][i] - both[1][i]
			}
			delta := kind.Definition().CountSensitivity(query.ColumnGrid, len(moved))
			if !(delta >= bounds[kind] && delta < bounds[kind]*(1+1e-12)) {
				t.Fatalf("%s: Δ is %v, want %v", kind, delta, bounds[kind])
			}
			if exceeds(moved, delta) {
				t.Fatalf("%s of %d rows: moved by %v, Δ is %v", kind, rows, length(moved), delta)
			}
			most[kind] = max(most[kind], length(moved)/delta)
		}
	}
	for kind, share := range most {
		if share < 0.999 {
			t.Errorf("%s moved by %v of Δ at most", kind, share)
		}
	}
}

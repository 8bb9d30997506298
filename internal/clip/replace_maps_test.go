package clip

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/query"
)

// degree is p where scaling a unit by a scales the map's size by a^p.
var degree = map[Map]float64{Power: 2, Mean: 1, Moment: 2, Variance: 2, Total: 2}

// sizeOf is the size of a unit's map, as the histogram sees it: 0 or infinite at the extremes.
func sizeOf(tb testing.TB, q Query, d int, rows []float64) float64 {
	if q.Map == Moment {
		q.Map = Total
	}
	m := mustUnits(tb, d, rows, []int{len(rows) / d})
	f := newFold(m, q, m.lengths(1), blockBytes)
	f.unit(0)
	return size(f.v)
}

// hostileUnit is a unit of n rows: hostile ones, one row over and over with signs that add up or
// cancel, a frame of the axes, or rows aligned with X; then often brought to the edge of the clip,
// to a few of its last bits, or beyond it.
func hostileUnit(tb testing.TB, rng *rand.Rand, d, n int, q Query) []float64 {
	direction := Query{X: q.X, Radius: q.Radius, Grid: q.Grid}
	if !q.Map.directed() {
		direction.X = unit(rng, d)
	}
	rows := make([]float64, 0, n*d)
	switch rng.IntN(6) {
	case 0, 1:
		for range n {
			rows = append(rows, hostileRow(rng, d, direction)...)
		}
	case 2: // the same row, aligned
		rows = slices.Repeat(hostileRow(rng, d, direction), n)
	case 3: // the same row, its sign drawn: nearly cancels for a mean
		row := hostileRow(rng, d, direction)
		for range n {
			sign := float64(1 - 2*rng.IntN(2))
			for _, y := range row {
				rows = append(rows, sign*y)
			}
		}
	case 4: // axes, which make maps orthogonal to those of other units
		for range n {
			row := make([]float64, d)
			row[rng.IntN(d)] = math.Ldexp(1+rng.Float64(), rng.IntN(60)-30)
			rows = append(rows, row...)
		}
	case 5: // along one direction of X, either way, with some of another
		for range n {
			a, b := rng.IntN(len(direction.X)/d)*d, rng.IntN(len(direction.X)/d)*d
			f, slope := math.Ldexp(rng.NormFloat64(), rng.IntN(80)-20), 0.1*rng.NormFloat64()
			for j := range d {
				rows = append(rows, f*(direction.X[a+j]+slope*direction.X[b+j]))
			}
		}
	}
	top := math.Nextafter(valueLimit(d), 0)
	scale := func(f float64) {
		for i, y := range rows {
			rows[i] = min(max(y*f, -top), top)
		}
	}
	scale(1) // products above may have left the matrix's bounds
	if p := degree[q.Map]; p > 0 {
		if s := sizeOf(tb, q, d, rows); s > 0x1p-900 && s < 0x1p900 {
			edge := math.Pow(q.Radius/s, 1/p)
			switch rng.IntN(5) {
			case 0:
				scale(edge)
			case 1:
				scale(edge * (1 + rng.NormFloat64()*0x1p-50))
			case 2:
				scale(edge * (1 + (rng.Float64()-0.5)*0x1p-28))
			case 3:
				scale(edge * (0.5 + rng.Float64()))
			}
		}
	}
	return rows
}

// Replaces units of small matrices by hostile ones, with units of one row and of several, and
// checks each change of the total exactly against Sensitivity, each unit alone against R/g + √L/2,
// and each change of the map's histogram against √2. How near to Δ the worst must come is what the
// map allows.
func TestReplacingUnitsNeverExceedsSensitivity(t *testing.T) {
	for _, c := range []struct {
		kind   Map
		trials int // of 40 replacements each
		worst  float64
	}{{Power, 300, 0.9}, {Mean, 260, 0.95}, {Moment, 260, 0.95}, {Variance, 260, 0.9}, {Total, 260, 0.95}, {Rows, 260, 0.5}} {
		rng := rand.New(rand.NewPCG(31, uint64(c.kind)))
		worst, moved, replaced, least := 0.0, 0, 0, 10_000
		// the race detector is ten times slower, and there is nothing for it to find here
		if testing.Short() {
			c.trials, least = c.trials/5, least/5
		}
		for trial := range c.trials {
			d := 1 + rng.IntN(6)
			radius := anyRadius(rng, trial)
			if c.kind == Rows { // among the numbers of rows
				radius = 1 + 300*rng.Float64()
			}
			q := queryOf(rng, c.kind, d, 1+rng.IntN(min(d, 4)), radius, []int{0, 0, 0, 4, 23}[trial%5])
			delta := c.kind.definition().Sensitivity(q.Radius, q.Grid, q.Values(d))
			longest := math.Nextafter(q.Radius/q.Grid+math.Sqrt(float64(q.Values(d)))/2, math.Inf(1))
			const n = 4
			many := trial%2 == 0 || c.kind == Rows
			draw := func() []float64 {
				rows := 1
				if many {
					rows = 1 + rng.IntN(6)
					if rng.IntN(20) == 0 {
						rows = 200
					}
				}
				return hostileUnit(t, rng, d, rows, q)
			}
			units := make([][]float64, n)
			for i := range units {
				units[i] = draw()
			}
			matrix := func(units ...[]float64) *Matrix {
				var lengths []int
				if many {
					for _, u := range units {
						lengths = append(lengths, len(u)/d)
					}
				}
				return mustUnits(t, d, slices.Concat(units...), lengths)
			}
			before, counts := mustSum(t, matrix(units...), q, 1), mustHistogram(t, matrix(units...), q, 1)
			for range 40 {
				at := rng.IntN(n)
				units[at] = draw()
				after, now := mustSum(t, matrix(units...), q, 1), mustHistogram(t, matrix(units...), q, 1)
				if exceeds(less(after, before), delta) {
					t.Fatalf("map %d trial %d: the total moved by %v > Δ = %v (R=%v, g=%v, unit %v)", c.kind, trial, length(less(after, before)), delta, q.Radius, q.Grid, units[at])
				}
				if alone := mustSum(t, matrix(units[at]), q, 1); exceeds(alone, longest) {
					t.Fatalf("map %d trial %d: a unit has length %v > %v (R=%v, g=%v, unit %v)", c.kind, trial, length(alone), longest, q.Radius, q.Grid, units[at])
				}
				if exceeds(less(now, counts), query.HistogramSensitivity) {
					t.Fatalf("map %d trial %d: counts moved by %v", c.kind, trial, length(less(now, counts)))
				}
				if l := length(less(after, before)); l > 0 {
					moved++
					worst = max(worst, l/delta)
				}
				replaced++
				before, counts = after, now
			}
		}
		t.Logf("map %d: %d replacements, %d moved the total, the worst by %v Δ", c.kind, replaced, moved, worst)
		// The trials must be hostile enough to mean something.
		if replaced < least || moved < replaced/3 || worst < c.worst {
			t.Errorf("map %d: %d of %d replacements moved the total, the worst by %v Δ", c.kind, moved, replaced, worst)
		}
	}
}

func less(a, b []int64) []int64 {
	out := make([]int64, len(a))
	for j := range a {
		out[j] = a[j] - b[j]
	}
	return out
}

// Each Δ is nearly reached, so none could be smaller by more than its rounding.
func TestSensitivitiesAreTight(t *testing.T) {
	far := 1e9
	for _, c := range []struct {
		q    Query
		a, b []float64
	}{
		{Query{Map: Power, X: []float64{1, 0, 0, 0, 1, 0}}, []float64{0.03 * far, 0.03 * far, far}, []float64{0.03 * far, 0.03 * far, -far}},
		{Query{Map: Mean}, []float64{far, 0, 0}, []float64{-far, 0, 0}},
		{Query{Map: Moment}, []float64{far, 0, 0}, []float64{0, far, 0}},
		{Query{Map: Variance, X: []float64{1, 0, 0, 0, 1, 0}}, []float64{far, 0, 0}, []float64{0, far, 0}},
		{Query{Map: Total}, []float64{far, 0, 0}, []float64{0, 0, 0}},
		{Query{Map: Rows}, []float64{0, 0, 0, 0, 0, 0}, []float64{0, 0, 0}},
	} {
		for _, radius := range []float64{1, 1.99} {
			c.q.Radius, c.q.Grid = radius, query.Grid(radius)/16
			reach := 0.999
			if c.q.Map == Rows { // no unit has no rows
				c.q.Radius, c.q.Grid, reach = 1000, query.Grid(1000), 0.998
				c.a = make([]float64, 3*1000)
			}
			a := mustSum(t, mustUnits(t, 3, c.a, []int{len(c.a) / 3}), c.q, 1)
			b := mustSum(t, mustUnits(t, 3, c.b, []int{1}), c.q, 1)
			delta := c.q.Map.definition().Sensitivity(c.q.Radius, c.q.Grid, c.q.Values(3))
			if l := length(less(a, b)); l < reach*delta || exceeds(less(a, b), delta) {
				t.Errorf("map %d: moved by %v, Δ = %v", c.q.Map, l, delta)
			}
		}
	}
}

// At R/g = 2^40 the margin is 1024 steps: every clipped unit must be that much shorter than R, so
// that rounding of its size, in either direction and whatever its shape, cannot bring it above.
// Moments are as long as their trace where all rows are parallel.
func TestClippedUnitsKeepTheMargin(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for _, kind := range maps {
		for _, d := range []int{1, 2, 3, 40, 300} {
			for _, rows := range []int{0, 1, 3, 500} { // 0: a row that is a unit
				q := queryOf(rng, kind, d, min(d, 3), 1, 0)
				q.Grid = 0x1p-40
				row := gaussian(rng, d)
				for j := range row {
					row[j] = row[j]*1e3 + 1e6
				}
				var lengths []int
				if rows > 0 {
					row, lengths = slices.Repeat(row, rows), []int{rows}
				}
				v := mustSum(t, mustUnits(t, d, row, lengths), q, 1)
				slack := math.Sqrt(float64(len(v))) / 2
				if exceeds(v, 0x1p40-1000+slack) || !exceeds(v, 0x1p40-1048-slack) {
					t.Errorf("map %d d=%d rows=%d: a clipped unit has length 2^40%+v", kind, d, rows, length(v)-0x1p40)
				}
			}
		}
	}
}

// The largest units do not overflow: they are clipped like others and count in the last bin. The
// tiniest add nothing and count in the first.
func TestUnitsAtTheEndsOfFloat64(t *testing.T) {
	const d = 2
	rows := MaxUnitRows
	if testing.Short() {
		rows = 1 << 14
	}
	top := math.Nextafter(valueLimit(d), 0)
	huge := mustUnits(t, d, slices.Repeat([]float64{top, top}, rows), []int{rows})
	for _, kind := range maps {
		q := Query{Map: kind, Radius: query.MaxRadius, Grid: query.Grid(query.MaxRadius)}
		if kind.directed() {
			q.X = []float64{math.Sqrt2 / 2, math.Sqrt2 / 2}
		}
		if kind == Rows {
			continue
		}
		if v := mustSum(t, huge, q, 1); exceeds(v, 0x1p16+1) || !exceeds(v, 0x1p16-1) {
			t.Errorf("map %d: a huge unit has length %v", kind, length(v))
		}
		if mustHistogram(t, huge, q, 1)[query.HistogramBins-1] != 1 {
			t.Errorf("map %d: a huge unit is not in the last bin", kind)
		}
		for _, lengths := range [][]int{nil, {1}, {2}} {
			v := 0x1p-1074
			rows := []float64{v, -v}
			if lengths != nil && lengths[0] == 2 {
				rows = append(rows, v, v)
			}
			m := mustUnits(t, d, rows, lengths)
			q.Radius, q.Grid = query.MinRadius, query.MinRadius/query.MaxRatio
			for _, x := range mustSum(t, m, q, 1) {
				if x != 0 {
					t.Errorf("map %d: a tiny unit adds %v", kind, x)
				}
			}
			if mustHistogram(t, m, q, 1)[0] != 1 {
				t.Errorf("map %d: a tiny unit is not in the first bin", kind)
			}
		}
	}
}

// What the bounds on rows exclude would still add nothing, rather than a huge integer.
func TestNothingButFiniteVectorsIsAdded(t *testing.T) {
	l := limit{scale: 1, bound: 0x1p16}
	for _, bad := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		acc := make([]uint64, 3)
		addClipped(acc, []float64{1, bad, 0}, l)
		addMoment(acc, []float64{1, 0, bad}, 2, l)
		if acc[0] != 0 || acc[1] != 0 || acc[2] != 0 {
			t.Errorf("%v: added %v", bad, acc)
		}
	}
}

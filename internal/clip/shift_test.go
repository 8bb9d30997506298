package clip

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"covey/internal/query"
)

// sameBits reports whether two vectors are the same to the bit, zeros' signs included.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestShiftsAreTheSameOnAllPaths: the kernels of derived rows compute what Go does, to the bit, for
// every length of a row, and write nowhere else.
func TestShiftsAreTheSameOnAllPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	odd := []float64{0, math.Copysign(0, -1), 0x1p-1074, -0x1p-1074, 0x1p490, -0x1p490, 1, -1}
	draw := func(n int) []float64 {
		out := gaussian(rng, n)
		for i := range out {
			if rng.IntN(4) == 0 {
				out[i] = odd[rng.IntN(len(odd))]
			}
		}
		return out
	}
	for d := 1; d <= 41; d++ {
		for _, n := range []int{1, 2, 3, 4, 5, 9} {
			rows, center, scale, limit, c := draw(n*d), draw(d), make([]float64, d), make([]float64, d), draw(n)
			narrow := make([]float32, n*d)
			for i, v := range rows {
				narrow[i] = float32(max(min(v, math.MaxFloat32), -math.MaxFloat32))
			}
			for j := range scale {
				scale[j] = []float64{0, 1, 3, minScale, maxScale}[rng.IntN(5)]
				limit[j] = []float64{0x1p-1074, 2, top(d)}[rng.IntN(3)]
			}
			all := func() [][]float64 {
				out := make([][]float64, 5)
				for i := range out {
					out[i] = append(slices.Clone(rows), 7) // one more than there is to write
				}
				subtract(out[0][:n*d], rows, center, 0x1p480)
				subtract(out[1][:n*d], narrow, center, 2)
				standard(out[2][:n*d], rows, center, scale, limit)
				standard(out[3][:n*d], narrow, center, scale, limit)
				blend(out[4][:d], rows, c)
				subtract(out[4][:n*d], out[4][:n*d], center, 2) // in place
				return out
			}
			var want [][]float64
			for _, p := range supported() {
				old := active.Swap(uint32(p))
				got := all()
				active.Store(old)
				if want == nil {
					want = got
				}
				for i := range got {
					if !sameBits(got[i], want[i]) || got[i][n*d] != 7 {
						t.Fatalf("%s, d = %d, %d rows: kernel %d differs", pathNames[p], d, n, i)
					}
				}
			}
		}
	}
}

// TestTakeOffIsTheSameOnAllPaths: for every length and any rows, some of them twice, the sum is the
// same, and nothing else is written.
func TestTakeOffIsTheSameOnAllPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 40))
	for d := 8; d <= 120; d += 8 {
		for _, n := range []int{0, 1, 2, 7} {
			v, rows, at := gaussian(rng, d), gaussian(rng, 5*d), make([]int, n)
			for i := range at {
				at[i] = rng.IntN(5)
			}
			want := slices.Clone(v)
			for _, i := range at {
				for j := range want {
					want[j] -= rows[i*d+j]
				}
			}
			for _, p := range supported() {
				all, got := guarded(v, 3, 7)
				on(p, func() { takeOff(got, rows, at) })
				if !sameBits(got, want) || outside(all, got, 7) {
					t.Fatalf("%s: d = %d, %d rows: %v, want %v", pathNames[p], d, n, got, want)
				}
			}
		}
	}
}

// derivedOf are matrices derived from m in every way that there is.
func derivedOf(t *testing.T, m *Matrix) map[string]*Matrix {
	t.Helper()
	rng := rand.New(rand.NewPCG(33, 34))
	d := m.d
	one, inf := make([]float64, d), make([]float64, d)
	into := make([]int, d)
	for j := range d {
		one[j], inf[j], into[j] = 2, math.Inf(1), j-j%2
	}
	x := directionsOf(rng, min(3, d), d)
	out := map[string]*Matrix{}
	add := func(name string, m *Matrix, err error) *Matrix {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = m
		return m
	}
	center := gaussian(rng, d)
	less, err := m.Less(center)
	add("less", less, err)
	scaled, err := m.Standardize(center, one, inf)
	add("standard", scaled, err)
	for name, m := range map[string]*Matrix{"rows": m, "less": less, "standard": scaled} {
		filled, err := m.Fill(x, nil)
		add(name+", fill", filled, err)
		off, err := filled.Off(x)
		add(name+", fill, off", off, err)
		if m.starts == nil {
			sphere, err := filled.Sphere()
			add(name+", fill, sphere", sphere, err)
		}
	}
	joined, err := m.Join(into)
	add("join", joined, err)
	if m.starts == nil {
		pairs, err := joined.Pairs(rng.Perm(m.N()))
		add("join, pairs", pairs, err)
	}
	return out
}

// TestDerivedRowsAreReadInBlocks: sums over rows derived as they are read equal those over the same
// rows in memory, whatever the block, the number of workers and the path.
func TestDerivedRowsAreReadInBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	columns := []int{1, 5, 16, 67}
	if testing.Short() {
		columns = []int{5, 67}
	}
	for _, d := range columns {
		for _, several := range []bool{false, true} {
			const n = 301
			values, gaps := gaussian(rng, n*d), make([]byte, n*gapStride(d))
			for range n * d / 5 {
				i, j := rng.IntN(n), rng.IntN(d)
				values[i*d+j], gaps[i*gapStride(d)+j/8] = 0, gaps[i*gapStride(d)+j/8]|1<<(j%8)
			}
			var unit []int
			for i := range n {
				if several {
					unit = append(unit, i*100/n)
				}
			}
			m, err := NewGapped(d, values, gaps, unit)
			if err != nil {
				t.Fatal(err)
			}
			for name, derived := range derivedOf(t, m) {
				rows := wideOf(derived)
				for i, row := 0, rows; len(row) > 0; i, row = i+1, row[d:] { // one by one
					if !sameBits(derived.reader().widened(i, i+1), row[:d]) {
						t.Fatalf("d = %d, %s: row %d depends on its block", d, name, i)
					}
				}
				held, err := NewMatrix(d, rows)
				if several {
					held, err = NewUnits(d, rows, unit)
				}
				if err != nil {
					t.Fatal(err)
				}
				for of := range Map(len(definitions)) {
					q := Query{Map: of, Radius: 1, Grid: 0x1p-30}
					switch of.definition().Directions {
					case query.None:
					default:
						q.X = directionsOf(rng, min(2, d), d)
					}
					want := mustSum(t, held, q, 1)
					for _, p := range supported() {
						old := active.Swap(uint32(p))
						for _, block := range []int{64, blockBytes} {
							got, err := sum(derived, q, 2, block)
							if err != nil || !slices.Equal(got, want) {
								t.Errorf("%s, d = %d, %s, map %d, blocks of %d: another sum, %v", pathNames[p], d, name, of, block, err)
							}
						}
						active.Store(old)
					}
				}
			}
		}
	}
}

// TestNoQueryCopiesTheRows: whatever the rows are derived from, with and without gaps, a query
// about them allocates a small part of their size.
func TestNoQueryCopiesTheRows(t *testing.T) {
	const d, n = 64, 32768 // 16 MiB
	rng := rand.New(rand.NewPCG(37, 38))
	values, gaps := gaussian(rng, n*d), make([]byte, n*gapStride(d))
	for i := range n {
		values[i*d], gaps[i*gapStride(d)] = 0, 1
	}
	narrow := make([]float32, n*d)
	for i, v := range values {
		narrow[i] = float32(v)
	}
	wide, err := NewGapped(d, values, gaps, nil)
	if err != nil {
		t.Fatal(err)
	}
	small, err := NewGapped(d, narrow, gaps, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := NewMatrix32(d, narrow)
	if err != nil {
		t.Fatal(err)
	}
	x := directionsOf(rng, 10, d)
	for what, m := range map[string]*Matrix{
		"float64": wide, "float32": small,
		"float64 without gaps": mustMatrix(t, d, values), "float32 without gaps": whole,
	} {
		if testing.Short() && what != "float32" {
			continue
		}
		all, width := derivedOf(t, m), 8
		if m.values.narrow != nil {
			width = 4
		}
		all["as they are"] = m // of a public center
		for name, derived := range all {
			for of, ask := range map[string]func() error{
				"power": func() error {
					_, err := Sum(derived, Query{Map: Power, X: x[:d], Radius: 1, Grid: 0x1p-30}, 2)
					return err
				},
				"mean": func() error { _, err := Sum(derived, Query{Map: Mean, Radius: 1, Grid: 0x1p-30}, 2); return err },
				"variance": func() error {
					_, err := Sum(derived, Query{Map: Variance, X: x, Radius: 1, Grid: 0x1p-30}, 2)
					return err
				},
				"total": func() error { _, err := Sum(derived, Query{Map: Total, Radius: 1, Grid: 0x1p-30}, 2); return err },
				"levels": func() error {
					level, err := derived.LevelOf(Indicator{First: 1, Width: 2})
					for i := range n {
						level(i)
					}
					return err
				},
				"gaps":      func() error { _, err := CountGaps(derived, []int{0, 1}, 2); return err },
				"block":     func() error { _, err := Sum(derived, Query{Map: Power, X: x, Radius: 1, Grid: 0x1p-30}, 2); return err },
				"moment":    func() error { _, err := Sum(derived, Query{Map: Moment, Radius: 1, Grid: 0x1p-30}, 2); return err },
				"histogram": func() error { _, err := Histogram(derived, Query{Map: Power, X: x}, 2); return err },
				"columns":   func() error { _, err := Columns(derived, query.Moments, []int{1, 2}, nil, 2); return err },
				"scores": func() error {
					_, err := Scores(derived, ScoreGrid{X: x, Deviations: slices.Repeat([]float64{1}, 10)}, 2)
					return err
				},
			} {
				if of == "levels" && derived != m { // they are asked of rows as they are
					continue
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if err := ask(); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				took := after.TotalAlloc - before.TotalAlloc
				// norms are 8 bytes a row, and blocks stay in a cache
				if limit := uint64(n*d*width) / 3; took > limit {
					t.Errorf("%s, %s, %s: %d bytes are allocated, at most %d may", what, name, of, took, limit)
				}
			}
		}
	}
}

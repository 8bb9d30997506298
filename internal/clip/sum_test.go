package clip

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/query"
)

var maps = []Map{Power, Mean, Moment, Variance, Total, Rows}

func (m Map) directed() bool { return m == Power || m == Variance }

// queryOf returns a query of the map with k random directions where it has any, with the radius's
// default grid times 2^-finer.
func queryOf(rng *rand.Rand, m Map, d, k int, radius float64, finer int) Query {
	q := Query{Map: m, Radius: radius, Grid: math.Ldexp(query.Grid(radius), -finer)}
	if m.directed() {
		q.X = orthogonal(rng, d, k)
	}
	return q
}

// mustUnits makes units of the lengths given, in rows, from values; nil lengths: each row is a
// unit.
func mustUnits(tb testing.TB, d int, values []float64, lengths []int) *Matrix {
	tb.Helper()
	if lengths == nil {
		return mustMatrix(tb, d, values)
	}
	unit := make([]int, 0, len(values)/d)
	for u, n := range lengths {
		for range n {
			unit = append(unit, u)
		}
	}
	m, err := NewUnits(d, slices.Clone(values), unit)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

const precision = 500 // bits: for the data here products and sums are exact, or nearly

func exact(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(precision).Mul(a, b) }

// exactMap is the map of one unit and its size, by its definition.
func exactMap(q Query, d int, rows []float64) (v []*big.Float, size *big.Float) {
	v = make([]*big.Float, q.Values(d))
	for j := range v {
		v[j] = exact(0)
	}
	trace := exact(0)
	for lo := 0; lo < len(rows); lo += d {
		y := make([]*big.Float, d)
		for j := range y {
			y[j] = exact(rows[lo+j])
			trace.Add(trace, times(y[j], y[j]))
		}
		s := make([]*big.Float, len(q.X)/d)
		for l := range s {
			s[l] = exact(0)
			for j := range y {
				s[l].Add(s[l], times(y[j], exact(q.X[l*d+j])))
			}
		}
		switch q.Map {
		case Power:
			for l := range s {
				for j := range y {
					v[l*d+j].Add(v[l*d+j], times(y[j], s[l]))
				}
			}
		case Mean:
			for j := range y {
				v[j].Add(v[j], y[j])
			}
		case Moment:
			at := 0
			for j := range y {
				for l := j; l < d; l++ {
					p := times(y[j], y[l])
					if l > j {
						p.Mul(p, new(big.Float).SetPrec(precision).Sqrt(exact(2)))
					}
					v[at].Add(v[at], p)
					at++
				}
			}
		case Variance:
			for l := range s {
				v[l].Add(v[l], times(s[l], s[l]))
			}
		case Total:
			v[0].Set(trace)
		case Rows:
			v[0].Add(v[0], exact(1))
		}
	}
	if q.Map == Moment {
		return v, trace
	}
	size = exact(0)
	for _, x := range v {
		size.Add(size, times(x, x))
	}
	return v, size.Sqrt(size)
}

// Every value of every map of a unit is its exact clipped value, rounded: within half a step and
// what the margin takes, 2^-30 of a clipped value, or 2^-46 of the unit's size for floating point
// where it is not clipped.
func TestSumIsTheClippedMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, kind := range maps {
		clipped, whole := 0, 0
		for trial := range 150 {
			d := 1 + rng.IntN(9)
			k := 1 + rng.IntN(min(d, 4))
			var lengths []int
			n := 1
			if trial%2 == 0 {
				n = 1 + rng.IntN(10)
				lengths = []int{n}
			}
			rows := gaussian(rng, n*d)
			shift := 5 * rng.NormFloat64()
			for i := range rows {
				rows[i] += shift
			}
			q := queryOf(rng, kind, d, k, math.Exp(8*rng.Float64()-2), []int{0, 10, 23}[trial%3])
			got := mustSum(t, mustUnits(t, d, rows, lengths), q, 1)
			want, size := exactMap(q, d, rows)
			c, off := exact(1), 0x1p-46
			if size.Cmp(exact(q.Radius)) > 0 {
				c.Quo(exact(q.Radius), size)
				off = 0x1p-29
				clipped++
			} else {
				whole++
			}
			if s, _ := size.Float64(); s > q.Radius*(1-0x1p-29) {
				off = 0x1p-29
			}
			tolerance, _ := times(times(size, c), exact(off/q.Grid)).Float64()
			for j := range want {
				w, _ := times(times(want[j], c), exact(1/q.Grid)).Float64()
				if diff := math.Abs(float64(got[j]) - w); diff > 0.5+tolerance {
					t.Fatalf("map %d d=%d k=%d n=%d value %d: got %d, want %v (%v off)", kind, d, k, n, j, got[j], w, diff)
				}
			}
		}
		if clipped < 20 || whole < 20 {
			t.Errorf("map %d: %d clipped, %d whole", kind, clipped, whole)
		}
	}
}

// The fused paths bit by bit: the factor as documented, then the exact product rounded half to
// even. Every row length to 14, tails of the kernels' four rows included, and of one and
// two panels of a moment.
func TestFusedMapsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, d := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, panelLines, panelLines + 1, 2*panelLines + 3} {
		for _, n := range []int{0, 1, 4, 7} {
			values := gaussian(rng, n*d)
			for _, r := range []float64{0.3, 2.5, 1e3} {
				for _, finer := range []int{0, 23} {
					for _, kind := range []Map{Power, Mean, Moment} {
						q := queryOf(rng, kind, d, min(d, 3), r, finer)
						want := make([]int64, q.Values(d))
						for i := range n {
							y := values[i*d : (i+1)*d]
							bound, norm := r/q.Grid*(1-1.0/(1<<30)), math.Sqrt(dot(y, y))
							switch kind {
							case Power:
								if d == 1 {
									c := dot(y, q.X) / q.Grid
									want[0] += nearestEven(math.Max(-bound/norm, math.Min(bound/norm, c)), y[0])
									continue
								}
								s := make([]float64, len(q.X)/d)
								sum, top := 0.0, 0.0
								for l := range s {
									s[l] = dot(y, q.X[l*d:(l+1)*d])
									top = math.Max(top, math.Abs(s[l]))
								}
								_, e := math.Frexp(top)
								unit := math.Ldexp(1, e-1) // in [1, 2) in place of [1/2, 1)
								for _, x := range s {
									sum += float64(x / unit * (x / unit))
								}
								c := math.Min(unit/q.Grid, bound/norm/math.Sqrt(sum))
								for l := range s {
									for j := range y {
										want[l*d+j] += nearestEven(c*(s[l]/unit), y[j])
									}
								}
							case Mean:
								for j := range y {
									want[j] += nearestEven(math.Min(1/q.Grid, bound/norm), y[j])
								}
							case Moment:
								c := math.Min(1/q.Grid, bound/(norm*norm))
								at := 0
								for j := range y {
									want[at] += nearestEven(c*y[j], y[j])
									at++
									for l := j + 1; l < d; l++ {
										want[at] += nearestEven(c*math.Sqrt2*y[j], y[l])
										at++
									}
								}
							}
						}
						if got := mustSum(t, mustMatrix(t, d, values), q, 1); !slices.Equal(got, want) {
							t.Fatalf("map %d d=%d n=%d R=%v: got %v, want %v", kind, d, n, r, got, want)
						}
					}
				}
			}
		}
	}
}

// drawn is a matrix of random shape and scale, with units of several rows or without, and the same
// units one by one.
func drawn(t *rapid.T) (d int, m *Matrix, alone []*Matrix, rng *rand.Rand) {
	d = rapid.IntRange(1, 12).Draw(t, "d")
	n := rapid.IntRange(0, 60).Draw(t, "units")
	rng = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	many := rapid.Bool().Draw(t, "many")
	scale := math.Ldexp(1, rapid.IntRange(-20, 20).Draw(t, "scale"))
	var values []float64
	var unit []int
	for i := range n {
		rows := 1
		if many {
			rows = rapid.IntRange(1, 9).Draw(t, "rows")
		}
		own := gaussian(rng, rows*d)
		for j := range own {
			own[j] *= scale
		}
		values = append(values, own...)
		for range rows {
			unit = append(unit, i)
		}
		one, err := NewMatrix(d, slices.Clone(own))
		if many {
			one, err = NewUnits(d, slices.Clone(own), make([]int, rows))
		}
		if err != nil {
			t.Fatal(err)
		}
		alone = append(alone, one)
	}
	var err error
	if many {
		// Rows of different units come mixed; those of one stay in order.
		places := rng.Perm(len(unit))
		mixed, of := make([]float64, len(values)), make([]int, len(unit))
		for i, at := range places {
			of[at] = unit[i]
		}
		next := make([]int, n)
		for i := len(unit) - 1; i >= 0; i-- { // the first row of each unit
			next[unit[i]] = i
		}
		for at, u := range of {
			copy(mixed[at*d:(at+1)*d], values[next[u]*d:(next[u]+1)*d])
			next[u]++
		}
		m, err = NewUnits(d, mixed, of)
	} else {
		m, err = NewMatrix(d, values)
	}
	if err != nil {
		t.Fatal(err)
	}
	if m.N() != n || m.Rows() != len(unit) || m.D() != d {
		t.Fatalf("%d units of %d rows became %d of %d", n, len(unit), m.N(), m.Rows())
	}
	return d, m, alone, rng
}

// The sum is the sum of what each unit gives alone: no unit changes how another is clipped or
// rounded, neither its size nor its number of rows, and neither do blocks or workers. So do
// histograms and their counts, which add up to N.
func TestUnitsDoNotInteract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, m, alone, rng := drawn(t)
		q := queryOf(rng, rapid.SampledFrom(maps).Draw(t, "map"), d, rapid.IntRange(1, min(d, 5)).Draw(t, "k"),
			math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log R")), rapid.IntRange(0, 23).Draw(t, "finer"))
		want, counts := make([]int64, q.Values(d)), make([]int64, query.HistogramBins)
		for _, one := range alone {
			v, err := Sum(one, q, 1)
			if err != nil {
				t.Fatal(err)
			}
			h, err := Histogram(one, q, 1)
			if err != nil {
				t.Fatal(err)
			}
			add(want, v)
			add(counts, h)
		}
		block := rapid.IntRange(1, 8*d*m.Rows()+8).Draw(t, "block")
		for workers := range 4 {
			got, err := sum(m, q, workers, block)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("block=%d workers=%d: got %v, want %v", block, workers, got, want)
			}
			h, err := histogram(m, q, workers, block)
			if err != nil {
				t.Fatal(err)
			}
			total := int64(0)
			for _, c := range h {
				total += c
			}
			if !slices.Equal(h, counts) || total != int64(m.N()) {
				t.Fatalf("block=%d workers=%d: counts differ, or their sum %d", block, workers, total)
			}
		}
	})
}

func add(to, v []int64) {
	for j := range v {
		to[j] += v[j]
	}
}

// Maps of many blocks, so that several workers really run, tails of blocks included.
func TestMapsOfManyBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for _, d := range []int{1, 7, 65} {
		n := 200_000/d + 3
		values := gaussian(rng, n*d)
		var lengths []int
		for left := n; left > 0; {
			rows := min(left, 1+rng.IntN(7))
			lengths = append(lengths, rows)
			left -= rows
		}
		for _, m := range []*Matrix{mustMatrix(t, d, values), mustUnits(t, d, values, lengths)} {
			for _, kind := range maps {
				q := queryOf(rng, kind, d, min(d, 3), 2, 0)
				want := mustSum(t, m, q, 1)
				for _, workers := range []int{0, 2, 5} {
					if got := mustSum(t, m, q, workers); !slices.Equal(got, want) {
						t.Errorf("map %d d=%d workers=%d differs", kind, d, workers)
					}
				}
			}
		}
	}
}

// Contributions on ties, 0.5, 1.5 and 2.5 grid steps: a unit is rounded once, half to even, after
// its rows are added and before other units are.
func TestUnitsAreRoundedOnce(t *testing.T) {
	const g = 0x1p-16
	for _, kind := range []Map{Mean, Total, Variance, Moment} {
		q := Query{Map: kind, Radius: 1, Grid: g}
		if kind == Variance {
			q.X = []float64{1}
		}
		row := func(steps float64) float64 {
			if kind == Mean {
				return steps * g
			}
			return math.Sqrt(steps * g) // squares are exact where steps·g is a square
		}
		for _, c := range []struct {
			steps float64 // a row's contribution
			rows  int     // in each of
			units int
			want  int64
		}{{0.25, 1, 400, 0}, {0.25, 4, 100, 100}, {2.25, 2, 100, 400}, {0.25, 2, 100, 0}, {0.25, 6, 100, 200}, {0.25, 10, 100, 200}} {
			values, lengths := make([]float64, c.rows*c.units), make([]int, c.units)
			for i := range values {
				values[i] = row(c.steps)
			}
			for i := range lengths {
				lengths[i] = c.rows
			}
			if got := mustSum(t, mustUnits(t, 1, values, lengths), q, 1); got[0] != c.want {
				t.Errorf("map %d: %d units of %d rows of %v: got %d, want %d", kind, c.units, c.rows, c.steps, got[0], c.want)
			}
		}
	}
}

// A unit is counted in the bin of its exact size.
func TestHistogramIsOfTheMapsSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	for _, kind := range maps {
		for trial := range 60 {
			d := 1 + rng.IntN(5)
			q := queryOf(rng, kind, d, 1+rng.IntN(d), 1, 0)
			n, lengths := 1, []int(nil)
			if trial%2 == 0 {
				n = 1 + rng.IntN(9)
				lengths = []int{n}
			}
			rows := gaussian(rng, n*d)
			scale := math.Ldexp(1, rng.IntN(80)-40)
			for i := range rows {
				rows[i] *= scale
			}
			_, size := exactMap(q, d, rows)
			s, _ := size.Float64()
			// The size is a float of many random bits, or a number of rows: never at an edge by
			// rounding.
			if h := mustHistogram(t, mustUnits(t, d, rows, lengths), Query{Map: kind, X: q.X}, 1); h[bin(s)] != 1 {
				t.Errorf("map %d, %d rows: size %v is not in bin %d", kind, n, s, bin(s))
			}
		}
	}
}

package clip

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/query"
)

// A matrix stored as float32 is the matrix of the same values stored as float64, in all that is
// computed from it, on every path: rows or units, in any order, some absent.
func TestFloat32IsFloat64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, n := rapid.IntRange(1, 40).Draw(t, "d"), rapid.IntRange(0, 30).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		narrow, wide := make([]float32, n*d), make([]float64, n*d)
		scale := math.Ldexp(1, rapid.IntRange(-100, 100).Draw(t, "scale"))
		var absent []int
		for i := range n {
			if rng.IntN(8) == 0 {
				absent = append(absent, i)
				continue
			}
			for j := i * d; j < (i+1)*d; j++ {
				narrow[j] = float32(rng.NormFloat64() * scale)
				wide[j] = float64(narrow[j])
			}
		}
		var a, b *Matrix
		var err, err32 error
		rows := rapid.Bool().Draw(t, "rows")
		if rows {
			a, err = NewMatrix(d, wide, absent...)
			b, err32 = NewMatrix32(d, narrow, absent...)
		} else {
			unit, most := make([]int, n), max(1, n/3)
			for i := range unit { // each number below the largest has a row
				unit[i] = i % most
			}
			rng.Shuffle(n, func(i, j int) { unit[i], unit[j] = unit[j], unit[i] })
			a, err = NewUnits(d, wide, unit, absent...)
			b, err32 = NewUnits32(d, narrow, unit, absent...)
		}
		if err != nil || err32 != nil {
			t.Fatal(err, err32)
		}
		sameSums(t, rng, a, b)
		center := gaussian(rng, d)
		sameDerived(t, a, b, func(m *Matrix) (*Matrix, error) { return m.Less(center) })
		found := orthogonal(rng, d, rng.IntN(min(d, 4)))
		sameDerived(t, a, b, func(m *Matrix) (*Matrix, error) { return m.Off(found) })
		if rows {
			order := rng.Perm(n)
			sameDerived(t, a, b, func(m *Matrix) (*Matrix, error) { return m.Pairs(order) })
		}
	})
}

// sameSums compares what sums, histograms and groups make of two matrices, b on every path.
func sameSums(t *rapid.T, rng *rand.Rand, a, b *Matrix) {
	kind := rapid.SampledFrom(maps).Draw(t, "map")
	q := queryOf(rng, kind, a.d, 1+rng.IntN(min(a.d, 5)), math.Exp(rapid.Float64Range(-60, 60).Draw(t, "log R")), rapid.IntRange(0, 23).Draw(t, "finer"))
	want, err := Sum(a, q, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := Histogram(a, q, 1)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := Groups(a, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range supported() {
		on(p, func() {
			if got, err := Sum(b, q, 2); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: sum %v (%v), want %v", pathNames[p], got, err, want)
			}
			if got, err := Histogram(b, q, 2); err != nil || !slices.Equal(got, counts) {
				t.Fatalf("%s: counts %v (%v), want %v", pathNames[p], got, err, counts)
			}
		})
	}
	if got, err := Groups(b, 2, 2); err != nil || !slices.Equal(got, groups) {
		t.Fatalf("groups %v (%v), want %v", got, err, groups)
	}
}

func sameDerived(t *rapid.T, a, b *Matrix, derive func(*Matrix) (*Matrix, error)) {
	c, err := derive(a)
	if err != nil {
		t.Fatal(err)
	}
	e, err := derive(b)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(wideOf(c), wideOf(e)) || !slices.Equal(c.lengths(1), e.lengths(2)) || !slices.Equal(c.starts, e.starts) || !slices.Equal(c.absent, e.absent) {
		t.Fatal("a derived matrix differs")
	}
}

func TestMatrix32Refuses(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		_, err := NewMatrix32(3, []float32{1, 2, 3, 4, bad, 6})
		if e, ok := errors.AsType[*ValueError](err); !ok || e.Row != 1 || e.Column != 1 || !errors.Is(err, ErrNonFinite) {
			t.Errorf("%v: %v", bad, err)
		}
		if _, err := NewUnits32(3, []float32{1, 2, bad}, []int{0}); !errors.Is(err, ErrNonFinite) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := NewMatrix32(2, make([]float32, 3)); err == nil {
		t.Error("half a row")
	}
	if _, err := NewMatrix32(1, []float32{1, 0}, 0); err == nil {
		t.Error("an absent row with a value")
	}
	if _, err := NewUnits32(1, []float32{1, 2}, []int{0, 2}); err == nil {
		t.Error("a number beyond the rows")
	}
	for _, values := range [][]float32{nil, {}} {
		m, err := NewMatrix32(3, values)
		if err != nil || m.N() != 0 {
			t.Fatal(err)
		}
		if got := mustSum(t, m, Query{Map: Mean, Radius: 1, Grid: 0x1p-20}, 2); !slices.Equal(got, make([]int64, 3)) {
			t.Errorf("no rows: %v", got)
		}
	}
	if m, err := NewMatrix32(1, []float32{math.MaxFloat32, math.SmallestNonzeroFloat32}); err != nil || m.norms[0] != math.MaxFloat32 || m.norms[1] != 0x1p-149 {
		t.Errorf("largest and smallest: %v", err)
	}
}

// nearestRational rounds c·y as nearestEven does, by rational arithmetic alone.
func nearestRational(c, y float64) int64 {
	p := new(big.Rat).Mul(new(big.Rat).SetFloat64(c), new(big.Rat).SetFloat64(y))
	p.Add(p, big.NewRat(1, 2))
	z := new(big.Int).Div(p.Num(), p.Denom()) // Euclidean: floor for a positive divisor
	if p.IsInt() && z.Bit(0) == 1 {
		z.Sub(z, big.NewInt(1))
	}
	return z.Int64()
}

// Power sums of one direction and of several, every row length to 40, every path, float64 and
// float32, against rational arithmetic: the coefficients as documented, their products with each
// value exact and rounded once.
func TestPowerSumIsRational(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for d := 1; d <= 40; d++ {
		n, k := 1+rng.IntN(19), 1+rng.IntN(min(d, 5))
		narrow := float32s(gaussian(rng, n*d))
		wide := make([]float64, n*d)
		for i, v := range narrow {
			wide[i] = float64(v)
		}
		q := queryOf(rng, Power, d, k, math.Exp(4*rng.Float64()-1), rng.IntN(24))
		want := make([]int64, k*d)
		for i := range n {
			y := wide[i*d : (i+1)*d]
			for l, c := range coefficients(y, q) {
				for j := range y {
					want[l*d+j] += nearestRational(c, y[j])
				}
			}
		}
		a := mustMatrix(t, d, wide)
		b, err := NewMatrix32(d, narrow)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range supported() {
			on(p, func() {
				if got := mustSum(t, a, q, 1); !slices.Equal(got, want) {
					t.Errorf("%s: d=%d k=%d n=%d: got %v, want %v", pathNames[p], d, k, n, got, want)
				}
				if got := mustSum(t, b, q, 2); !slices.Equal(got, want) {
					t.Errorf("%s: float32 d=%d k=%d n=%d: got %v, want %v", pathNames[p], d, k, n, got, want)
				}
			})
		}
	}
}

// coefficients are the c_l of a row's power vectors c_l·y, as documented.
func coefficients(y []float64, q Query) []float64 {
	d, bound, norm := len(y), q.Radius/q.Grid*(1-1.0/(1<<30)), math.Sqrt(inner(y, y))
	if len(q.X) == d {
		return []float64{math.Max(-bound/norm, math.Min(bound/norm, inner(y, q.X)/q.Grid))}
	}
	s := make([]float64, len(q.X)/d)
	top, sum := 0.0, 0.0
	for l := range s {
		s[l] = inner(y, q.X[l*d:(l+1)*d])
		top = math.Max(top, math.Abs(s[l]))
	}
	_, e := math.Frexp(top)
	for l := range s {
		s[l] = math.Ldexp(s[l], 1-e) // the largest in [1, 2)
		sum += float64(s[l] * s[l])
	}
	c := math.Min(math.Ldexp(1/q.Grid, e-1), bound/norm/math.Sqrt(sum))
	for l := range s {
		s[l] *= c
	}
	return s
}

// What is done for each block of rows allocates nothing, however values are stored: one direction,
// several, the mean and the moment, on every path. What a worker allocates before its first block
// is its own.
func TestBlocksAllocateNothing(t *testing.T) {
	const d, n, k = 37, 24, 5
	rng := rand.New(rand.NewPCG(35, 36))
	values := gaussian(rng, n*d)
	narrow, err := NewMatrix32(d, float32s(values))
	if err != nil {
		t.Fatal(err)
	}
	l, one, several := limit{scale: 0x1p20, bound: 0x1p21}, Query{X: unit(rng, d)}, Query{X: orthogonal(rng, d, k)}
	for _, m := range []*Matrix{mustMatrix(t, d, values), narrow} {
		for name, body := range map[string]func([]uint64, int, int){
			"power": m.powerRows(one, l, n, m.lengths(1)), "block": m.blockRows(several, l, n, m.lengths(1)), "mean": m.meanRows(l, n, m.lengths(1)), "moment": m.momentRows(l, n, m.lengths(1)), "sizes": m.powerSizes(several, n, m.lengths(1)),
		} {
			acc := make([]uint64, map[string]int{"power": d, "block": k * d, "mean": d, "moment": d * (d + 1) / 2, "sizes": query.HistogramBins}[name])
			for _, p := range supported() {
				on(p, func() {
					if got := testing.AllocsPerRun(3, func() { body(acc, 0, n) }); got != 0 {
						t.Errorf("%s: %s, float32 %v, allocates %v times a block", pathNames[p], name, m.values.narrow != nil, got)
					}
				})
			}
		}
	}
}

package clip

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The tests run on the path that COVEY_CLIP names, and the fastest without it. Those of the kernels
// run on all the others too.
func TestMain(m *testing.M) {
	if err := SetPath(os.Getenv("COVEY_CLIP")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// The tests run on the path that was asked for. It is asked for here again because go test's cache
// knows only of variables that tests read.
func TestPathIsTheEnvironments(t *testing.T) {
	want := os.Getenv("COVEY_CLIP")
	if want == "" {
		want = pathNames[slices.Max(supported())]
	}
	if Path() != want {
		t.Errorf("on %s, not %s", Path(), want)
	}
}

// on runs f on a path.
func on(p path, f func()) {
	defer active.Store(active.Swap(uint32(p)))
	f()
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"PowerSumIsExact", TestPowerSumIsExact},
		{"PowerSumRoundsEachRowOnce", TestPowerSumRoundsEachRowOnce},
		{"PowerSumRowsDoNotInteract", TestPowerSumRowsDoNotInteract},
		{"PowerSumDoesNotDependOnWorkersOrBlocks", TestPowerSumDoesNotDependOnWorkersOrBlocks},
		{"DotIsNotFused", TestDotIsNotFused},
		{"DotOrder", TestDotOrder},
		{"PowerSumAllocatesPerWorkerOnly", TestPowerSumAllocatesPerWorkerOnly},
		{"FusedMapsAreExact", TestFusedMapsAreExact},
		{"UnitsDoNotInteract", TestUnitsDoNotInteract},
		{"ReplacementNeverExceedsSensitivity", TestReplacementNeverExceedsSensitivity},
		{"SensitivityIsTight", TestSensitivityIsTight},
		{"ClippedRowsKeepTheMargin", TestClippedRowsKeepTheMargin},
		{"TinyRowsContributeNothing", TestTinyRowsContributeNothing},
	} {
		if testing.Short() && c.name == "ReplacementNeverExceedsSensitivity" {
			continue // others compare each path's sums with the exact ones
		}
		for _, p := range supported() {
			if p != path(active.Load()) {
				t.Run(c.name+"/"+pathNames[p], func(t *testing.T) { on(p, func() { c.test(t) }) })
			}
		}
	}
}

func TestSetPath(t *testing.T) {
	old := Path()
	defer func() {
		if err := SetPath(old); err != nil {
			t.Error(err)
		}
	}()
	for p, name := range pathNames {
		err := SetPath(name)
		if e, ok := errors.AsType[*PathError](err); slices.Contains(supported(), path(p)) != (err == nil) || err != nil && (!ok || !e.Known) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && Path() != name {
			t.Errorf("%s: on %s", name, Path())
		}
	}
	before := Path()
	for _, name := range []string{"AVX2", "avx", "sse2", " "} {
		err := SetPath(name)
		if e, ok := errors.AsType[*PathError](err); !ok || e.Known || Path() != before {
			t.Errorf("%q: %v, on %s", name, err, Path())
		}
	}
	if err := SetPath(""); err != nil || Path() != pathNames[slices.Max(supported())] {
		t.Errorf("default: %v, on %s", err, Path())
	}
}

// kernelCase is two kernel calls of any shape and values, for k directions: rows and c are as
// misaligned as the offsets say.
type kernelCase struct {
	d, n, k int
	rows    []float64 // n×d
	x, c    []float64 // k×d, k×n
	acc     []uint64  // k×d
	offsets [5]int
}

// float32s is a copy of v, each value rounded.
func float32s(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// narrowed is the case with rows of values that float32 has, and coefficients within bounds for
// them.
func (k kernelCase) narrowed(rng *rand.Rand) kernelCase {
	k.rows, k.c = slices.Clone(k.rows), slices.Clone(k.c)
	for i, v := range k.rows {
		switch {
		case math.Abs(v) > math.MaxFloat32:
			v = math.Copysign(math.MaxFloat32, v)
		case v != 0 && math.Abs(v) < 0x1p-126: // subnormal, or less
			v = math.Copysign(math.Ldexp(float64(rng.IntN(1<<23)), -149), v)
		}
		k.rows[i] = float64(float32(v))
	}
	k.drawCoefficients(rng)
	return k
}

func (k kernelCase) drawCoefficients(rng *rand.Rand) {
	for l := range k.k {
		for i := range k.n {
			k.c[l*k.n+i] = bounded(rng, k.rows[i*k.d:(i+1)*k.d])
		}
	}
}

// guarded is a copy of v with canaries before and behind, at an offset from an allocation's start.
func guarded[T uint64 | number](v []T, offset int, canary T) (all, inside []T) {
	all = make([]T, offset+16+len(v)+16)
	for i := range all {
		all[i] = canary
	}
	inside = all[offset+16 : offset+16+len(v)]
	copy(inside, v)
	return all, inside[:len(v):len(v)]
}

// outside reports whether a canary is gone.
func outside[T uint64 | number](all, inside []T, canary T) bool {
	n := len(all) - 16
	for i, v := range all {
		if (i < n-len(inside) || i >= n) && v != canary {
			return true
		}
	}
	return false
}

// check runs dots and accumulate on every path, against the references: each s in the documented
// order, each product rounded from its exact value. An error says what differs. It runs the case
// stored as float64, and a narrowed one stored as float32.
func (k kernelCase) check(rng *rand.Rand) error {
	if err := checkStored(k, k.rows); err != nil {
		return err
	}
	k = k.narrowed(rng)
	return checkStored(k, float32s(k.rows))
}

// checkStored is check for k's rows as they are stored.
func checkStored[T number](k kernelCase, values []T) error {
	const canary, odd = 0xfeedfacecafebeef, -12345.678
	wantS, wantAcc := make([]float64, k.k*k.n), slices.Clone(k.acc)
	for l := range k.k {
		for i := range k.n {
			row := k.rows[i*k.d : (i+1)*k.d]
			wantS[l*k.n+i] = inner(row, k.x[l*k.d:(l+1)*k.d])
			for j, y := range row {
				wantAcc[l*k.d+j] += roundBits + uint64(nearestEven(k.c[l*k.n+i], y))
			}
		}
	}
	for _, p := range supported() {
		allRows, rows := guarded(values, k.offsets[0], T(odd))
		allX, x := guarded(k.x, k.offsets[1], odd)
		allC, c := guarded(k.c, k.offsets[2], odd)
		allS, s := guarded(make([]float64, k.k*k.n), k.offsets[3], odd)
		allAcc, acc := guarded(k.acc, k.offsets[4], canary)
		on(p, func() {
			if k.k == 1 {
				dots(s, rows, x, 0)
				accumulate(acc, rows, c, 0)
				return
			}
			dotsBlock(s, rows, x, k.n, k.d, 0)
			accumulateBlock(acc, rows, c, k.n, k.d, 0)
		})
		for i := range s {
			if math.Float64bits(s[i]) != math.Float64bits(wantS[i]) {
				return fmt.Errorf("%s: %T d=%d n=%d: k=%d: product %d is %v, want %v", pathNames[p], values, k.d, k.n, k.k, i, s[i], wantS[i])
			}
		}
		if !slices.Equal(acc, wantAcc) {
			return fmt.Errorf("%s: %T d=%d n=%d: got %v, want %v", pathNames[p], values, k.d, k.n, acc, wantAcc)
		}
		if !slices.Equal(rows, values) || !slices.Equal(x, k.x) || !slices.Equal(c, k.c) {
			return fmt.Errorf("%s: %T d=%d n=%d: an operand has changed", pathNames[p], values, k.d, k.n)
		}
		if outside(allRows, rows, T(odd)) || outside(allX, x, odd) || outside(allC, c, odd) || outside(allS, s, odd) || outside(allAcc, acc, canary) {
			return fmt.Errorf("%s: %T d=%d n=%d: written outside", pathNames[p], values, k.d, k.n)
		}
	}
	return nil
}

// extreme draws a value that ingest lets through: of any size, a tie on the grid, subnormal, a zero
// of either sign, or at the bound.
func extreme(rng *rand.Rand, d int) float64 {
	sign := float64(1 - 2*rng.IntN(2))
	switch rng.IntN(8) {
	case 0:
		return sign * math.Nextafter(valueLimit(d), 0)
	case 1:
		return math.Copysign(0, sign)
	case 2:
		return sign * math.Float64frombits(rng.Uint64N(1<<52))
	case 3:
		return sign * math.Ldexp(1+rng.Float64(), rng.IntN(990)-500-10)
	case 4:
		return float64(rng.IntN(9)-4) / 2
	}
	return rng.NormFloat64()
}

// bounded draws a coefficient for a row, |c·y| ≤ 2^40 as the clamp makes it: at that bound, a power
// of two, or of any size below.
func bounded(rng *rand.Rand, row []float64) float64 {
	sign, peak := float64(1-2*rng.IntN(2)), 0.0
	for _, y := range row {
		peak = max(peak, math.Abs(y))
	}
	top := min(0x1p40/peak*(1-0x1p-50), 0x1p400)
	switch rng.IntN(5) {
	case 0:
		return sign * top
	case 1:
		return math.Copysign(0, sign)
	case 2:
		return sign * min(top, 1)
	case 3:
		return sign * top * math.Ldexp(1, -rng.IntN(600))
	}
	return sign * top * rng.Float64()
}

func drawCase(rng *rand.Rand, d, n int) kernelCase {
	k := kernelCase{d: d, n: n, k: 1}
	if rng.IntN(2) == 0 {
		k.k = 2 + rng.IntN(8)
	}
	k.rows, k.x, k.c, k.acc = make([]float64, n*d), make([]float64, k.k*d), make([]float64, k.k*n), make([]uint64, k.k*d)
	for j := range k.rows {
		k.rows[j] = extreme(rng, d)
	}
	for j := range k.x {
		k.x[j] = math.Ldexp(rng.Float64()*2-1, -rng.IntN(2)*rng.IntN(60))
		k.acc[j] = rng.Uint64()
	}
	k.drawCoefficients(rng)
	for i := range k.offsets {
		k.offsets[i] = rng.IntN(9)
	}
	return k
}

// Every shape to 70 columns and 20 rows, and some large, with values at the extremes.
func TestKernelsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for d := 1; d <= 70; d++ {
		for n := 0; n <= 20; n += 1 + rng.IntN(1+d/8) { // all of them up to 7 columns
			if err := drawCase(rng, d, n).check(rng); err != nil {
				t.Fatal(err)
			}
		}
	}
	for d, n := range map[int]int{127: 20, 128: 15, 500: 9, 1000: 13, 4099: 5} {
		if err := drawCase(rng, d, n).check(rng); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKernelsAreExactRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 300).Draw(t, "d")
		n := rapid.IntRange(0, 20).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		if err := drawCase(rng, d, n).check(rng); err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever c and y are, and even where they are out of bounds, infinite or NaN, accumulate adds the
// same bits on every path, but for what a NaN's are.
func TestKernelsAgreeOutOfBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	odd := []float64{math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0x1p52, 0x1.8p51, -0x1p53, 1, 0, 0x1p-1074}
	for range 2000 {
		d, n := 1+rng.IntN(20), rng.IntN(12)
		rows, c := make([]float64, n*d), make([]float64, n)
		for j := range rows {
			rows[j] = odd[2+rng.IntN(len(odd)-2)]
		}
		for i := range c {
			c[i] = odd[2+rng.IntN(6)]
		}
		if n > 0 {
			rows[rng.IntN(n*d)] = odd[rng.IntN(2)]
		}
		var want []uint64
		for _, p := range supported() {
			acc := make([]uint64, d)
			on(p, func() { accumulate(acc, rows, c, 0) })
			if want == nil {
				want = acc
			}
			if !slices.Equal(acc, want) {
				t.Fatalf("%s: d=%d n=%d: got %x, want %x", pathNames[p], d, n, acc, want)
			}
		}
	}
}

// FuzzKernels: any shape, any bytes as values that ingest lets through, and coefficients within
// bounds.
func FuzzKernels(f *testing.F) {
	f.Add(uint8(1), uint64(1), []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f})
	f.Add(uint8(8), uint64(2), make([]byte, 700))
	f.Add(uint8(13), uint64(3), []byte("any text makes odd floats, and this makes a row of thirteen of them, which is one hundred and four"))
	f.Fuzz(func(t *testing.T, cols uint8, seed uint64, data []byte) {
		d := 1 + int(cols)%130
		rng := rand.New(rand.NewPCG(seed, 0))
		k := drawCase(rng, d, min(len(data)/8/d, 40))
		top := valueLimit(d)
		for i := range k.rows {
			var b uint64
			for j := range 8 {
				b |= uint64(data[8*i+j]) << (8 * j)
			}
			// false for NaN: the drawn value stays
			if v := math.Float64frombits(b); math.Abs(v) < top {
				k.rows[i] = v
			}
		}
		k.drawCoefficients(rng)
		if err := k.check(rng); err != nil {
			t.Fatal(err)
		}
	})
}

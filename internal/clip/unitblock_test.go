package clip

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// blended is Σ a_i·b_i in the order of blend.
func blended(a, b []float64) (v float64) {
	for ; len(a) >= 4; a, b = a[4:], b[4:] {
		v += (float64(a[0]*b[0]) + float64(a[1]*b[1])) + (float64(a[2]*b[2]) + float64(a[3]*b[3]))
	}
	for i := range a {
		v += float64(a[i] * b[i])
	}
	return v
}

// columnsOf are the columns of rows of length d.
func columnsOf(rows []float64, d int) [][]float64 {
	out := make([][]float64, d)
	for i, y := range rows {
		out[i%d] = append(out[i%d], y)
	}
	return out
}

// momentOf is what a unit adds to a moment: its triangle entry by entry, each blended from its two
// columns, scaled and rounded once.
func momentOf(rows []float64, d int, l limit) []int64 {
	columns, trace := columnsOf(rows, d), 0.0
	for _, y := range columns {
		trace += blended(y, y)
	}
	c := min(l.scale, l.bound/trace)
	wide := c * math.Sqrt2
	var out []int64
	for i := range d {
		out = append(out, nearestEven(c, blended(columns[i], columns[i])))
		for j := i + 1; j < d; j++ {
			out = append(out, nearestEven(wide, blended(columns[i], columns[j])))
		}
	}
	return out
}

// TestUnitMomentsAreExact: units of any length, alone in a block, many in one, or too long for any,
// add to a moment what momentOf finds entry by entry, on every path.
func TestUnitMomentsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	for _, d := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 40, 67} {
		var lengths []int
		rows := 0
		for range 40 {
			n := 1 + rng.IntN(9)
			switch rng.IntN(10) {
			case 0:
				n = unitRows + rng.IntN(3) - 1
			case 1:
				n = 2*unitRows + rng.IntN(5)
			}
			lengths = append(lengths, n)
			rows += n
		}
		values := gaussian(rng, rows*d)
		for i := range values {
			values[i] = float64(float32(values[i] * math.Ldexp(1, rng.IntN(8)-4)))
		}
		q := queryOf(rng, Moment, d, 1, 60*float64(d), 2) // about the size of a few rows
		l := limit{1 / q.Grid, q.Radius / q.Grid * margin}
		want, at, clipped := make([]int64, d*(d+1)/2), 0, 0
		for _, n := range lengths {
			part := values[at : at+n*d]
			at += n * d
			for j, x := range momentOf(part, d, l) {
				want[j] += x
			}
			if sizeOf(t, q, d, part) > q.Radius {
				clipped++
			}
		}
		if clipped == 0 || clipped == len(lengths) {
			t.Errorf("d = %d: %d units of %d are clipped", d, clipped, len(lengths))
		}
		unit := make([]int, 0, rows)
		for u, n := range lengths {
			unit = append(unit, slices.Repeat([]int{u}, n)...)
		}
		narrow, err := NewUnits32(d, float32s(values), unit)
		if err != nil {
			t.Fatal(err)
		}
		for name, m := range map[string]*Matrix{"float64": mustUnits(t, d, values, lengths), "float32": narrow} {
			for _, p := range supported() {
				for _, block := range []int{1, blockBytes} { // blocks of unitRows; of all
					on(p, func() {
						if got, err := sum(m, q, 2, block); err != nil || !slices.Equal(got, want) {
							t.Errorf("%s, %s, d = %d, blocks of %d bytes: other integers, %v", pathNames[p], name, d, block, err)
						}
					})
				}
			}
		}
	}
}

// linesCase is a call of addLines for n rows of length d, stride apart.
func linesCase(rng *rand.Rand, rows []float64, d, n, stride, lines int) (c float64, want []uint64) {
	peak := 0.0
	for i := range rows {
		rows[i] = rng.NormFloat64()
		peak += rows[i] * rows[i]
	}
	c = 0x1p50 / peak // entries are rounded in their last bits, so that the order of additions shows
	for j := range lines {
		for k := range d {
			var a, b []float64
			for i := range n {
				a, b = append(a, rows[i*stride+j]), append(b, rows[i*stride+k])
			}
			want = append(want, math.Float64bits(math.FMA(c, blended(a, b), round)))
		}
	}
	return c, want
}

// TestLinesAreTheSameOnAllPaths: of every shape, and nothing else is written.
func TestLinesAreTheSameOnAllPaths(t *testing.T) {
	const canary = 0xfeedfacecafebeef
	rng := rand.New(rand.NewPCG(73, 74))
	for d := 1; d <= 41; d++ {
		for n := 1; n <= 13; n++ {
			stride := d + rng.IntN(4)
			lines, rows := min(d, 1+rng.IntN(blockLines)), make([]float64, (n-1)*stride+d)
			c, want := linesCase(rng, rows, d, n, stride, lines)
			for _, p := range supported() {
				all, sums := guarded(make([]uint64, lines*d), rng.IntN(9), canary)
				on(p, func() {
					addLines(sums, rows, make([]float64, d), n, stride, c)
					addLines(sums, rows, make([]float64, d), n, stride, c)
				})
				for i, v := range sums {
					if v != 2*want[i] {
						t.Fatalf("%s: d=%d n=%d stride=%d: entry %d of %d is %x, want %x", pathNames[p], d, n, stride, i, len(sums), v, 2*want[i])
					}
				}
				if outside(all, sums, canary) {
					t.Fatalf("%s: d=%d n=%d: written outside", pathNames[p], d, n)
				}
			}
		}
	}
}

// TestBlendApart: rows and coefficients with something between them are blended as those without.
func TestBlendApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	for d := 1; d <= 41; d++ {
		for n := range 13 {
			stride, step := d+rng.IntN(4), 1+rng.IntN(4)
			rows, c, start := gaussian(rng, n*stride+d), gaussian(rng, n*step+1), gaussian(rng, d)
			var together, coefficients []float64
			for i := range n {
				together = append(together, rows[i*stride:i*stride+d]...)
				coefficients = append(coefficients, c[i*step])
			}
			want := slices.Clone(start)
			on(portable, func() { blend(want, together, coefficients) })
			for _, p := range supported() {
				got := append(slices.Clone(start), 7)
				on(p, func() { blendApart(got[:d], rows, c, n, stride, step) })
				if !sameBits(got[:d], want) || got[d] != 7 {
					t.Fatalf("%s: d=%d n=%d stride=%d step=%d differs", pathNames[p], d, n, stride, step)
				}
			}
		}
	}
}

// What the bounds on rows exclude would add nothing to a block either, and leave the others' units
// as they are.
func TestBlockTakesFiniteUnits(t *testing.T) {
	const d = 3
	rng := rand.New(rand.NewPCG(77, 78))
	l := limit{scale: 0x1p20, bound: 0x1p30}
	good := gaussian(rng, 5*d)
	for _, bad := range []float64{math.Inf(1), math.NaN(), 0x1p600} {
		b := newUnitBlock(d)
		b.unit(good, l)
		b.unit([]float64{1, bad, 0}, l)
		b.unit(good, l)
		acc := make([]uint64, d*(d+1)/2)
		b.add(acc)
		for j, x := range momentOf(good, d, l) {
			if int64(acc[j]) != 2*x {
				t.Errorf("%v: entry %d is %d, want %d", bad, j, int64(acc[j]), 2*x)
			}
		}
	}
}

// TestNoUnitsTriangleIsWhole: a worker takes the sums' memory for short units, and not twice that.
func TestNoUnitsTriangleIsWhole(t *testing.T) {
	const d, n = 512, 200
	rng := rand.New(rand.NewPCG(79, 80))
	m := mustUnits(t, d, gaussian(rng, n*d), slices.Repeat([]int{4}, n/4))
	q := queryOf(rng, Moment, d, 1, 1, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	mustSum(t, m, q, 1)
	runtime.ReadMemStats(&after)
	// the sums once as a worker has them, once as they are returned
	if got, sums := after.TotalAlloc-before.TotalAlloc, uint64(8*d*(d+1)/2); got > 2*sums+sums/4 {
		t.Errorf("%d bytes for sums of %d", got, sums)
	}
}

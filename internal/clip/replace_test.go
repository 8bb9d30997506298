package clip

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"covey/internal/query"
)

// exceeds reports whether ‖v‖ > bound, exactly.
func exceeds(v []int64, bound float64) bool {
	sum, t := new(big.Int), new(big.Int)
	for _, x := range v {
		t.SetInt64(x)
		sum.Add(sum, t.Mul(t, t))
	}
	b := new(big.Rat).SetFloat64(bound)
	return new(big.Rat).SetInt(sum).Cmp(b.Mul(b, b)) > 0
}

func length(v []int64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// A hostile row. Scales reach from subnormal to the ingest bound.
func hostileRow(rng *rand.Rand, d int, q Query) []float64 {
	row := gaussian(rng, d)
	limit := math.Nextafter(0x1p500/math.Sqrt(float64(d)), 0)
	scale := func(f float64) {
		for j := range row {
			row[j] = min(max(row[j]*f, -limit), limit)
		}
	}
	// lengths with ‖y‖² |cos| = about R: the clip boundary
	edge := func() {
		s, n := 0.0, 0.0
		for j, y := range row {
			s += y * q.X[j]
			n += y * y
		}
		scale(math.Sqrt(q.Radius / (math.Abs(s) * math.Sqrt(n))))
	}
	switch rng.IntN(11) {
	case 0: // a wide range of scales
		scale(math.Ldexp(1, rng.IntN(1000)-540))
	case 1: // around the clip boundary
		edge()
		scale(1 + (rng.Float64()-0.5)*0x1p-28)
	case 2:
		edge()
		scale(1 + rng.NormFloat64()*0x1p-51)
	case 3: // huge
		for j := range row {
			row[j] = math.Copysign(limit, row[j])
		}
	case 4: // squares underflow, or just do not
		scale(math.Ldexp(1, -470-rng.IntN(20)))
	case 5: // subnormal
		for j := range row {
			row[j] = math.Float64frombits(rng.Uint64N(1<<52) | uint64(rng.IntN(2))<<63)
		}
	case 6: // zero, with both signs
		for j := range row {
			row[j] = math.Copysign(0, row[j])
		}
	case 7: // nearly orthogonal to x, long: clipped vectors point almost anywhere in a half-space
		s := 0.0
		for j, y := range row {
			s += y * q.X[j]
		}
		for j := range row {
			row[j] -= s * (1 - 0.01*rng.NormFloat64()) * q.X[j]
		}
		scale(math.Ldexp(math.Sqrt(q.Radius), rng.IntN(60)))
	case 8: // ties: multiples of half a step
		f := math.Sqrt(q.Grid / 2)
		for j := range row {
			row[j] = f * float64(rng.IntN(7)-3)
		}
	case 9: // one huge coordinate among tiny ones
		scale(math.Ldexp(1, -400))
		row[rng.IntN(d)] = limit
	case 10: // along x: the longest after clipping
		f := math.Ldexp(math.Sqrt(q.Radius), rng.IntN(60)-5)
		for j := range row {
			row[j] = f * q.X[j]
		}
	}
	return row
}

// Replaces 10^5 rows of small matrices, under -short a fifth of that, by hostile ones and checks
// each change of the total exactly against Sensitivity, and each row alone against half of it.
func TestReplacementNeverExceedsSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	worst, moved, trials := 0.0, 0, 2500
	if testing.Short() {
		trials /= 5
	}
	for trial := range trials {
		d := 1 + rng.IntN(12)
		radius := anyRadius(rng, trial)
		q := Query{X: unit(rng, d), Radius: radius, Grid: math.Ldexp(query.Grid(radius), -[]int{0, 0, 0, 4, 23}[trial%5])}
		delta := Power.definition().Sensitivity(q.Radius, q.Grid, d)
		const n = 6
		values := make([]float64, 0, n*d)
		for range n {
			values = append(values, hostileRow(rng, d, q)...)
		}
		before := mustSum(t, mustMatrix(t, d, values), q, 1)
		for range 40 {
			at := rng.IntN(n) * d
			row := hostileRow(rng, d, q)
			copy(values[at:], row)
			after := mustSum(t, mustMatrix(t, d, values), q, 1)
			diff := make([]int64, d)
			for j := range diff {
				diff[j] = after[j] - before[j]
			}
			if exceeds(diff, delta) {
				t.Fatalf("trial %d: the total moved by %v > Δ = %v (R=%v, g=%v, row %v)", trial, length(diff), delta, q.Radius, q.Grid, row)
			}
			if alone := mustSum(t, mustMatrix(t, d, row), q, 1); exceeds(alone, delta/2) {
				t.Fatalf("trial %d: a row has length %v > Δ/2 = %v (row %v)", trial, length(alone), delta/2, row)
			}
			if l := length(diff); l > 0 {
				moved++
				worst = max(worst, l/delta)
			}
			before = after
		}
	}
	// The trials must be hostile enough to mean something.
	if moved < 20*trials || worst < 0.9 {
		t.Errorf("only %d replacements moved the total, the worst by %v Δ", moved, worst)
	}
}

// Δ is nearly reached: two long rows almost orthogonal to x, and opposite but for their part along
// it.
func TestSensitivityIsTight(t *testing.T) {
	q := Query{X: []float64{1, 0}, Radius: 1, Grid: query.Grid(1)}
	const slope = 0.05
	a := mustSum(t, mustMatrix(t, 2, []float64{slope * 1e6, 1e6}), q, 1)
	b := mustSum(t, mustMatrix(t, 2, []float64{slope * 1e6, -1e6}), q, 1)
	diff := []int64{a[0] - b[0], a[1] - b[1]}
	if l := length(diff); l < 0.99*2*q.Radius/q.Grid || exceeds(diff, Power.definition().Sensitivity(q.Radius, q.Grid, 2)) {
		t.Errorf("moved by %v, 2R/g = %v", l, 2*q.Radius/q.Grid)
	}
}

// At R/g = 2^40 the margin is 1024 steps: a clipped row must be that much shorter than R, so that
// rounding of the norm, in either direction and at any d, cannot bring it above.
func TestClippedRowsKeepTheMargin(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, d := range []int{1, 2, 3, 10, 1000, 20000} {
		for range 20 {
			q := Query{X: unit(rng, d), Radius: 1, Grid: 0x1p-40}
			row := gaussian(rng, d)
			for j := range row {
				row[j] = row[j]*1e3 + 1e6*q.X[j]
			}
			v := mustSum(t, mustMatrix(t, d, row), q, 1)
			if exceeds(v, 0x1p40-1000+math.Sqrt(float64(d))/2) || !exceeds(v, 0x1p40-1048-math.Sqrt(float64(d))/2) {
				t.Errorf("d=%d: a clipped row has length 2^40%+v", d, length(v)-0x1p40)
			}
		}
	}
}

// A tiny row's exact contribution rounds to zero at the smallest radius and finest grid, and zero
// is what it gets.
func TestTinyRowsContributeNothing(t *testing.T) {
	q := Query{X: []float64{1, 0}, Radius: query.MinRadius, Grid: query.MinRadius / query.MaxRatio}
	for _, v := range []float64{0, 0x1p-1074, 0x1p-1000, 0x1p-481, 0x1p-480, 0x1p-479, 0x1p-300} {
		got := mustSum(t, mustMatrix(t, 2, []float64{v, -v}), q, 1)
		if got[0] != 0 || got[1] != 0 {
			t.Errorf("%v: got %v", v, got)
		}
	}
}

// FuzzPowerSum: any bytes are a matrix of any shape. It is refused for a reason that holds, or each
// row is within bounds and the total is the exact sum, for any blocks and workers.
func FuzzPowerSum(f *testing.F) {
	f.Add(uint8(1), uint8(1), uint16(1), int16(0), uint8(0), []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f})
	f.Add(uint8(3), uint8(2), uint16(30), int16(-200), uint8(23), make([]byte, 200))
	f.Add(uint8(2), uint8(4), uint16(0), int16(199), uint8(4), []byte("arbitrary text that decodes to odd floats, forty-eight bytes"))
	f.Add(uint8(1), uint8(3), uint16(9), int16(3), uint8(1), []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f})
	f.Fuzz(func(t *testing.T, cols, workers uint8, block uint16, exponent int16, finer uint8, data []byte) {
		d := 1 + int(cols%70)
		values := make([]float64, len(data)/8/d*d)
		finite, small := true, true
		for i := range values {
			var b uint64
			for k := range 8 {
				b |= uint64(data[8*i+k]) << (8 * k)
			}
			v := math.Float64frombits(b)
			values[i] = v
			finite = finite && !math.IsNaN(v) && !math.IsInf(v, 0)
			small = small && math.Abs(v) < 0x1p500/math.Sqrt(float64(d))
		}
		m, err := NewMatrix(d, values)
		if (err == nil) != (finite && small) {
			t.Fatalf("finite %v, small %v: %v", finite, small, err)
		}
		if err != nil {
			return
		}
		radius := math.Ldexp(1.25, int(exponent)%200)
		q := Query{X: make([]float64, d), Radius: radius, Grid: math.Ldexp(query.Grid(radius), -int(finer%24))}
		for j := range q.X {
			q.X[j] = 1 / math.Sqrt(float64(d))
		}
		got, err := sum(m, q, int(workers%9), 1+int(block))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int64, d)
		for i := range m.N() {
			v := reference(d, values[i*d:(i+1)*d], q)
			if exceeds(v, Power.definition().Sensitivity(q.Radius, q.Grid, d)/2) {
				t.Fatalf("row %d is too long", i)
			}
			for j := range v {
				want[j] += v[j]
			}
		}
		for j := range want {
			if got[j] != want[j] {
				t.Fatalf("coordinate %d: got %d, want %d", j, got[j], want[j])
			}
		}
	})
}

// anyRadius returns the smallest radius, the largest, one at which R/g is smallest, and others.
func anyRadius(rng *rand.Rand, trial int) float64 {
	radius := math.Ldexp(1+rng.Float64(), rng.IntN(20)-10)
	switch trial % 10 {
	case 0:
		radius = query.MinRadius
	case 1:
		radius = query.MaxRadius
	case 2:
		radius = 1
	}
	return radius
}

// oneUnit returns the matrix of values of d columns, where the rows behind the first are one unit's
// and the rest others': in float32 half of the times.
func oneUnit(t *testing.T, trial, d, rows int, values []float64) *Matrix {
	t.Helper()
	ids := make([]int, len(values)/d)
	for i := range ids {
		ids[i] = min(1, i) + max(0, i-rows)
	}
	var m *Matrix
	var err error
	switch {
	case trial%4 > 1:
		narrow := make([]float32, len(values))
		for i, v := range values {
			narrow[i] = float32(max(-0x1p100, min(v, 0x1p100)))
		}
		m, err = NewUnits32(d, narrow, ids)
	case rows == 1:
		m, err = NewMatrix(d, values)
	default:
		m, err = NewUnits(d, values, ids)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

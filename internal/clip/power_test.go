package clip

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/query"
)

func mustMatrix(tb testing.TB, d int, values []float64) *Matrix {
	tb.Helper()
	m, err := NewMatrix(d, slices.Clone(values))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func mustSum(tb testing.TB, m *Matrix, q Query, workers int) []int64 {
	tb.Helper()
	v, err := Sum(m, q, workers)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func unit(rng *rand.Rand, d int) []float64 {
	x := make([]float64, d)
	for {
		sum := 0.0
		for j := range x {
			x[j] = rng.NormFloat64()
			sum += x[j] * x[j]
		}
		if sum > 1e-6 {
			for j := range x {
				x[j] /= math.Sqrt(sum)
			}
			return x
		}
	}
}

func gaussian(rng *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// nearestEven rounds c·y, taken exactly, to the nearest integer, half to even: floor(p+1/2), and
// one less where that is odd and p+1/2 was whole.
func nearestEven(c, y float64) int64 {
	fc, ec := math.Frexp(c)
	fy, ey := math.Frexp(y)
	k := 106 - ec - ey
	if c == 0 || y == 0 || k > 106 { // |c·y| < 1/2
		return 0
	}
	// c·y = z·2^-k
	z := new(big.Int).Mul(big.NewInt(int64(fc*0x1p53)), big.NewInt(int64(fy*0x1p53)))
	if k <= 0 {
		return z.Lsh(z, uint(-k)).Int64()
	}
	z.Add(z, new(big.Int).Lsh(big.NewInt(1), uint(k-1)))
	whole := z.TrailingZeroBits() >= uint(k) || z.Sign() == 0
	z.Rsh(z, uint(k)) // floor
	if whole && z.Bit(0) == 1 {
		z.Sub(z, big.NewInt(1))
	}
	return z.Int64()
}

// The reference that the others use is what big.Rat says.
func TestNearestEven(t *testing.T) {
	rational := func(c, y float64) int64 {
		p := new(big.Rat).Mul(new(big.Rat).SetFloat64(c), new(big.Rat).SetFloat64(y))
		twice := new(big.Rat).Add(p, p)
		twice.Add(twice, big.NewRat(1, 1)) // floor(p+1/2) = floor((2p+1)/2)
		den := new(big.Int).Mul(twice.Denom(), big.NewInt(2))
		z := new(big.Int).Div(twice.Num(), den) // Euclidean: floor for a positive divisor
		if new(big.Rat).Sub(new(big.Rat).SetInt(z), p).Cmp(big.NewRat(1, 2)) == 0 && z.Bit(0) == 1 {
			z.Sub(z, big.NewInt(1))
		}
		return z.Int64()
	}
	rng := rand.New(rand.NewPCG(17, 18))
	for i := range 20000 {
		y := extreme(rng, 1+i%9)
		c := bounded(rng, []float64{y})
		if i%3 == 0 {
			c, y = float64(rng.IntN(9)-4)/4, float64(rng.IntN(9)-4)/2
		}
		if got, want := nearestEven(c, y), rational(c, y); got != want {
			t.Fatalf("%v·%v: got %d, want %d", c, y, got, want)
		}
	}
}

// inner is aᵀb in the documented order: products in eight lanes by place, the lanes in halves,
// quarters and eighths.
func inner(a, b []float64) float64 {
	lanes := make([]float64, 8)
	for j := range a {
		lanes[j%8] += float64(a[j] * b[j])
	}
	for n := 4; n > 0; n /= 2 {
		for l := range n {
			lanes[l] += lanes[l+n]
		}
	}
	return lanes[0]
}

// reference is Sum row by row: c as documented (order of products, margin, clamp), every c·y_ij
// rounded from its exact value.
func reference(d int, values []float64, q Query) []int64 {
	out := make([]int64, d)
	for lo := 0; lo < len(values); lo += d {
		row := values[lo : lo+d]
		s, sum := inner(row, q.X), inner(row, row)
		if sum < 0x1p-960 {
			continue
		}
		b := q.Radius / q.Grid * (1 - 1.0/(1<<30)) / math.Sqrt(sum)
		c := math.Max(-b, math.Min(b, s/q.Grid))
		for j, y := range row {
			out[j] += nearestEven(c, y)
		}
	}
	return out
}

// Every row length to 70 (all tails of a kernel that takes 1, 2, 4 or 8 at a time), several
// heights, clipped and unclipped rows.
func TestPowerSumIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for d := 1; d <= 70; d++ {
		for _, n := range []int{0, 1, 3, 4, 5, 8} {
			values := gaussian(rng, n*d)
			x := unit(rng, d)
			for _, r := range []float64{0.3, 2.5, 1e3} {
				for _, finer := range []int{23 * (d % 2)} {
					q := Query{X: x, Radius: r, Grid: math.Ldexp(query.Grid(r), -finer)}
					got, want := mustSum(t, mustMatrix(t, d, values), q, 1), reference(d, values, q)
					if !slices.Equal(got, want) {
						t.Fatalf("d=%d n=%d R=%v: got %v, want %v", d, n, r, got, want)
					}
				}
			}
		}
	}
}

// Contributions of 0.4, 0.5 and 1.5 grid steps: each is rounded by itself, half to even, before it
// is added.
func TestPowerSumRoundsEachRowOnce(t *testing.T) {
	const g = 0x1p-16
	for _, c := range []struct {
		part float64 // of a grid step, by row
		rows int
		want int64
	}{{0.4, 1000, 0}, {0.5, 1, 0}, {0.5, 1000, 0}, {0.6, 1000, 1000}, {1.5, 1000, 2000}, {2.5, 1000, 2000}, {2.4, 1000, 2000}} {
		// With x = (1, 0) and y = (1/1024, a): c = y_0/g = 64, contribution (64/1024, 64a).
		values := make([]float64, 0, 2*c.rows)
		for i := range c.rows {
			sign := float64(1 - 2*(i%2))
			values = append(values, sign/1024, sign*c.part/64)
		}
		got := mustSum(t, mustMatrix(t, 2, values), Query{X: []float64{1, 0}, Radius: 1, Grid: g}, 1)
		if got[0] != 0 || got[1] != c.want {
			t.Errorf("%d rows of %v: got %v, want %d", c.rows, c.part, got, c.want)
		}
	}
}

// One more row must not change how others round, even when all of them sit on ties.
func TestPowerSumRowsDoNotInteract(t *testing.T) {
	q := Query{X: []float64{1, 0}, Radius: 1, Grid: 0x1p-16}
	row := func(part float64) []float64 { return []float64{1. / 1024, part / 64} }
	for k := range 24 {
		ties := make([]float64, 0, 2*100)
		for i := range 100 {
			ties = append(ties, row(float64(i%(k+1))+0.5)...)
		}
		alone := mustSum(t, mustMatrix(t, 2, ties), q, 1)
		for _, part := range []float64{1, 3, 0.5, -7} {
			one := mustSum(t, mustMatrix(t, 2, row(part)), q, 1)
			both := mustSum(t, mustMatrix(t, 2, append(row(part), ties...)), q, 1)
			for j := range both {
				if both[j] != alone[j]+one[j] {
					t.Fatalf("k=%d part=%v: %v + %v gave %v", k, part, alone, one, both)
				}
			}
		}
	}
}

func TestPowerSumDoesNotDependOnWorkersOrBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 40).Draw(t, "d")
		n := rapid.IntRange(0, 300).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		values := gaussian(rng, n*d)
		q := Query{X: unit(rng, d), Radius: 1, Grid: 0x1p-30}
		m, err := NewMatrix(d, values)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int64, d)
		for i := range n { // one row at a time
			row, err := NewMatrix(d, slices.Clone(values[i*d:(i+1)*d]))
			if err != nil {
				t.Fatal(err)
			}
			v, err := Sum(row, q, 1)
			if err != nil {
				t.Fatal(err)
			}
			for j := range v {
				want[j] += v[j]
			}
		}
		old := runtime.GOMAXPROCS(rapid.IntRange(1, 4).Draw(t, "procs"))
		defer runtime.GOMAXPROCS(old)
		block := rapid.IntRange(1, 8*d*n+8).Draw(t, "block")
		for workers := range 9 {
			got, err := sum(m, q, workers, block)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("d=%d n=%d block=%d workers=%d: got %v, want %v", d, n, block, workers, got, want)
			}
		}
	})
}

// A matrix of many blocks, so that several workers really run.
func TestPowerSumManyBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{1, 7, 64, 5000} {
		n := 1_200_000/d + 3
		m := mustMatrix(t, d, gaussian(rng, n*d))
		q := Query{X: unit(rng, d), Radius: 2, Grid: query.Grid(2)}
		want := mustSum(t, m, q, 1)
		for _, workers := range []int{0, -1, 2, 3, 8, 1000} {
			if got := mustSum(t, m, q, workers); !slices.Equal(got, want) {
				t.Errorf("d=%d workers=%d differs", d, workers)
			}
		}
	}
}

// With fused products s would be the rounding error of a·x_0, about 2^-35, instead of 0, and the
// integers about 2^25.
func TestDotIsNotFused(t *testing.T) {
	for at := 8; at < 40; at++ { // in the same lane as its partner, in others, in a tail
		d := at + 1
		x := make([]float64, d)
		x[0], x[at] = math.Sqrt2/2, math.Sqrt2/2
		values := make([]float64, 0, 13*d)
		for i := range 13 { // eight at a time, four, and one alone
			row := make([]float64, d)
			row[0] = float64(1<<20 + 2*i + 1)
			row[at] = -row[0]
			values = append(values, row...)
		}
		got := mustSum(t, mustMatrix(t, d, values), Query{X: x, Radius: 1, Grid: 0x1p-40}, 1)
		if !slices.Equal(got, make([]int64, d)) {
			t.Errorf("d=%d: got %v, want zeros", d, got)
		}
	}
}

func TestClamp(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ c, b, want float64 }{
		{1, 2, 1}, {-1, 2, -1}, {2, 2, 2}, {3, 2, 2}, {-3, 2, -2}, {inf, 2, 2}, {-inf, 2, -2}, {math.Nextafter(2, 3), 2, 2},
		{0x1p-1074, 1, 0x1p-1074}, {0, 0, 0}, {5, 0, 0}, {-5, 0, 0}, {1e-300, 1e300, 1e-300},
	} {
		if got := clamp(c.c, c.b); got != c.want {
			t.Errorf("clamp(%v, %v) = %v", c.c, c.b, got)
		}
	}
	if got := clamp(math.NaN(), 2); math.Abs(got) != 2 {
		t.Errorf("NaN: %v", got)
	}
}

// Two large products cancel and a small one comes before, between or after: whether it is lost
// tells in which order they were added.
func TestDotOrder(t *testing.T) {
	const d = 27
	lost, kept := 0, 0
	x := make([]float64, d)
	for j := range x {
		x[j] = 1 / math.Sqrt(d)
	}
	for first := range d {
		for second := range first {
			for small := range d {
				if small == first || small == second {
					continue
				}
				values := make([]float64, 0, 13*d)
				for range 13 { // eight at a time, four, and one alone
					row := make([]float64, d)
					row[first], row[second], row[small] = 0x1p56, -0x1p56, 1
					values = append(values, row...)
				}
				s, want := make([]float64, 13), inner(values[:d], x)
				dots(s, values, x, 0)
				for i, got := range s {
					if got != want {
						t.Fatalf("row %d, places %d and %d, small %d: got %v, want %v", i, second, first, small, got, want)
					}
				}
				if want == 0 {
					lost++
				} else {
					kept++
				}
			}
		}
	}
	if lost == 0 || kept == 0 {
		t.Errorf("%d lost and %d kept say nothing about order", lost, kept)
	}
}

func TestPowerSumNearFloatSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, d := range []int{1, 3, 8, 50} {
		const n = 2000
		values := gaussian(rng, n*d)
		x := unit(rng, d)
		r := 0.8 * math.Sqrt(float64(d)) // clips some rows and not others
		want := make([]float64, d)
		clipped := 0
		for i := range n {
			row := values[i*d : (i+1)*d]
			s, norm := 0.0, 0.0
			for j, y := range row {
				s += y * x[j]
				norm += y * y
			}
			norm = math.Sqrt(norm)
			f := min(1, r/(norm*math.Abs(s)))
			if f < 1 {
				clipped++
			}
			for j, y := range row {
				want[j] += f * s * y
			}
		}
		if clipped == 0 || clipped == n {
			t.Fatalf("d=%d: %d rows clipped", d, clipped)
		}
		q := Query{X: x, Radius: r, Grid: query.Grid(r)}
		for j, v := range mustSum(t, mustMatrix(t, d, values), q, 2) {
			// Each row is off by half a step at most, and by R·2^-30 for the margin.
			if diff := math.Abs(float64(v)*q.Grid - want[j]); diff > n*(q.Grid/2+r*0x1p-29) {
				t.Errorf("d=%d, coordinate %d: off by %v", d, j, diff)
			}
		}
	}
}

func TestPowerSumAllocatesPerWorkerOnly(t *testing.T) {
	count := func(n int) float64 {
		m := mustMatrix(t, 64, make([]float64, n*64))
		x := make([]float64, 64)
		x[0] = 1
		return testing.AllocsPerRun(5, func() { mustSum(t, m, Query{X: x, Radius: 1, Grid: 0x1p-16}, 1) })
	}
	if few, many := count(48), count(48*100); many > few {
		t.Errorf("100 blocks allocate %v times, one block %v times", many, few)
	}
}

func ExampleSum() {
	m, _ := NewMatrix(2, []float64{3, 4, 0, 0, 1, 0})
	q := Query{X: []float64{1, 0}, Radius: 4, Grid: query.Grid(4)}
	sum, _ := Sum(m, q, 0)
	fmt.Println(sum, Power.definition().Sensitivity(q.Radius, q.Grid, m.D()) > 2*4/q.Grid)
	// Row (3,4) has length 15 and is clipped to 4: (2.4, 3.2); row (1,0) stays. In grid steps of
	// 2^-14:
	fmt.Println(float64(sum[0])*q.Grid, float64(sum[1])*q.Grid)
	// Output:
	// [55706 52429] true
	// 3.4000244140625 3.20001220703125
}

// orthogonal is k orthonormal directions, drawn at random.
func orthogonal(rng *rand.Rand, d, k int) []float64 {
	x := make([]float64, 0, d*k)
	for range k {
		v := unit(rng, d)
		for range 3 {
			for to := 0; to < len(x); to += d {
				s := dot(v, x[to:to+d])
				for j := range v {
					v[j] -= s * x[to+j]
				}
			}
			s := math.Sqrt(dot(v, v))
			for j := range v {
				v[j] /= s
			}
		}
		x = append(x, v...)
	}
	return x
}

package standardize

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"covey/internal/query"
)

// units are what a column's laws are tried on.
const units = 4000

// column is a law's values, each divided by its standard deviation, about whatever mean it has.
func column(law string, rng *rand.Rand) (values []float64, mean, deviation float64) {
	unit := math.Pow(10, 5*rng.Float64()-2)
	values = make([]float64, units)
	for i := range values {
		x := rng.NormFloat64()
		switch law {
		case "normal":
			x = (x + 12) * unit
		case "far":
			x = (x - 150) * unit
		case "farther":
			x = (x + 300) * unit
		case "farthest":
			x = (x + 600) * unit
		case "edge": // the largest are in the next bin of magnitudes
			x = (x + 12) * 4.56
		case "zeros":
			x = max(0, x-0.84) * unit
		case "binary":
			x = math.Round(rng.Float64()/2 + 0.1)
		case "codes": // 1, and 2 for a sixth
			x = 1
			if rng.Float64() < 1./6 {
				x = 2
			}
		case "answers": // 1 to 5, 80% of them 3
			x = 3 + math.Copysign(float64(min(2, int(math.Abs(x)/1.2816)+int(math.Abs(x)/2.0537))), x)
		case "one value":
			x = 7 * unit
		case "zero":
			x = 0
		case "rarely":
			if x = 3 * unit; i == 5 {
				x *= 1e6
			}
		}
		values[i] = x
		mean += x / units
	}
	for _, x := range values {
		deviation += (x - mean) * (x - mean) / units
	}
	return values, mean, math.Sqrt(deviation)
}

// released are noised values, per unit, of a query about one column.
func released(values []float64, c Column, size int, tau float64, rng *rand.Rand, add func(h []float64, z float64)) []float64 {
	h := make([]float64, size)
	for _, x := range values {
		if c.Scale > 0 {
			x = (x - c.Center) / c.Scale
		}
		add(h, x)
	}
	for i := range h {
		h[i] = h[i]/units + tau*rng.NormFloat64()
	}
	return h
}

// learned is what all queries say of a column; tau is the noise of its octaves. The others' is as
// much larger as their sensitivity.
func learned(values []float64, tau float64, rng *rand.Rand) Column {
	count := func(append func([]int, float64) []int) func([]float64, float64) {
		return func(h []float64, z float64) {
			for _, b := range append(nil, z) {
				h[b]++
			}
		}
	}
	c := Octaves(released(values, Column{}, query.OctaveBins, tau, rng, count(query.AppendOctaves)), tau)
	if c[0].Out != In {
		return c[0]
	}
	tree := tau * math.Sqrt(1.5)
	c = Tree(released(values, c[0], query.TreeBins, tree, rng, count(query.AppendTree)), tree, c)
	moments := tau * math.Sqrt(7)
	for range MomentRounds {
		c = Moments(released(values, c[0], 2, moments, rng, func(h []float64, z float64) {
			z = max(-MomentLimit, min(z, MomentLimit))
			h[0] += 2 * z
			h[1] += z * z
		}), moments, c)
	}
	return Constants(c, moments)[0]
}

// TestColumnsAreLearned: a column's center and scale come out near the mean and the standard
// deviation of its values, whatever its unit and wherever it is; with little noise, and with much
// of it most of them. Columns of one value are named, and no others. The seeds are fixed.
func TestColumnsAreLearned(t *testing.T) {
	for _, c := range []struct {
		law         string
		out         Reason
		from, to    float64 // bounds of the scale, in deviations
		tau         float64
		most, seeds int // so many may be off
	}{
		{"normal", In, 0.8, 1.25, 0.02, 0, 60},
		{"far", In, 0.8, 1.25, 0.02, 0, 60},
		{"binary", In, 0.7, 1.25, 0.02, 0, 60},
		{"zeros", In, 0.4, 1.25, 0.02, 2, 60},
		{"codes", In, 0.8, 1.25, 0.02, 0, 60},
		{"answers", In, 0.8, 1.25, 0.01, 0, 60},
		{"one value", Constant, 0, 0, 0.002, 3, 60},
		{"one value", Constant, 0, 0, 0.02, 3, 60},
		{"zero", Constant, 0, 0, 0.02, 1, 60},
		{"rarely", Constant, 0, 0, 0.02, 3, 60},
		{"normal", In, 0.8, 1.25, 0.002, 0, 60},
		{"edge", In, 0.8, 1.25, 0.002, 0, 60},
		{"normal", In, 0.6, 1.6, 0.06, 1, 60},
		{"binary", In, 0.5, 1.6, 0.06, 5, 60},
	} {
		rng := rand.New(rand.NewPCG(11, 13))
		off := 0
		for range c.seeds {
			values, mean, deviation := column(c.law, rng)
			got := learned(values, c.tau, rng)
			if got.Out != c.out || c.out == In && (got.Scale < c.from*deviation || got.Scale > c.to*deviation || math.Abs(got.Center-mean) > 0.6*deviation) {
				off++
				t.Logf("%s: %+v, mean %v, deviation %v", c.law, got, mean, deviation)
			}
		}
		if off > c.most {
			t.Errorf("%s, noise %v: %d of %d columns are off, want %d at most", c.law, c.tau, off, c.seeds, c.most)
		}
	}
}

// TestFarColumns: of a column that lies hundreds of its deviations from zero, the tree shows one
// place. Noise elsewhere is no second part of it: its scale is its deviation, or, of few, it is
// left out. The seed is fixed.
func TestFarColumns(t *testing.T) {
	for law, most := range map[string]int{"farther": 2, "farthest": 3} {
		rng, out := rand.New(rand.NewPCG(11, 13)), 0
		for range 100 {
			values, mean, deviation := column(law, rng)
			got := learned(values, 0.02, rng)
			if got.Out != In {
				out++
			} else if got.Scale > 1.6*deviation || got.Scale < 0.6*deviation || math.Abs(got.Center-mean) > 0.6*deviation {
				t.Errorf("%s: %+v, mean %v, deviation %v", law, got, mean, deviation)
			}
		}
		if out > most {
			t.Errorf("%s: %d columns are left out, want %d at most", law, out, most)
		}
	}
}

// TestDiagonal: a clear entry is itself, one in the noise is near the median, one that is left out
// is 0, and none is below or at 0.
func TestDiagonal(t *testing.T) {
	columns := make([]Column, 5)
	columns[4].Out = Weak
	clear := Diagonal([]float64{1, 2, 4, 8, 100}, 1e-3, columns)
	for j, want := range []float64{1, 2, 4, 8, 0} {
		if math.Abs(clear[j]-want) > 0.01*want {
			t.Errorf("entry %d of little noise is %v, want %v", j, clear[j], want)
		}
	}
	noisy := Diagonal([]float64{1, 1.1, 0.9, -3, 100}, 3, columns)
	for j, v := range noisy[:4] {
		if v < 0.6 || v > 3.5 {
			t.Errorf("entry %d of much noise is %v", j, v)
		}
	}
	if out := Diagonal([]float64{1}, 1, []Column{{Out: Constant}}); out[0] != 0 {
		t.Errorf("no column is in: %v", out)
	}
}

// TestDoubt: little noise leaves its part of a variance, much noise what was known before.
func TestDoubt(t *testing.T) {
	for _, c := range [][4]float64{{2, 0.02, 0.6, 0.01}, {1, 100, 0.6, 0.6}, {0, 1, 0.3, 0.3}, {1, 0.3, 0.3, 0.3 / math.Sqrt2}} {
		if got := Doubt(c[0], c[1], c[2]); math.Abs(got-c[3]) > 1e-3*c[3] {
			t.Errorf("of %v with noise %v, known to %v, %v is left, want %v", c[0], c[1], c[2], got, c[3])
		}
	}
	columns := Moments([]float64{0, 0, 0, 1, 1, 1}, 0.01, []Column{{Scale: 1}, {Scale: 1}, {Out: Weak}})
	if got := columns[0].Doubt; math.Abs(got-0.01) > 1e-3 || columns[2].Doubt != 0 {
		t.Errorf("moments leave %v, and %v of a column that is left out", got, columns[2].Doubt)
	}
}

// TestShares: the shares follow the noise of a count, between their bounds, and the units that a
// score needs are the fewest.
func TestShares(t *testing.T) {
	const multiplier = 4.53 // ε = 1, δ = 10^-6
	last := 1.0
	for _, n := range []int{100, 5000, 20_000, 50_000, 200_000, 5_000_000} {
		s := SharesOf(n, 64, 64, multiplier)
		if all := s.All(); all > last || all < 0.008-1e-12 || all > 0.18+1e-12 {
			t.Errorf("%d units: the shares %+v", n, s)
		}
		last = s.All()
	}
	for _, d := range []int{1, 64, 200, 12_500} {
		for _, score := range []float64{RefuseScore, WarnScore} {
			n := NeededUnits(d, multiplier, score)
			if Score(n, d, multiplier) < score || Score(n-1, d, multiplier) >= score {
				t.Errorf("%d columns need %d units for %v", d, n, score)
			}
		}
	}
	for _, c := range []struct {
		n, d int
		want float64
	}{{5000, 64, 11}, {5000, 200, 6.2}, {2000, 64, 4.4}, {2000, 200, 2.5}} {
		if got := Score(c.n, c.d, multiplier); math.Abs(got-c.want) > 0.1 {
			t.Errorf("%d units of %d columns have the score %v, want %v", c.n, c.d, got, c.want)
		}
	}
	if steps := query.Moments.Definition().Steps; steps != MomentRounds {
		t.Errorf("moments are asked for %d times by the table, %d here", steps, MomentRounds)
	}
	if n := NeededUnits(1<<20, 1e300, 6); n < 1<<52 {
		t.Errorf("a score out of reach needs %d units", n)
	}
}

// TestFunctions: exp, log and the normal distribution are what they should be, at the ends too.
func TestFunctions(t *testing.T) {
	for x := -699.9; x <= 700; x += 0.37 {
		if got, want := exp(x), math.Exp(x); math.Abs(got-want) > 1e-14*want {
			t.Errorf("e^%v is %v, want %v", x, got, want)
		}
		y := math.Ldexp(1+math.Abs(x)/701, int(x))
		if got, want := log(y), math.Log(y); math.Abs(got-want) > 1e-15*max(1, math.Abs(want)) {
			t.Errorf("ln %v is %v, want %v", y, got, want)
		}
		if got, want := normal(x/80), math.Erfc(-x/80/math.Sqrt2)/2; math.Abs(got-want) > 2e-12 {
			t.Errorf("Φ(%v) is %v, want %v", x/80, got, want)
		}
	}
	for x, want := range map[float64]float64{math.Inf(-1): 0, -1e9: 0, 0: 1} {
		if got := exp(x); got != want {
			t.Errorf("e^%v is %v", x, got)
		}
	}
	if got := exp(math.NaN()); got != 0 {
		t.Errorf("e^NaN is %v", got)
	}
	if got := exp(1e9); math.IsInf(got, 0) {
		t.Error("e^1e9 is infinite")
	}
}

// golden is one bit pattern after another, of inputs that are exact everywhere.
func golden(seed uint64, values []float64, scale float64) {
	state := seed
	for i := range values {
		state = state*6364136223846793005 + 1442695040888963407
		values[i] = math.Ldexp(float64(int64(state)>>40), -24) * scale
	}
}

// TestGoldenColumns: the same inputs have the same outputs, to the last bit. Every site takes the
// next step from them by itself, on whatever processor it has.
func TestGoldenColumns(t *testing.T) {
	const d = 24
	sum := sha256.New()
	put := func(v float64) { sum.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))) }
	all := func(columns []Column) {
		for _, c := range columns {
			for _, v := range []float64{c.Center, c.Scale, c.Score, c.Zero, c.Variance} {
				put(v)
			}
			sum.Write([]byte(c.Out))
		}
	}
	noise := func(h []float64, seed uint64) []float64 {
		golden(seed, h, 0.05)
		return h
	}
	h := noise(make([]float64, d*query.OctaveBins), 1)
	for j := range d {
		h[j*query.OctaveBins] += float64(j%3) / 4
		for _, b := range query.AppendOctaves(nil, math.Ldexp(1.5, j-12)) {
			h[j*query.OctaveBins+b] += 1 - float64(j%3)/4
		}
	}
	columns := Octaves(h, 0.1)
	all(columns)
	h = noise(make([]float64, d*query.TreeBins), 2)
	for j := range d {
		for _, b := range query.AppendTree(nil, float64(j-12)/16) {
			h[j*query.TreeBins+b] += 0.75
		}
	}
	columns = Tree(h, 0.3, columns)
	all(columns)
	in := 0
	for round := range MomentRounds {
		h = noise(make([]float64, 2*d), uint64(3+round))
		for j := range d {
			h[d+j] += float64(j) / 12
		}
		columns = Moments(h, 0.1, columns)
		all(columns)
	}
	columns = Constants(columns, 0.1)
	all(columns)
	for _, v := range Diagonal(h[d:], 0.2, columns) {
		put(v)
	}
	for _, c := range columns {
		if c.Out == In {
			in++
		}
	}
	for i, x := range []float64{-20.5, 0.1, 3.7} {
		put(exp(x))
		put(normal(x / 10))
		put(log(float64(i) + 0.3))
	}
	const want = "37c4db0dfefe9bb4c8c35fcce0188757a8a91d435996df30fbe2d4f3ce37ad8c"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want || in < d/2 {
		t.Errorf("%d columns are in, the bits are %s, want %s; the first is %x", in, got, want, math.Float64bits(columns[0].Scale))
	}
}

// TestWeakColumns: counts that do not stand out from the noise have no bracket; those that say that
// nearly all is zero make a column of one value. The seed is fixed.
func TestWeakColumns(t *testing.T) {
	const d = 200
	for zeros, want := range map[float64]Reason{0: Weak, 1: Constant} {
		rng := rand.New(rand.NewPCG(17, 19)) // its own: a map has no order
		h := make([]float64, d*query.OctaveBins)
		for i := range h {
			if h[i] = 0.4 * rng.NormFloat64(); i%query.OctaveBins == 0 {
				h[i] = zeros + 0.05*h[i]
			}
			if zeros > 0 {
				h[i] /= 8
			}
			if zeros > 0 && i%query.OctaveBins == 0 {
				h[i] *= 8
			}
		}
		named := 0
		for _, c := range Octaves(h, 0.4-zeros*0.35) {
			if c.Out == want {
				named++
			}
		}
		if named < d*9/10 {
			t.Errorf("%d of %d columns are %q", named, d, want)
		}
	}
}

// TestConstants: where the line is between a column of one value and one that varies, on both sides
// of every bound, and that a column which is left out already keeps its reason.
func TestConstants(t *testing.T) {
	const tau = 0.01
	most := 2.5 * tau / math.Sqrt(MomentRounds)
	for _, c := range []struct {
		column Column
		tau    float64
		want   Reason
	}{
		{Column{Parted: true, Variance: most * 0.999}, tau, Constant},
		{Column{Parted: true, Variance: most * 1.001}, tau, In},
		{Column{Zero: 0.901, Variance: most * 0.999}, tau, Constant},
		{Column{Zero: 0.899, Variance: most * 0.999}, tau, In},
		{Column{Variance: 0}, tau, In},
		{Column{Parted: true, Variance: 0.0999}, 1, Constant}, // whatever the noise
		{Column{Parted: true, Variance: 0.1001}, 1, In},
		{Column{Parted: true, Out: Weak}, tau, Weak},
	} {
		if got := Constants([]Column{c.column}, c.tau)[0]; got.Out != c.want {
			t.Errorf("%+v with noise of %v is %v, want %v", c.column, c.tau, got.Out, c.want)
		}
	}
}

// TestBounds: a place beyond the bounds is brought to them.
func TestBounds(t *testing.T) {
	for _, c := range [][4]float64{{0x1p50, 1, 0x1p44, 1}, {-0x1p50, 1, -0x1p44, 1}, {3, 0x1p-70, 3, 0x1p-64}, {3, 0x1p50, 3, 0x1p44}, {-0x1p44, 0x1p-64, -0x1p44, 0x1p-64}} {
		if got := (Column{}).at(c[0], c[1]); got.Center != c[2] || got.Scale != c[3] {
			t.Errorf("%v and %v become %v and %v", c[0], c[1], got.Center, got.Scale)
		}
	}
}

// TestMost: the share of units that one value has is seen, wherever the value is; of a column
// without such a value it is small.
func TestMost(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	for name, c := range map[string]struct {
		often, other func() float64
		share        float64
	}{
		"zeros":    {func() float64 { return 0 }, rng.ExpFloat64, 0.8},
		"a code":   {func() float64 { return 1 }, func() float64 { return 2 }, 0.95},
		"a limit":  {func() float64 { return 15 }, func() float64 { return 3 + 10*rng.Float64() }, 0.7},
		"a normal": {rng.NormFloat64, rng.NormFloat64, 0},
	} {
		values := make([]float64, units)
		for i := range values {
			if values[i] = c.other(); rng.Float64() < c.share {
				values[i] = c.often()
			}
		}
		if got := learned(values, 0.005, rng).Most; math.Abs(got-c.share) > 0.05 {
			t.Errorf("%s: one value has %.2f of the units, it is %.2f", name, got, c.share)
		}
	}
}

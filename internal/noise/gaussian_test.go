package noise

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

func sampler(t testing.TB, sigma Sigma) *Gaussian {
	t.Helper()
	g, err := NewGaussian(sigma)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// onIntegers is g without its paths on machine words.
func onIntegers(g *Gaussian) *Gaussian {
	slow := *g
	slow.root = nil
	return &slow
}

func seeded(label string) io.Reader {
	return NewKeyed(Key(nil, 64, [32]byte([]byte(fmt.Sprintf("%32.32s", label))), [32]byte{}))
}

func fill(t testing.TB, g *Gaussian, label string, n int) []int64 {
	t.Helper()
	draws := make([]int64, n)
	if err := g.Fill(seeded(label), draws); err != nil {
		t.Fatal(err)
	}
	return draws
}

// chiSquare compares draws with the law of bins [k·width, (k+1)·width), merged
// from both ends inward so that each expects at least 20. It gives the p-value.
func chiSquare(draws []int64, law map[int64]float64, width int64) (p float64, bins int) {
	counts := map[int64]float64{}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, v := range draws {
		b := floorDiv(v, width)
		counts[b]++
		first, last = min(first, b), max(last, b)
	}
	for b := range law {
		first, last = min(first, b), max(last, b)
	}
	if last-first > 1e6 {
		return 0, 0 // draws where the law has nothing
	}
	n := float64(len(draws))
	statistic, expected, observed := 0.0, 0.0, 0.0
	for b := first; b <= last; b++ {
		expected += n * law[b]
		observed += counts[b]
		if expected >= 20 {
			statistic += (observed - expected) * (observed - expected) / expected
			expected, observed = 0, 0
			bins++
		}
	}
	// The last bins are one of their own, a degree of freedom that the fixed sum takes.
	statistic += (observed - expected) * (observed - expected) / max(expected, 1)
	return distuv.ChiSquared{K: float64(bins)}.Survival(statistic), bins
}

// exactLaw sums exp(-x²/(2σ²)) over bins.
func exactLaw(sigma2 float64, width int64) map[int64]float64 {
	reach := int64(math.Ceil(12*math.Sqrt(sigma2))) + 1
	law, total := map[int64]float64{}, 0.0
	for x := -reach; x <= reach; x++ {
		w := math.Exp(-float64(x) * float64(x) / (2 * sigma2))
		law[floorDiv(x, width)] += w
		total += w
	}
	for b := range law {
		law[b] /= total
	}
	return law
}

// wideLaw is the law where σ > 2^19: by Euler and Maclaurin a sum over a bin differs
// from the integral between its half-integers by less than 1e-11 of it.
func wideLaw(sigma float64, width int64) map[int64]float64 {
	law := map[int64]float64{}
	for b, w := int64(-12*sigma)/width, float64(width); float64(b)*w < 12*sigma; b++ {
		lo, hi := (float64(b)*w-0.5)/sigma, (float64(b+1)*w-0.5)/sigma
		if lo > 0 {
			lo, hi = -hi, -lo // differences of small numbers, not of ones
		}
		law[b] = (math.Erfc(-hi/math.Sqrt2) - math.Erfc(-lo/math.Sqrt2)) / 2
	}
	return law
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// TestLaw compares seeded draws with the exact law, on every path. A correct
// sampler under other seeds fails a case with probability 1e-6; these seeds pass or fail
// for good.
func TestLaw(t *testing.T) {
	for _, c := range []struct {
		sigma Sigma
		width int64
	}{
		{561, 1}, {1024, 1}, {3238, 1}, {1000 * sigmaStep, 50},
		{1536, 1}, {145, 1}, {724_077, 40},
		{46_085, 3}, // a histogram's σ of 45.0049
	} {
		g := sampler(t, c.sigma)
		for name, n := range map[string]int{"words": 200_000, "integers": 50_000} {
			t.Run(fmt.Sprintf("sigma=%v/%s", c.sigma.Float(), name), func(t *testing.T) {
				g := g
				if g.root == nil {
					t.Fatal("machine words are not used")
				}
				if name == "integers" {
					g = onIntegers(g)
				}
				p, bins := chiSquare(fill(t, g, fmt.Sprint("law ", name, c.sigma), n), exactLaw(c.sigma.Float()*c.sigma.Float(), c.width), c.width)
				if p < 1e-6 {
					t.Fatalf("the draws do not follow the law: p = %g over %d bins", p, bins)
				}
			})
		}
	}
}

// TestLawOfWideNoise does the same with 100,000 draws at the σ of vector queries and
// above; false-reject probability 1e-6 a case.
func TestLawOfWideNoise(t *testing.T) {
	for _, s := range []Sigma{1 << 32, 1 << 44, maxSigma * sigmaStep, 2_479_700_525, 1<<61 + 1, 1<<30 + 1} {
		sigma := s.Float()
		width := int64(sigma / 16)
		p, bins := chiSquare(fill(t, sampler(t, s), fmt.Sprint("wide ", uint64(s)), 100_000), wideLaw(sigma, width), width)
		if p < 1e-6 {
			t.Errorf("σ = %g: the draws do not follow the law: p = %g over %d bins", sigma, p, bins)
		}
	}
}

// TestMoments: mean, variance and fourth moment of 400,000 draws, and the share
// beyond 3σ, which takes the whole part of accept's exponent. Each is within 5.5
// standard deviations of what it should be: false-reject 4e-8 each. The moments of the
// discrete law at σ >= 3 are the Gaussian's to 1e-70.
func TestMoments(t *testing.T) {
	const n = 400_000
	for _, sigma := range []int64{3, 1000, 1 << 22} {
		draws := fill(t, sampler(t, Sigma(sigma*sigmaStep)), fmt.Sprint("moments", sigma), n)
		var mean, square, fourth, far float64
		for _, v := range draws {
			x := float64(v) / float64(sigma)
			mean += x / n
			square += x * x / n
			fourth += x * x * x * x / n
			if x > 3 || x < -3 {
				far++
			}
		}
		for _, m := range []struct {
			name            string
			got, want, each float64 // each: standard deviation of one draw's
		}{
			{"mean", mean, 0, 1}, {"variance", square, 1, math.Sqrt(2)}, {"fourth moment", fourth, 3, math.Sqrt(96)},
		} {
			if math.Abs(m.got-m.want) > 5.5*m.each/math.Sqrt(n) {
				t.Errorf("σ = %d: %s %v, want %v", sigma, m.name, m.got, m.want)
			}
		}
		want := 0.0
		for b, p := range exactLaw(float64(min(sigma, 1000)*min(sigma, 1000)), 1) {
			if b > 3*min(sigma, 1000) || b < -3*min(sigma, 1000) {
				want += p * n
			}
		}
		if math.Abs(far-want) > 5.5*math.Sqrt(want)+0.001*want {
			t.Errorf("σ = %d: %v draws beyond 3σ, want about %.0f", sigma, far, want)
		}
	}
}

// TestPathsAgree: on machine words and on integers of any size the same bits give
// the same draws, so that no version of one path can change a sum's noise.
func TestPathsAgree(t *testing.T) {
	words, not := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		lo, hi := 0, 30
		if rapid.Bool().Draw(r, "large") {
			lo, hi = 31, 61
		}
		bits := uint(rapid.IntRange(lo, hi).Draw(r, "bits"))
		sigma := Sigma(rapid.Uint64Range(1<<bits, 2<<bits).Draw(r, "sigma"))
		g, err := NewGaussian(sigma)
		if err != nil {
			r.Fatal(err)
		}
		if g.root != nil {
			words++
		} else {
			not++
		}
		label := fmt.Sprint(rapid.Uint64().Draw(r, "seed"))
		if fast, slow := fill(t, g, label, 20), fill(t, onIntegers(g), label, 20); !slices.Equal(fast, slow) {
			r.Fatalf("σ = %v: %v on words, %v on integers", sigma.Float(), fast, slow)
		}
		// Proposals that Laplace hardly ever makes, where words stop fitting.
		y := rapid.Uint64Range(0, 1<<uint(rapid.IntRange(0, 62).Draw(r, "y bits"))).Draw(r, "y")
		a, b := &bitSource{r: seeded(label)}, &bitSource{r: seeded(label)}
		if g.accept(a, y) != onIntegers(g).accept(b, y) || a.used() != b.used() {
			r.Fatalf("σ = %v, y = %d: accepted on one path only", sigma.Float(), y)
		}
	})
	if words == 0 || not == 0 {
		t.Fatalf("machine words were used for %d, not for %d", words, not)
	}
}

// TestDistanceFits: machine words give x only where it and what accept makes of it do
// not wrap, however far out y and however small σ are.
func TestDistanceFits(t *testing.T) {
	fits, not := 0, 0
	check := func(r rapid.TB, sigma Sigma, y uint64) {
		g, err := NewGaussian(sigma)
		if err != nil {
			r.Fatal(err)
		}
		var x uint64
		var ok bool
		square := new(big.Rat).SetFrac(new(big.Int).Mul(g.p, g.p), new(big.Int).Mul(g.q, g.q))
		if square.Cmp(sigma.Squared()) != 0 || !new(big.Int).GCD(nil, nil, g.p, g.q).IsUint64() || new(big.Int).GCD(nil, nil, g.p, g.q).Uint64() != 1 {
			r.Fatalf("σ = %v: %s/%s", sigma.Float(), g.p, g.q)
		}
		want := new(big.Int).Mul(integer(y), integer(g.t))
		want.Mul(want, g.q).Mul(want, g.q).Sub(want, new(big.Int).Mul(g.p, g.p)).Abs(want)
		if g.root != nil {
			x, ok = g.root.distance(y)
			if w := x / g.root.m; ok && w >= 1<<32 {
				r.Fatalf("σ = %v, y = %d: the square of %d wraps", sigma.Float(), y, w)
			}
		}
		if ok && integer(x).Cmp(want) != 0 {
			r.Fatalf("σ = %v, y = %d: x = %d, want %d", sigma.Float(), y, x, want)
		}
		if ok {
			fits++
		} else {
			not++
		}
	}
	check(t, 1<<30, 1<<21)
	check(t, 1<<30, 1<<61)
	check(t, 1, 1<<22+1) // just over 2^32 times σ away
	rapid.Check(t, func(r *rapid.T) {
		sigma := Sigma(rapid.Uint64Range(1, 1<<uint(rapid.IntRange(0, 62).Draw(r, "bits"))).Draw(r, "sigma"))
		y := rapid.Uint64Range(0, 1<<uint(rapid.IntRange(0, 62).Draw(r, "y bits"))).Draw(r, "y")
		check(r, sigma, y)
	})
	if fits == 0 || not == 0 {
		t.Fatalf("%d distances fit, %d do not", fits, not)
	}
}

// TestKnownDraws pins draws from a fixed key. A failover, a restored backup and
// an upgrade in the middle of a study must give the same noise for the same sum, so
// these change only with the label in Key and the protocol version.
func TestKnownDraws(t *testing.T) {
	for _, c := range []struct {
		sigma Sigma
		want  []int64
	}{
		{1024, []int64{-1, 0, -1, -1, 0, -1}},
		{46_086, []int64{47, -24, -153, 41, 81, -42}},
		{4_000_000 * sigmaStep, []int64{1859069, -1600851, -13030155, 2900932, 2292586, -5693369}},
		{1 << 60, []int64{617520402586300, 618459773136546, -1677202155266530, 1170410851497671, -742086266312744, -3930758711075729}},
	} {
		draws := make([]int64, 6)
		key := Key([]uint64{1, 2, 3, 4, 5, 6, 7}, 40, [32]byte{1}, [32]byte{2})
		if err := sampler(t, c.sigma).Fill(NewKeyed(key), draws); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(draws, c.want) {
			t.Errorf("σ = %v: %v, want %v", c.sigma.Float(), draws, c.want)
		}
	}
}

// TestFillIsAFunctionOfTheBytes: draws do not depend on how the reader hands its
// bytes out, and a longer Fill begins with the shorter one's draws.
func TestFillIsAFunctionOfTheBytes(t *testing.T) {
	g := sampler(t, 46_085)
	want := fill(t, g, "refill", 500)
	for name, r := range map[string]io.Reader{
		"again": seeded("refill"), "bytes": iotest.OneByteReader(seeded("refill")), "halves": iotest.HalfReader(seeded("refill")),
	} {
		got := make([]int64, 700)
		if err := g.Fill(r, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[:500], want) {
			t.Errorf("%s: other draws from the same bytes", name)
		}
	}
	if slices.Equal(fill(t, g, "another", 500), want) {
		t.Error("other bytes give the same draws")
	}
}

// hiccup fails once, at its n-th block, and has bytes before and after it.
type hiccup struct {
	io.Reader
	n int
}

func (r *hiccup) Read(p []byte) (int, error) {
	if r.n--; r.n == 0 {
		return 0, io.ErrNoProgress
	}
	return r.Reader.Read(p)
}

// TestFailureOfTheSourceStays: draws of which one block of random bytes was missing are no draws,
// whatever the source has afterwards: the missing bits were taken for zeros.
func TestFailureOfTheSourceStays(t *testing.T) {
	for _, sigma := range []Sigma{1, 46_085, 1 << 60} {
		g := sampler(t, sigma)
		for n := range 20 {
			out := slices.Repeat([]int64{7}, 1000)
			if err := g.Fill(&hiccup{seeded("hiccup"), 1 + n}, out); err != io.ErrNoProgress || slices.Max(out) != 0 || slices.Min(out) != 0 {
				t.Errorf("σ = %v, block %d: %v, and the draws are not all zero", sigma.Float(), n, err)
			}
		}
	}
}

// TestDrawThatDoesNotFit: a proposal of 2^62 or more, which has a probability below e^-1000, is an
// error and no draw, and never what is left of it in a machine word. The bits are scripted: with
// these a uniform number is below any fraction, or none.
func TestDrawThatDoesNotFit(t *testing.T) {
	const yes, no = 0, math.MaxUint64
	for name, c := range map[string]struct {
		rest []uint64 // u and its acceptance
		laps int      // of t = 2^52+1
	}{
		"2^62 + 2^10":                    {[]uint64{0}, 1 << 10},
		"2^64 + 2^12":                    {[]uint64{0}, 1 << 12},
		"2^64 + 2^12 - 1, by its last t": {[]uint64{1 << 63, yes, yes, yes, no}, 1<<12 - 1},
	} {
		words := append(append(c.rest, slices.Repeat([]uint64{yes, no}, c.laps)...), no, 0)
		words = append(words, make([]uint64, 64-len(words)%64)...)
		var source []byte
		for _, w := range words {
			source = binary.LittleEndian.AppendUint64(source, w)
		}
		out := []int64{7}
		if err := sampler(t, maxSigma*sigmaStep).Fill(bytes.NewReader(source), out); err != errRange || out[0] != 0 {
			t.Errorf("%s: %v, and the draw is %d", name, err, out[0])
		}
	}
}

func TestBadSigma(t *testing.T) {
	for _, v := range []Sigma{0, maxSigma*sigmaStep + 1, math.MaxUint64} {
		if _, err := NewGaussian(v); err == nil {
			t.Errorf("σ = %v was accepted", v.Float())
		}
	}
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1<<52 + 1} {
		if s, err := SigmaAtLeast(x); err == nil {
			t.Errorf("σ at least %v is %d", x, s)
		}
	}
}

// TestSigmaIsExactAndAtLeast: σ is the smallest of its grid that is at least x, and
// its square is exact.
func TestSigmaIsExactAndAtLeast(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x := math.Exp2(rapid.Float64Range(-40, 52).Draw(r, "log"))
		if rapid.Bool().Draw(r, "round") {
			x = math.Ceil(x)
		}
		s, err := SigmaAtLeast(x)
		if err != nil {
			r.Fatal(err)
		}
		step := Sigma(1)
		if x > wholeSigma {
			step = sigmaStep
		}
		if s.Float() < x || s > step && (s-step).Float() >= x || s%step != 0 {
			r.Fatalf("σ at least %v is %v", x, s.Float())
		}
		root := new(big.Rat).SetFrac(new(big.Int).SetUint64(uint64(s)), big.NewInt(sigmaStep))
		if s.Squared().Cmp(root.Mul(root, root)) != 0 {
			r.Fatalf("σ² of %v is %v", s.Float(), s.Squared())
		}
		g, err := NewGaussian(s)
		if err != nil || s > 64 && s%step == 0 && s.Float() < 1<<28 && g.root == nil {
			r.Fatalf("σ = %v: machine words are not used (%v)", s.Float(), err)
		}
	})
}

func BenchmarkFill(b *testing.B) {
	for _, c := range []struct {
		name  string
		sigma Sigma
	}{
		{"sigma=1", 1 << 10},
		{"sigma=45.0049", 46_085},
		{"sigma=2^20", 1 << 30},
		{"sigma=2^34", 1 << 44},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := sampler(b, c.sigma)
			draws := make([]int64, 1000)
			source := seeded("bench")
			for b.Loop() {
				if err := g.Fill(source, draws); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/draw")
		})
	}
}

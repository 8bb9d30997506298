package noise

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func sampler(t testing.TB, sigma2 *big.Rat) *Gaussian {
	t.Helper()
	g, err := NewGaussian(sigma2)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func seeded(label string) io.Reader {
	var key [32]byte
	copy(key[:], label)
	return NewKeyed(key)
}

// chiSquare compares draws with the exact law in bins of width values, merged so
// that each expects at least 20. It gives the p-value.
func chiSquare(draws []int64, sigma2 float64, width int64) (p float64, bins int) {
	reach := int64(math.Ceil(12*math.Sqrt(sigma2))) + 1
	counts := map[int64]float64{}
	for _, v := range draws {
		counts[floorDiv(v, width)]++
	}
	total := 0.0
	law := map[int64]float64{}
	for x := -reach; x <= reach; x++ {
		w := math.Exp(-float64(x) * float64(x) / (2 * sigma2))
		law[floorDiv(x, width)] += w
		total += w
	}
	n := float64(len(draws))
	statistic, expected, observed := 0.0, 0.0, 0.0
	for b := floorDiv(-reach, width); b <= floorDiv(reach, width); b++ {
		expected += n * law[b] / total
		observed += counts[b]
		if expected >= 20 {
			statistic += (observed - expected) * (observed - expected) / expected
			expected, observed = 0, 0
			bins++
		}
	}
	// The remainder joins the far tail as a bin of its own.
	if expected > 0 {
		statistic += (observed - expected) * (observed - expected) / max(expected, 1)
	}
	return distuv.ChiSquared{K: float64(bins)}.Survival(statistic), bins
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// TestLaw compares 200,000 seeded draws with the exact law. A correct sampler
// under other seeds fails a case with probability 1e-6; these seeds pass or fail
// for good.
func TestLaw(t *testing.T) {
	for _, c := range []struct {
		sigma2 *big.Rat
		width  int64
	}{
		{big.NewRat(3, 10), 1}, {big.NewRat(1, 1), 1}, {big.NewRat(10, 1), 1}, {big.NewRat(1_000_000, 1), 50},
		{big.NewRat(9, 4), 1}, {Sigma(46_085).Squared(), 3}, // a histogram's σ of 45.0049
	} {
		g := sampler(t, c.sigma2)
		name := fmt.Sprintf("σ²=%s words=%v", c.sigma2.FloatString(3), g.q != 0)
		t.Run(name, func(t *testing.T) {
			draws := make([]int64, 200_000)
			if err := g.Fill(seeded("law "+name), draws); err != nil {
				t.Fatal(err)
			}
			s2, _ := c.sigma2.Float64()
			p, bins := chiSquare(draws, s2, c.width)
			t.Logf("p = %.4f over %d bins", p, bins)
			if p < 1e-6 {
				t.Fatalf("the draws do not follow the law: p = %g over %d bins", p, bins)
			}
		})
	}
}

// TestBothPaths draws the same σ² on words and on integers of any size: each
// follows the law. False-reject probability 1e-6 each.
func TestBothPaths(t *testing.T) {
	g := sampler(t, big.NewRat(100, 1))
	if g.q == 0 {
		t.Fatal("σ² = 100 does not take the word-sized path")
	}
	slow := *g
	slow.q = 0
	for name, g := range map[string]*Gaussian{"words": g, "integers": &slow} {
		draws := make([]int64, 100_000)
		if err := g.Fill(seeded("paths"), draws); err != nil {
			t.Fatal(err)
		}
		if p, bins := chiSquare(draws, 100, 1); p < 1e-6 {
			t.Errorf("%s: p = %g over %d bins", name, p, bins)
		}
	}
}

// TestTailsOfWords: proposals far out take the split of accept into whole and rest
// parts. With σ² = 10^6 and draws beyond 3σ alone, the tail's share must be right:
// P = 0.0027, 400,000 draws, so a bound of 6 standard deviations; false-reject 2e-9.
func TestTailsOfWords(t *testing.T) {
	draws := make([]int64, 400_000)
	if err := sampler(t, big.NewRat(1_000_000, 1)).Fill(seeded("tails"), draws); err != nil {
		t.Fatal(err)
	}
	far := 0.0
	for _, v := range draws {
		if v > 3000 || v < -3000 {
			far++
		}
	}
	want := 0.0026997960632 * float64(len(draws))
	if math.Abs(far-want) > 6*math.Sqrt(want) {
		t.Fatalf("%v draws beyond 3σ, want about %.0f", far, want)
	}
}

// TestKnownDraws pins draws from a fixed key. A failover, a restored backup and
// an upgrade in the middle of a study must give the same noise for the same sum, so
// these change only with the label in Key and the protocol version.
func TestKnownDraws(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		want  []int64
	}{
		{45.0049, knownSmall}, {4_000_000, knownLarge},
	} {
		s, err := SigmaAtLeast(c.sigma)
		if err != nil {
			t.Fatal(err)
		}
		draws := make([]int64, 6)
		key := Key([]uint64{1, 2, 3, 4, 5, 6, 7}, 40, [32]byte{1}, [32]byte{2})
		if err := sampler(t, s.Squared()).Fill(NewKeyed(key), draws); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(draws, c.want) {
			t.Errorf("σ = %v: %v, want %v", c.sigma, draws, c.want)
		}
	}
}

func TestKeyBindsEverything(t *testing.T) {
	lanes := []uint64{1, 2, 3, 4}
	base := Key(lanes, 64, [32]byte{1}, [32]byte{2})
	for name, other := range map[string][32]byte{
		"lanes":     Key([]uint64{1, 2, 3, 5}, 64, [32]byte{1}, [32]byte{2}),
		"count":     Key(lanes[:3], 64, [32]byte{1}, [32]byte{2}),
		"bits":      Key(lanes, 56, [32]byte{1}, [32]byte{2}),
		"context":   Key(lanes, 64, [32]byte{3}, [32]byte{2}),
		"survivors": Key(lanes, 64, [32]byte{1}, [32]byte{3}),
	} {
		if other == base {
			t.Errorf("the key does not depend on %s", name)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("no bits") }

func TestBrokenSourceGivesNoNoise(t *testing.T) {
	for _, sigma2 := range []*big.Rat{big.NewRat(100, 1), big.NewRat(3, 10)} {
		out := []int64{7, 7, 7}
		if err := sampler(t, sigma2).Fill(failing{}, out); err == nil {
			t.Fatal("draws were made from no bits")
		}
		if !slices.Equal(out, []int64{0, 0, 0}) {
			t.Fatal("an unfinished draw was left behind")
		}
	}
}

func TestBadSigma(t *testing.T) {
	for _, v := range []*big.Rat{nil, big.NewRat(0, 1), big.NewRat(-1, 1), new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 105))} {
		if _, err := NewGaussian(v); err == nil {
			t.Errorf("σ² = %v was accepted", v)
		}
	}
}

func TestSigmaIsExactAndAtLeast(t *testing.T) {
	for _, x := range []float64{1e-9, 0.3, 1, 45.00485, 65_535.9999, 65_536, 65_536.0001, 4e6 + 0.25, 1 << 40} {
		s, err := SigmaAtLeast(x)
		if err != nil {
			t.Fatal(err)
		}
		if s.Float() < x || s.Float() > x*(1+0x1p-15)+0x1p-10 {
			t.Errorf("σ at least %v is %v", x, s.Float())
		}
		squared, exact := s.Squared().Float64()
		if !exact && math.Abs(squared/(s.Float()*s.Float())-1) > 1e-15 {
			t.Errorf("σ² of %v is %v", s.Float(), squared)
		}
	}
}

// TestNoFloatInTheSampler: the sampler's files hold no floating point at all.
func TestNoFloatInTheSampler(t *testing.T) {
	for _, name := range []string{"gaussian.go", "bernoulli.go", "keyed.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if strings.HasPrefix(n.Name, "float") || n.Name == "Float64" || n.Name == "Float" {
					t.Errorf("%s uses %s", name, n.Name)
				}
			case *ast.BasicLit:
				if n.Kind == token.FLOAT {
					t.Errorf("%s holds the constant %s", name, n.Value)
				}
			case *ast.ImportSpec:
				if n.Path.Value == `"math"` {
					t.Errorf("%s imports math", name)
				}
			}
			return true
		})
	}
}

func TestCheckReleased(t *testing.T) {
	vector, histogram := Sigma(4_000_000<<10), Sigma(46_085)
	for _, c := range []struct {
		lanes int
		sigma Sigma
	}{{4, vector}, {7, vector}, {64, vector}, {512, histogram}, {512, 3 << 10}} {
		zeros := make([]int64, c.lanes)
		err := CheckReleased(zeros, zeros, c.sigma)
		if e, ok := errors.AsType[*ReleaseError](err); !ok || !e.Low {
			t.Errorf("%d values without noise at σ = %v: %v", c.lanes, c.sigma.Float(), err)
		}
		far := slices.Clone(zeros)
		for i := range far {
			far[i] = int64(30 * c.sigma.Float())
		}
		if e, ok := errors.AsType[*ReleaseError](CheckReleased(far, zeros, c.sigma)); !ok || e.Low {
			t.Errorf("%d values at 30σ were accepted", c.lanes)
		}
		// 2,000 good releases: one is refused with probability 2,000·2^-64.
		g := sampler(t, c.sigma.Squared())
		draws := make([]int64, c.lanes)
		source := seeded("check")
		for range 2000 / c.lanes {
			if err := g.Fill(source, draws); err != nil {
				t.Fatal(err)
			}
			if err := CheckReleased(draws, zeros, c.sigma); err != nil {
				t.Fatalf("%d values with their noise: %v", c.lanes, err)
			}
		}
	}
	// 512 values with a third of the noise they should have.
	draws := make([]int64, 512)
	if err := sampler(t, Sigma(46_085/3).Squared()).Fill(seeded("third"), draws); err != nil {
		t.Fatal(err)
	}
	if CheckReleased(draws, make([]int64, 512), histogram) == nil {
		t.Error("a third of the noise was accepted")
	}
}

func BenchmarkFill(b *testing.B) {
	for _, sigma := range []float64{1, 45.0049, 1 << 20, 1 << 34} {
		b.Run(fmt.Sprintf("sigma=%g", sigma), func(b *testing.B) {
			s, err := SigmaAtLeast(sigma)
			if err != nil {
				b.Fatal(err)
			}
			g := sampler(b, s.Squared())
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

var (
	knownSmall = []int64{47, -24, -153, 41, 81, -42}
	knownLarge = []int64{1859069, -1600851, -13030155, 2900932, 2292586, -5693369}
)

package noise

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// TestSelectLaw: 60,000 seeded choices a case follow P(i) ∝ exp(ε0·score/2). A correct Select
// under other seeds fails a case with probability 1e-6.
func TestSelectLaw(t *testing.T) {
	const n = 60_000
	for i, c := range []struct {
		e0     *big.Rat
		scores []int64
	}{
		{big.NewRat(1, 2), []int64{0, 1, 2, 3, 4, 5, 6}},
		{big.NewRat(1, 2), []int64{3, 3, -10, 3}},
		{big.NewRat(3, 1), []int64{math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MaxInt64 - 2}},
		{big.NewRat(123_457, 1<<20), []int64{-40, -20, 0, 5, 10}},
		{big.NewRat(1, 1<<20), []int64{math.MinInt64, math.MinInt64 + 1<<20, math.MinInt64 + 3<<20}},
	} {
		e0, _ := c.e0.Float64()
		weights, total := make([]float64, len(c.scores)), 0.0
		for j, v := range c.scores {
			weights[j] = math.Exp(-e0 * float64(uint64(slices.Max(c.scores))-uint64(v)) / 2)
			total += weights[j]
		}
		counts, source := make([]float64, len(c.scores)), seeded(fmt.Sprint("select", i))
		for range n {
			chosen, err := Select(c.scores, c.e0, source)
			if err != nil {
				t.Fatal(err)
			}
			counts[chosen]++
		}
		statistic, degrees := 0.0, -1.0
		for j, w := range weights {
			expected := n * w / total
			if expected < 1e-9 {
				if counts[j] > 0 {
					t.Errorf("case %d: candidate %d was chosen", i, j)
				}
				continue
			}
			statistic += (counts[j] - expected) * (counts[j] - expected) / expected
			degrees++
		}
		if p := (distuv.ChiSquared{K: degrees}).Survival(statistic); p < 1e-6 {
			t.Errorf("case %d: %v of %v, p = %g", i, counts, weights, p)
		}
	}
}

// script is a source of the given words, then of zeros.
func script(words ...uint64) io.Reader {
	b := make([]byte, 512)
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	return bytes.NewReader(b)
}

// TestSelectAcceptsExactly follows Select through scripted bits. Of two candidates, the word 0
// proposes the first, all ones the second. The first lags by 3 with ε0 = 1/2: γ = 3/4. exp(-3/4) is
// drawn by the first uniform number that is not below (3/4)/k in turn: the choice hangs on the last
// bit of the words.
func TestSelectAcceptsExactly(t *testing.T) {
	const first, second, below, above = 0, math.MaxUint64, uint64(3<<62) - 1, uint64(3 << 62)
	scores, e0 := []int64{4, 7}, big.NewRat(1, 2)
	for name, c := range map[string]struct {
		words []uint64
		want  int
	}{
		"best":                 {[]uint64{second}, 1},
		"not below 3/4":        {[]uint64{first, above, second}, 0},
		"below, then not half": {[]uint64{first, below, below, 1 << 63, second}, 1},
		// k = 2 is 3/4 and 1/2: two hits, then a miss at k = 3, an odd one.
		"below twice":  {[]uint64{first, below, below, 1<<63 - 1, above, second}, 0},
		"next of many": {[]uint64{first, below, above, first, above, second}, 0},
	} {
		if got, err := Select(scores, e0, script(c.words...)); err != nil || got != c.want {
			t.Errorf("%s: %d, want %d (%v)", name, got, c.want, err)
		}
	}
	// A whole part is a factor of 1/e each: γ = 1 + 1/4, so five score points.
	for name, c := range map[string]struct {
		words []uint64
		want  int
	}{
		// exp(-1): k = 1 passes without a bit, 1/2 fails: k = 2, even, no.
		"whole part says no": {[]uint64{first, 1 << 63, second}, 1},
		// 1/2 passes, 1/3 fails: k = 3, yes; then 1/4 fails at once: yes.
		"both say yes": {[]uint64{first, 0, math.MaxUint64, 1 << 62, second}, 0},
		// The rest: 1/4 passes, then 1/4 fails: k = 2, no.
		"the rest says no": {[]uint64{first, 0, math.MaxUint64, 1<<62 - 1, 1 << 62, second}, 1},
	} {
		if got, err := Select([]int64{2, 7}, e0, script(c.words...)); err != nil || got != c.want {
			t.Errorf("%s: %d, want %d (%v)", name, got, c.want, err)
		}
	}
}

// TestSelectOnAnything: no scores, ε0 or bits make Select panic or hang, and it only names a
// candidate; a source that stops is an error, at whatever step.
func TestSelectOnAnything(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		scores := rapid.SliceOfN(rapid.Int64(), 1, 40).Draw(r, "scores")
		e0 := big.NewRat(rapid.Int64Range(1, math.MaxInt64).Draw(r, "num"), rapid.Int64Range(1, math.MaxInt64).Draw(r, "den"))
		before, kept := slices.Clone(scores), new(big.Rat).Set(e0)
		label := fmt.Sprint(rapid.Uint64().Draw(r, "seed"))
		got, err := Select(scores, e0, seeded(label))
		if err != nil || got < 0 || got >= len(scores) {
			r.Fatalf("%d of %d (%v)", got, len(scores), err)
		}
		if again, err := Select(scores, e0, seeded(label)); err != nil || again != got {
			r.Fatalf("the same bits choose %d, then %d (%v)", got, again, err)
		}
		if !slices.Equal(before, scores) || kept.Cmp(e0) != 0 {
			r.Fatal("Select changed its arguments")
		}
		limited, err := Select(scores, e0, io.LimitReader(seeded(label), 512))
		if err == nil && limited != got {
			r.Fatalf("a choice from missing bits: %d, not %d", limited, got)
		}
	})
	if _, err := Select([]int64{1, 2}, big.NewRat(1, 1), bytes.NewReader(nil)); err == nil {
		t.Error("a choice from no bits")
	}
	for name, c := range map[string]struct {
		scores []int64
		e0     *big.Rat
	}{"none": {nil, big.NewRat(1, 1)}, "nil": {[]int64{1}, nil}, "zero": {[]int64{1}, new(big.Rat)}, "negative": {[]int64{1}, big.NewRat(-1, 2)}} {
		if _, err := Select(c.scores, c.e0, seeded("bad")); err == nil {
			t.Errorf("%s: was accepted", name)
		} else if _, ok := errors.AsType[*ParameterError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSelectStopsWithItsBits: a best candidate hard to propose and bits that end: at every
// length the result is an error or that of endless bits.
func TestSelectStopsWithItsBits(t *testing.T) {
	scores := make([]int64, 400)
	scores[123] = 30
	errs := 0
	for seed := range 100 {
		label := fmt.Sprint("stops", seed)
		want, err := Select(scores, big.NewRat(1, 1), seeded(label))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Select(scores, big.NewRat(1, 1), io.LimitReader(seeded(label), 512))
		switch {
		case err != nil:
			errs++
		case got != want:
			t.Fatalf("candidate %d from missing bits, want %d", got, want)
		}
	}
	if errs < 10 {
		t.Errorf("bits ran out %d times only", errs)
	}
}

// TestSelectWithinItsTime: the time that a tick has for a choice covers all but 2^-64 of choices
// where all candidates but one are hopeless, which have the most tries: those that few tries would
// settle must not be told from them by the tick. Where a draw of noise takes a microsecond so does
// a try: it takes a fifth of a draw's random words.
func TestSelectWithinItsTime(t *testing.T) {
	for _, n := range []int{1, 2, 3, 20, 402} {
		tries := float64(Sigma(0).DrawTime(n) / wordDraw)
		if beyond := tries * math.Log2(1-1/float64(n)); beyond > -64 {
			t.Errorf("of %d candidates more than %v tries are made with probability 2^%.3g", n, tries, beyond)
		}
		most := 0
		scores := make([]int64, n)
		scores[n-1] = 1 << 40
		for label := range 3000 {
			source := &wordCount{Reader: seeded(fmt.Sprint("time ", n, label))}
			if _, err := Select(scores, big.NewRat(1, 1), source); err != nil {
				t.Fatal(err)
			}
			most = max(most, source.bytes/8)
		}
		if float64(most) > 18*tries+64 { // 64 are read ahead
			t.Errorf("one of 3,000 choices of %d candidates took %d random words, in the time of %v draws", n, most, tries)
		}
	}
}

// wordCount counts what is read.
type wordCount struct {
	io.Reader
	bytes int
}

func (c *wordCount) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += n
	return n, err
}

// TestSelectRho: the charge is not below, and the largest α's not far below, the true divergence
// of the exponential mechanism whose scores all move by 1 against each other.
func TestSelectRho(t *testing.T) {
	for _, e0 := range []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 1), big.NewRat(4, 1)} {
		charge, closest := ZCDP.SelectRho(e0), 0.0
		e, _ := e0.Float64()
		for _, behind := range []float64{-8, -4, -2, -1, -0.5, 0, 0.5, 1, 2, 4, 8} {
			// Two groups of candidates; replacing a unit moves one up and the other down.
			p := 1 / (1 + math.Exp(-e/2*behind/e))
			q := 1 / (1 + math.Exp(-e/2*behind/e-e))
			for _, a := range []float64{1.001, 1.1, 1.5, 2, 4, 16, 64} {
				for _, pair := range [][2]float64{{p, q}, {q, p}} {
					sum := math.Pow(pair[0], a)*math.Pow(pair[1], 1-a) + math.Pow(1-pair[0], a)*math.Pow(1-pair[1], 1-a)
					truth := math.Log(sum) / (a - 1) / a
					closest = max(closest, truth/charge)
					if truth > charge*(1+1e-9) {
						t.Errorf("ε0 = %v: charged %v, costs %v at α = %v", e, charge, truth, a)
					}
				}
			}
		}
		if closest < 0.8 {
			t.Errorf("ε0 = %v: the worst case found costs %v of the charge", e, closest)
		}
	}
	for _, bad := range []*big.Rat{nil, new(big.Rat), big.NewRat(-1, 1)} {
		if !math.IsInf(ZCDP.SelectRho(bad), 1) {
			t.Errorf("ε0 = %v costs %v", bad, ZCDP.SelectRho(bad))
		}
	}
	if got := ZCDP.SelectRho(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2000))); !math.IsInf(got, 1) {
		t.Errorf("an ε0 of 2^2000 costs %v", got)
	}
}

// TestSelectEpsilon: the largest of its grid within ρ, exactly, and charged no more than ρ.
func TestSelectEpsilon(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rho := math.Exp2(rapid.Float64Range(-43, 19).Draw(r, "log rho"))
		e0, err := ZCDP.SelectEpsilon(rho)
		if err != nil {
			r.Fatal(err)
		}
		eighth := func(e *big.Rat) *big.Rat { return e.Mul(e, e).Mul(e, big.NewRat(1, 8)) }
		limit := new(big.Rat).SetFloat64(rho)
		next := new(big.Rat).Add(e0, big.NewRat(1, selectStep))
		if eighth(new(big.Rat).Set(e0)).Cmp(limit) > 0 || eighth(next).Cmp(limit) <= 0 || e0.Sign() <= 0 {
			r.Fatalf("ρ = %v: ε0 = %v", rho, e0)
		}
		charge := ZCDP.SelectRho(e0)
		if charge > rho {
			r.Fatalf("ρ = %v buys ε0 = %v, which costs %v", rho, e0, charge)
		}
		// The least float64 that is not below ε0²/8, for denominators that no float64 has, too.
		odd := new(big.Rat).Quo(e0, big.NewRat(rapid.Int64Range(1, 1000).Draw(r, "by"), 1))
		want := eighth(new(big.Rat).Set(odd))
		charge = ZCDP.SelectRho(odd)
		if got := new(big.Rat).SetFloat64(charge); got.Cmp(want) < 0 || new(big.Rat).SetFloat64(math.Nextafter(charge, 0)).Cmp(want) >= 0 {
			r.Fatalf("ε0 = %v costs %v, want %v rounded up", odd, charge, want)
		}
	})
	for rho, want := range map[float64]*big.Rat{0x1p-43: big.NewRat(1, 1<<20), 0.5: big.NewRat(2, 1), 2: big.NewRat(4, 1)} {
		if got, err := ZCDP.SelectEpsilon(rho); err != nil || got.Cmp(want) != 0 {
			t.Errorf("ρ = %v: ε0 = %v, want %v (%v)", rho, got, want, err)
		}
	}
	for _, bad := range []float64{0, -1, 0x1p-44, 1e7, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := ZCDP.SelectEpsilon(bad); err == nil {
			t.Errorf("ρ = %v was accepted", bad)
		} else if _, ok := errors.AsType[*ParameterError](err); !ok {
			t.Errorf("ρ = %v: %v", bad, err)
		}
	}
}

// TestOnCircleIsLipschitz: one step along the circle changes a score by at most 1, at every
// element of small rings and around the edges of the large ones; in between it is the count.
func TestOnCircleIsLipschitz(t *testing.T) {
	check := func(v uint64, bits uint, limit int64) {
		t.Helper()
		a, b := OnCircle(v, bits, limit), OnCircle(v+1, bits, limit)
		if a-b > 1 || b-a > 1 || a < 0 || a > max(limit, 0) {
			t.Fatalf("bits %d, limit %d: %d at %d and %d one further", bits, limit, a, v, b)
		}
	}
	for bits := uint(1); bits <= 10; bits++ {
		for _, limit := range []int64{-5, 0, 1, 2, 100, 1000, math.MaxInt64, math.MinInt64} {
			for v := range uint64(3) << bits { // elements beyond 2^bits are what they are modulo it
				check(v, bits, limit)
				if OnCircle(v, bits, limit) != OnCircle(v+1<<bits, bits, limit) {
					t.Fatalf("bits %d: %d is not what it is modulo 2^%d", bits, v, bits)
				}
			}
		}
	}
	for _, bits := range []uint{32, 40, 48, 56, 64} {
		for _, limit := range []int64{1, 1000, 1 << 30, 1 << (bits - 2), 1<<(bits-1) - 1, math.MaxInt64} {
			for _, edge := range []uint64{0, uint64(limit), 1 << (bits - 2), 1 << (bits - 1), 1<<(bits-1) - uint64(limit)} {
				for off := range uint64(200) {
					check(edge+off-100, bits, limit)
				}
			}
		}
		for _, count := range []int64{0, 1, 7, 1 << 20, 1 << 29} {
			if got := OnCircle(uint64(count), bits, 1<<29); got != count {
				t.Errorf("bits %d: a count of %d is %d", bits, count, got)
			}
			if got := OnCircle(-uint64(count), bits, 1<<29); got != 0 {
				t.Errorf("bits %d: -%d is %d", bits, count, got)
			}
		}
	}
	for bits := uint(2); bits <= 64; bits++ {
		quarter := int64(1) << (bits - 2)
		if got := OnCircle(uint64(quarter), bits, math.MaxInt64); got != quarter {
			t.Errorf("bits %d: the longest way from the edges is %d", bits, got)
		}
	}
	if got := OnCircle(5, 0, 9); got != 0 {
		t.Errorf("without bits: %d", got)
	}
	if got := OnCircle(5, 1000, 9); got != 5 {
		t.Errorf("1000 bits: %d", got)
	}
}

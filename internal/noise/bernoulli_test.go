package noise

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// fixed is a source of the given words, then of zeros to fill a block.
func fixed(words ...uint64) *bitSource {
	b := make([]byte, 512)
	for i, w := range words {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	return &bitSource{r: bytes.NewReader(b)}
}

// used is how many words of the block were taken.
func (s *bitSource) used() int {
	if s.left == 0 {
		return 0
	}
	return (len(s.buffer) - s.left) / 8
}

// TestBernoulliIsExact: bernoulli says whether the real number 0.u1u2u3… is below
// a/b, for every a, b and words, on both widths and with the same words
// used. Words are drawn near a/b's own digits, where an error would show.
func TestBernoulliIsExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := rapid.Uint64Range(1, 1<<uint(rapid.IntRange(1, 63).Draw(r, "bits"))).Draw(r, "b")
		a := rapid.Uint64Range(0, b).Draw(r, "a")
		// The first three words of a/b's digits, each perhaps off by a little.
		words := make([]uint64, 3)
		rest, den := integer(a), integer(b)
		for i := range words {
			digits, _ := new(big.Int).QuoRem(rest.Lsh(rest, 64), den, rest)
			off := rapid.SampledFrom([]uint64{0, 0, 0, 1, 1 << 40, ^uint64(0)}).Draw(r, "off")
			words[i] = digits.Uint64() + off
		}
		u := new(big.Int)
		for _, w := range words {
			u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(w))
		}
		// u·2^-192 < a/b; where all three agree zeros follow, so u is not above a/b.
		left := new(big.Int).Mul(u, den)
		right := new(big.Int).Lsh(new(big.Int).SetUint64(a), 192)
		want := a == b || left.Cmp(right) < 0
		word, any := fixed(words...), fixed(words...)
		got := []bool{word.bernoulli(a, b), any.bernoulliBig(integer(a), integer(b))}
		if !slices.Equal(got, []bool{want, want}) {
			r.Fatalf("bernoulli(%d/%d) on %x: %v, want %v", a, b, words, got, want)
		}
		if word.used() != any.used() {
			r.Fatalf("bernoulli(%d/%d) takes %d and %d words", a, b, word.used(), any.used())
		}
		// A common factor changes nothing: more than 64 bits, where a word cannot follow.
		scale := rapid.Uint64Range(1<<40, 1<<62).Draw(r, "scale")
		any = fixed(words...)
		if any.bernoulliBig(new(big.Int).Mul(integer(a), integer(scale)), new(big.Int).Mul(integer(b), integer(scale))) != want || any.used() != word.used() {
			r.Fatalf("bernoulliBig(%d/%d) scaled by %d is not %v", a, b, scale, want)
		}
	})
}

func integer(v uint64) *big.Int { return new(big.Int).SetUint64(v) }

// TestBelowIsUniform: each value of [0, n) appears equally often, n no power of
// two. 70,000 draws over 7 values: a chi-square of 6 degrees above 38.3 has
// probability 1e-6.
func TestBelowIsUniform(t *testing.T) {
	s := &bitSource{r: seeded("below")}
	for _, n := range []uint64{1, 2, 7, 1 << 63, 1<<63 + 1, ^uint64(0)} {
		for range 100 {
			if v := s.below(n); v >= n {
				t.Fatalf("%d is not below %d", v, n)
			}
		}
	}
	counts := make([]float64, 7)
	for range 70_000 {
		counts[s.below(7)]++
	}
	statistic := 0.0
	for _, c := range counts {
		statistic += (c - 10_000) * (c - 10_000) / 10_000
	}
	if statistic > 38.3 {
		t.Fatalf("counts %v: chi-square %v", counts, statistic)
	}
}

// TestSourceThatStops: a source that ends in the middle ends every loop of the
// sampler with its error, and leaves no draw behind.
func TestSourceThatStops(t *testing.T) {
	for _, sigma := range []Sigma{10 << 10, 561, 1, 1 << 60} {
		g := sampler(t, sigma)
		for _, blocks := range []int64{0, 1, 2, 3} {
			out := slices.Repeat([]int64{7}, 1000)
			if err := g.Fill(io.LimitReader(seeded("stops"), 512*blocks+100), out); err == nil {
				t.Fatalf("σ = %v: 1000 draws from %d blocks", sigma.Float(), blocks)
			}
			if slices.ContainsFunc(out, func(v int64) bool { return v != 0 }) {
				t.Fatal("draws before the error were left behind")
			}
		}
	}
}

// TestNoDrawFromMissingBits: where the source's end falls in the middle of a draw, at
// whatever step, the draw is an error and not one made of zeros.
func TestNoDrawFromMissingBits(t *testing.T) {
	for i, g := range []*Gaussian{sampler(t, 10<<10), sampler(t, 561), onIntegers(sampler(t, 3238))} {
		for seed := range 60 {
			label := fmt.Sprint("missing", i, seed)
			want := fill(t, g, label, 100)
			for n := range 100 {
				got := make([]int64, n)
				if g.Fill(io.LimitReader(seeded(label), 512), got) == nil && !slices.Equal(got, want[:n]) {
					t.Fatalf("draws from 512 bytes and no more: %v, want %v", got, want[:n])
				}
			}
		}
	}
}

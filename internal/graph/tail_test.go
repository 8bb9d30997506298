package graph

import (
	"math"
	"math/big"
	"testing"
)

// sameLog compares a natural log with an exact fraction.
func sameLog(t *testing.T, what string, got float64, want *big.Rat, numbers ...int) {
	t.Helper()
	exact, _ := want.Float64()
	if exact == 0 {
		if !math.IsInf(got, -1) {
			t.Errorf("%s %v: e^%g, want 0", what, numbers, got)
		}
	} else if math.Abs(got-math.Log(exact)) > 1e-11 {
		t.Errorf("%s %v: %g, want %g", what, numbers, got, math.Log(exact))
	}
}

func chooseExact(n, k int) *big.Int {
	if k < 0 || k > n {
		return new(big.Int)
	}
	return new(big.Int).Binomial(int64(n), int64(k))
}

// TestTailsAreExact: every tail of every small sample is the fraction that counting gives.
func TestTailsAreExact(t *testing.T) {
	lf := newLogFactorials(14)
	for n := range 15 {
		for marked := range n + 1 {
			for k := range n + 1 {
				tail := new(big.Int)
				for x := k + 1; x >= -1; x-- {
					tail.Add(tail, new(big.Int).Mul(chooseExact(marked, x), chooseExact(n-marked, k-x)))
					sameLog(t, "hypergeometric", lf.drawnAtLeast(n, marked, k, x), new(big.Rat).SetFrac(tail, chooseExact(n, k)), n, marked, k, x)
				}
			}
		}
		for _, p := range []*big.Rat{big.NewRat(0, 1), big.NewRat(1, 64), big.NewRat(1, 4), big.NewRat(7, 8), big.NewRat(1, 1)} {
			float, _ := p.Float64()
			rest := new(big.Rat).Sub(big.NewRat(1, 1), p)
			tail := new(big.Rat)
			for x := n + 1; x >= -1; x-- {
				term := new(big.Rat).SetInt(chooseExact(n, x))
				for range x {
					term.Mul(term, p)
				}
				for range n - x {
					term.Mul(term, rest)
				}
				tail.Add(tail, term)
				sameLog(t, "binomial", lf.binomialAtLeast(n, float, x), tail, n, x)
				sameLog(t, "binomial below", lf.binomialBelow(n, float, x), new(big.Rat).Sub(big.NewRat(1, 1), tail), n, x)
			}
		}
	}
}

// TestTailsFarOut: where the bounds are used, some 2^-60 down and 10,000 sites wide, against
// fractions of 200 digits.
func TestTailsFarOut(t *testing.T) {
	lf := newLogFactorials(10000)
	for _, c := range [][4]int{{9999, 3333, 323, 180}, {9999, 500, 95, 30}, {999, 333, 256, 140}, {64, 21, 63, 21}, {199, 66, 143, 66}} {
		n, marked, k, x := c[0], c[1], c[2], c[3]
		tail := new(big.Int)
		for y := x; y <= min(k, marked); y++ {
			tail.Add(tail, new(big.Int).Mul(chooseExact(marked, y), chooseExact(n-marked, k-y)))
		}
		quotient := new(big.Float).Quo(new(big.Float).SetInt(tail), new(big.Float).SetInt(chooseExact(n, k)))
		exact, _ := quotient.Float64()
		if got := lf.drawnAtLeast(n, marked, k, x); math.Abs(got-math.Log(exact)) > 1e-8 {
			t.Errorf("%v: %.12g, want %.12g", c, got, math.Log(exact))
		}
	}
}

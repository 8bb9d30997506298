package standardize

import "math"

// The functions of this file are the same to the last bit on every processor: they add and multiply
// in a fixed order, and round every product before it is added, which a compiler that fuses the two
// respects. math.Sqrt, math.Ldexp, math.Frexp and math.Floor are exact or correctly rounded
// everywhere; math.Exp and math.Log are not.

const (
	ln2High = 0x1.62e42fee00000p-1 // ln 2 in 32 bits: a multiple of it by up to 2^20 is exact
	ln2Low  = 0x1.a39ef35793c76p-33
	log2e   = 0x1.71547652b82fep+0
)

// inverseFactorials are 1/i!, each to the nearest float64.
var inverseFactorials = [...]float64{1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320,
	1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800}

// exp is e^x within a few units in the last place: 0 from -700 down, e^700 from 700 up.
func exp(x float64) float64 {
	if !(x > -700) {
		return 0
	}
	x = min(x, 700)
	k := math.Floor(float64(x*log2e) + 0.5)
	r := x - float64(k*ln2High) - float64(k*ln2Low) // within ±0.35
	sum := 0.0
	for i := len(inverseFactorials) - 1; i >= 0; i-- {
		sum = inverseFactorials[i] + float64(r*sum)
	}
	return sum * math.Float64frombits(uint64(int(k)+1023)<<52) // 2^k, k within ±1010
}

// log is ln x of a positive, finite x, within a few units in the last place of the larger of it and
// 1.
func log(x float64) float64 {
	f, e := math.Frexp(x)
	if f < math.Sqrt2/2 {
		f, e = 2*f, e-1
	}
	s := (f - 1) / (f + 1) // within ±0.172
	q, sum := float64(s*s), 0.0
	for i := 23; i > 0; i -= 2 { // 2 atanh s = 2s(1 + s²/3 + s⁴/5 + …)
		sum = 1/float64(i) + float64(q*sum)
	}
	k := float64(e)
	return float64(k*ln2High) + (float64(2*s*sum) + float64(k*ln2Low))
}

// root is √x, 0 below 0.
func root(x float64) float64 { return math.Sqrt(max(0, x)) }

// normal is the standard normal distribution function within 1e-12.
func normal(x float64) float64 {
	switch {
	case x > 7:
		return 1
	case !(x > -7):
		return 0
	}
	term, sum := x, x
	q := float64(x * x)
	for i := 3; i < 400; i += 2 { // x + x³/3 + x⁵/15 + …: all of one sign
		term = float64(term*q) / float64(i)
		next := sum + term
		if next == sum {
			break
		}
		sum = next
	}
	const inverseRoot2Pi = 0x1.9884533d43651p-2
	return min(max(0, 0.5+float64(float64(inverseRoot2Pi*exp(-q/2))*sum)), 1)
}

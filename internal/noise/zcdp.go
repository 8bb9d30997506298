package noise

import (
	"math"
)

// RhoOf is the ρ of zCDP of a discrete Gaussian of parameter sigma on a query of
// L2 sensitivity Δ > 0, both in the same units: Δ²/(2σ²) (CKS 2020, theorem 4; the
// multivariate form, theorem 14). Rounded up; an underflow does not make it free.
func RhoOf(sensitivity, sigma float64) float64 {
	r := sensitivity / sigma
	return max(r*r/2*(1+8*0x1p-53), 0x1p-1000) // three roundings, each of at most 2^-53
}

// SigmaFor is the σ whose charge RhoOf is at most rho: Δ/√(2ρ), rounded up by
// more than RhoOf adds. The caller checks that rho and Δ are positive and finite.
func SigmaFor(rho, sensitivity float64) float64 {
	return sensitivity / math.Sqrt(2*rho) * (1 + 16*0x1p-53)
}

// Epsilon is the ε >= 0 for which ρ-zCDP gives (ε, δ)-DP by the tight conversion (CKS
// 2020, corollary 13), rounded up:
//
//	ε = inf over α > 1 of αρ + (ln(1/δ) + (α-1)·ln(1-1/α) - ln α)/(α-1).
//
// Every α gives a bound, so a minimum that is found inexactly errs upward. A
// *ParameterError is for ρ outside [0, 1e6] or δ outside (0, 1).
func Epsilon(rho, delta float64) (float64, error) {
	if !(rho >= 0 && rho <= 1e6) {
		return 0, parameter("rho", "must be in [0, 1e6], got %v", rho)
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	return epsilon(rho, delta), nil
}

func checkDelta(delta float64) error {
	if !(delta > 0 && delta < 1) {
		return parameter("delta", "must be in (0, 1), got %v", delta)
	}
	return nil
}

// ulps is how far an ε is moved up on top of the error bound of its terms.
const ulps = 1e-13

func epsilon(rho, delta float64) float64 {
	if rho == 0 {
		return 0
	}
	l := -math.Log(delta)
	at := func(s float64) float64 { // a = α-1 = e^s
		a := math.Exp(s)
		whole, entropy, rest := (1+a)*rho, math.Log1p(a), math.Log1p(1/a)
		// The terms may cancel almost wholly: what rounding may have lost is a
		// share of them, not of their sum. Four roundings a term, of 2^-53 each, at most.
		return whole + (l-entropy)/a - rest + 0x1p-50*(whole+(l+entropy)/a+rest)
	}
	e := minimum(at, -30, 40)
	return max(0, e+math.Abs(e)*ulps)
}

// minimum of a unimodal function by golden sections.
func minimum(f func(float64) float64, lo, hi float64) float64 {
	const golden = 0.6180339887498949
	a, b := hi-golden*(hi-lo), lo+golden*(hi-lo)
	fa, fb := f(a), f(b)
	for range 120 {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - golden*(hi-lo)
			fa = f(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + golden*(hi-lo)
			fb = f(b)
		}
	}
	return min(fa, fb)
}

// RhoLess is the largest ρ for which charges of ρ in all are (ε, δ - aside(ρ))-DP by the curve,
// rounded down; aside is what of δ is spent otherwise by charges of ρ in all, rounded up, and MUST
// NOT fall. 0 where no ρ > 0 leaves any δ. A *ParameterError is for ε outside (0, 1000] or δ
// outside (0, 1).
func (c Curve) RhoLess(eps, delta float64, aside func(rho float64) float64) (float64, error) {
	if !(eps > 0 && eps <= 1000) {
		return 0, parameter("epsilon", "must be in (0, 1000], got %v", eps)
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	fits := func(rho float64) bool {
		left := delta
		if a := aside(rho); a > 0 {
			// Rounded down, and less by the (1 + FalseReject)^k that k queries' refusals make of
			// it, k <= 2^12.
			left = (delta - a) * (1 - 0x1p-50)
		}
		return c.fits(rho, eps, left)
	}
	lo, hi := 0.0, eps+1
	for fits(hi) {
		hi *= 2
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, nil
}

// selectStep is how many units of SelectEpsilon's grid make 1.
const selectStep = 1 << 20

package noise

import (
	"math"
	"math/big"
)

// Curve is how a sum of charges ρ becomes (ε, δ).
type Curve string

const (
	// ZCDP is the tight conversion of zCDP (CKS 2020, corollary 13): of every charge there is.
	ZCDP Curve = "zcdp"
	// GDP is the exact curve of the Gaussian mechanism with μ²/2 = ρ (docs/privacy.md, "The
	// bridge"): of charges by BridgeRho and by GDP.SelectRho alone, each a bound on zCDP's ρ too.
	GDP Curve = "gdp"
)

// Epsilon is the ε >= 0 at δ of charges of ρ in all, rounded up. A *ParameterError is for ρ outside
// [0, 1e6] or δ outside (0, 1).
func (c Curve) Epsilon(rho, delta float64) (float64, error) {
	most, err := Epsilon(rho, delta)
	if err != nil || c != GDP || most == 0 || gaussianDelta(rho, most) > delta {
		return most, err // zCDP's holds for either
	}
	if gaussianDelta(rho, 0) <= delta {
		return 0, nil
	}
	lo, hi := 0.0, most
	for range 200 {
		if mid := lo + (hi-lo)/2; mid == lo || mid == hi {
			break
		} else if gaussianDelta(rho, mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi, nil
}

// Rho is the largest ρ whose Epsilon at δ is at most ε, rounded down. A *ParameterError is for ε
// outside (0, 1000] or δ outside (0, 1).
func (c Curve) Rho(eps, delta float64) (float64, error) {
	return c.RhoLess(eps, delta, func(float64) float64 { return 0 })
}

// fits reports whether charges of ρ in all are (ε, δ)-DP.
func (c Curve) fits(rho, eps, delta float64) bool {
	return delta > 0 && (c == GDP && gaussianDelta(rho, eps) <= delta || epsilon(rho, delta) <= eps)
}

// gaussianDelta is e^K·δ(ε - 2K) of the Gaussian mechanism with μ = √(2ρ), rounded up: δ is
// AnalyticDelta's, and K = 2^-100 what the bridges of 2^20 queries come to (MaxKappa).
//
// δ is the difference of two positive terms, which may cancel: each is raised by what rounding may
// have lost of it, and the difference so by that share of both. With u = 2^-53 and s = μ/2 + ε/μ,
// both quotients and μ are off by at most 4u·s, so that a²/2 is by 6u·s²; erfcx loses 120u at most:
// 100u of x² <= 100 in its exponential, 2u each of Exp and Erfc, the rest by an argument that is
// off by 4u·s. The share is four times all of that. 2K moves a term by less than 2^-98 of it, K
// by 2^-100. Exponentials that underflow are below 2^-1000.
func gaussianDelta(rho, eps float64) float64 {
	mu := math.Sqrt(2 * rho)
	a, s := mu/2-eps/mu, mu/2+eps/mu
	common := math.Exp(-a*a/2) / 2
	first, second := 0.0, common*erfcx(s/math.Sqrt2)
	if a > 0 {
		first = math.Erfc(-a/math.Sqrt2) / 2
	} else {
		first = common * erfcx(-a/math.Sqrt2)
	}
	share := 0x1p-44 + min(s*s, 0x1p60)*0x1p-48 // both terms are 0 long before s is 2^30
	return first - second + (first+second)*share + 0x1p-1000
}

// bridge is r of the bridge, in grid steps.
const bridge = 4

// MaxKappa bounds K of one query's bridge, BridgeKappa: 2^20 queries have 2^-100 together, which
// GDP reserves.
const MaxKappa = 0x1p-120

// BridgeRho is the ρ of GDP, μ²/2, of a discrete Gaussian of parameter sigma on a query of L2
// sensitivity Δ, both in grid units: Δ²/(2(σ² - r²)) with r = 4, rounded up. It holds where
// BridgeKappa is at most MaxKappa. A σ of at most 4 costs +Inf.
//
// # The bridge
//
// Theorem (docs/privacy.md). Let r = 4, q = exp(-2π²r²), κ of one coordinate 5q, or 5q + τ/2 of a
// sum of shares (closeness), K the sum of κ over all coordinates and queries, and δ_G the Gaussian
// mechanism's curve. If on every path Σ_t Δ_t²/(σ_t² - r²) is at most μ², over sums t with noise
// N_Z(0, σ_t²), σ_t > r, then all that is released is (ε, e^K·δ_G(μ, ε - 2K))-DP for every
// ε >= 2K. SelectRho has what a selection adds to μ².
//
// Each sum is nearly postprocessing of a continuous Gaussian (an argument; nothing is sampled so).
// Draw X ~ N(f, σ² - r²) over the reals, then the integer y with probability
// exp(-(y-X)²/(2r²))/Z(X), Z(x) = Σ_k exp(-(k-x)²/(2r²)). The product of the two Gaussians
// integrates to C·exp(-(y-f)²/(2σ²)), with C independent of y and f. By Jacobi's triple product
// Z(x) ∝ Π_j (1 + 2q^(2j-1)·cos 2πx + q^(4j-2)): ln Z varies by at most 4·Σ_j artanh(q^(2j-1)), at
// most 5q. So the law of y is N_Z(f, σ²)·e^h, h in an interval of length 5q; both are laws, so
// |h| <= 5q. Coordinates are independent. Shares add a factor within e^(±τ/2) each. The two laws of
// X are a Gaussian mechanism's, with μ_t² = Δ_t²/(σ_t² - r²).
//
// Gaussians compose to one, adaptively. Let M be the likelihood ratio of the X's of D to those of
// D', under D'. Given the past a query multiplies M by exp(μ_t·Z - μ_t²/2), Z ~ N(0, 1), where the
// past determines μ_t. Multiply by one more such factor with μ_∞² = μ² - Σ μ_t². Its mean given the
// past is 1, so E max(0, M - e^ε) does not fall (Jensen); now Σ μ_t² is μ² on every path. By the
// martingale exp(iλ·Σ μ_t·Z_t + λ²·Σ μ_t²/2) of mean 1, Σ μ_t·Z_t is then N(0, μ²), and the
// expectation δ_G(μ, ε). Postprocessing cannot raise it.
//
// Densities of a transcript multiply, so they differ from postprocessing Q of the X's by factors
// within e^(±K):
//
//	P_D(S) <= e^K·Q_D(S) <= e^K·(e^(ε-2K)·Q_D'(S) + δ_G(μ, ε-2K))
//	       <= e^ε·P_D'(S) + e^K·δ_G(μ, ε-2K).
func BridgeRho(sensitivity, sigma float64) float64 {
	if !(sigma > bridge) {
		return math.Inf(1)
	}
	// seven roundings of 2^-53 at most; no difference of near numbers but the exact σ - 4
	return max(sensitivity/(sigma-bridge)*(sensitivity/(sigma+bridge))/2*(1+16*0x1p-53), 0x1p-1000)
}

// BridgeMultiplier is σ/Δ for which BridgeRho(Δ, σ) is at most rho, rounded up: √(1/(2ρ) + r²/Δ²).
// The caller checks that both are positive and finite.
func BridgeMultiplier(rho, sensitivity float64) float64 {
	r := bridge / sensitivity
	return math.Sqrt(1/(2*rho)+r*r) * (1 + 32*0x1p-53)
}

// BridgeKappa bounds K of a query of so many values: the logarithm of the factor between what is
// released and postprocessing of a continuous Gaussian, rounded up. On each coordinate it is 5q,
// q = exp(-2π²r²), and τ/2 of a sum of shares (closeness); the zero value is for one discrete
// Gaussian. Parameters outside the bounds of DistributedRho, and parts too narrow for τ, cost +Inf.
func BridgeKappa(values int, s Carried) float64 {
	one := 5 * math.Exp(-2*math.Pi*math.Pi*bridge*bridge)
	switch central := len(s.Kept) == 0 && s.Honest == 0; {
	case values < 1, !central && !(s.valid() && s.close()):
		return math.Inf(1)
	case !central:
		one += closeness(s) / 2
	}
	return float64(values) * one * (1 + 0x1p-30)
}

// overPi is above π by 2.7e-7.
var overPi = big.NewRat(355, 113)

// SelectRho is the charge of Select at ε0, the least float64 not below it: ε0²/8 of ZCDP, and of
// GDP π/2 times that, with π rounded up to 355/113. An ε0 that Select refuses costs +Inf.
//
// # zCDP (Cesar and Rogers 2021: any mechanism of bounded range ε0)
//
// The privacy loss X lies in an interval of length ε0. ψ(λ) = ln E exp(λX), over what the neighbor
// returns, is 0 at 0 and 1, and its second derivative is a variance on that interval, at most
// ε0²/4: so ψ(α) <= α(α-1)·ε0²/8, and D_α = ψ(α)/(α-1) <= α·ε0²/8.
//
// # The Gaussian's curve
//
// Let P and Q be the laws for neighbors, their log-ratio in [t-ε0, t]. Among such pairs the one of
// two values, with p/(1-p) = e^ε0·q/(1-q), is the worst, by convexity. It is postprocessing of
// N(0, 1) against N(μ, 1) for μ = Φ^-1(p) - Φ^-1(q): a test of two outcomes has one corner, and the
// Gaussian's trade-off is convex between corners (Dong, Roth and Su 2022). So a choice is one more
// Gaussian of the composition. With g(x) = Φ^-1(1/(1+e^-x)), μ = g(x+ε0/2) - g(x-ε0/2) for some x.
// g' is largest at 0, where it is √(2π)/4. Hence μ <= √(2π)/4·ε0, and μ²/2 <= (π/2)·ε0²/8.
//
// That g' is largest at 0: the inverse of g is k(y) = ln Φ(y) - ln Φ(-y), odd, with
// k' = φ/(Φ(y)Φ(-y)). With E = 2Φ(y) - 1, k' does not fall for y > 0 if yE² + 4φE - y >= 0, which
// is E >= tan(½·arctan(y/2φ)). D = 2 arctan E - arctan(y/2φ) is 0 at 0 and at ∞, and D' has the
// sign of S = 8φ² + y² - 1 - E²(1+y²). S(0) = 4/π - 1 > 0. S'/(2y) = 1 - E² - 8φ² - 2φE(1+y²)/y is
// negative: 1 - E² <= e^(-y²/2) < 2.51φ (a disk in a square), while 8φ + 2E(1+y²)/y is above 2.7
// for y >= 1 (1+y² >= 2y, E >= 0.68) and above 1.9 + 1.3 for y < 1 (E/y falls). So D rises, then
// falls, and is nowhere below 0.
func (c Curve) SelectRho(e0 *big.Rat) float64 {
	if e0 == nil || e0.Sign() <= 0 {
		return math.Inf(1)
	}
	rho := new(big.Rat).Mul(e0, e0)
	rho.Mul(rho, c.selection())
	f, _ := rho.Float64()
	if !math.IsInf(f, 1) && new(big.Rat).SetFloat64(f).Cmp(rho) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// selection is what Select at ε0 = 1 costs.
func (c Curve) selection() *big.Rat {
	if c == GDP {
		return new(big.Rat).Mul(overPi, big.NewRat(1, 16))
	}
	return big.NewRat(1, 8)
}

// SelectEpsilon is the largest multiple ε0 of 2^-20 whose SelectRho is at most rho: exact, and so
// rounded down. A *ParameterError is for a rho outside [2^-43, 1e6], of GDP [2^-42, 1e6].
func (c Curve) SelectEpsilon(rho float64) (*big.Rat, error) {
	least := -43
	if c == GDP {
		least = -42
	}
	if !(rho >= math.Ldexp(1, least) && rho <= 1e6) {
		return nil, parameter("rho", "must be in [2^%d, 1e6], got %v", least, rho)
	}
	// k²/2^40 times the cost of 1 <= rho.
	square := new(big.Rat).SetFloat64(rho)
	square.Quo(square, c.selection())
	square.Mul(square, big.NewRat(selectStep*selectStep, 1))
	k := new(big.Int).Quo(square.Num(), square.Denom())
	return new(big.Rat).SetFrac(k.Sqrt(k), big.NewInt(selectStep)), nil
}

package noise

import (
	"math"
	"math/big"
)

// maxHonest bounds the number of shares that a sum's noise is made of.
const maxHonest = 1 << 16

// ShareSigma is the parameter σ_i of one site's noise share: the smallest of the sampler's
// grid (see SigmaAtLeast) with σ_i² >= σ²/honest, so that the shares of any honest sites
// carry σ² together. It is computed in integers. A *ParameterError is for σ outside (0, 2^52]
// and honest outside [1, 2^16].
func ShareSigma(total Sigma, honest int) (Sigma, error) {
	if total == 0 || total > maxSigma*sigmaStep {
		return 0, parameter("sigma", "must be in (0, 2^52], got %v", total.Float())
	}
	if honest < 1 || honest > maxHonest {
		return 0, parameter("honest", "must be in [1, 2^16], got %d", honest)
	}
	// u is the least integer with u²·honest >= total²: one more than the root of the largest that
	// is not.
	u := new(big.Int).SetUint64(uint64(total))
	u.Mul(u, u).Sub(u, big.NewInt(1)).Quo(u, big.NewInt(int64(honest))).Sqrt(u)
	share := Sigma(u.Uint64()) + 1
	if share > wholeSigma*sigmaStep {
		share = (share + sigmaStep - 1) / sigmaStep * sigmaStep
	}
	return share, nil
}

// closeSigma is the σ_i from which closeness holds.
const closeSigma = sigmaStep / 2

// closeness is τ of Kairouz, Liu and Steinke 2021 (theorem 1), for σ_i >= 1/2, rounded up:
//
//	τ = 10·Σ_{k=1}^{m-1} exp(-2π²σ_i²·k/(k+1)).
//
// The sum of m discrete Gaussians is not one. Its law is N_Z(0, mσ_i²) times e^h, |h| <= τ/2
// on all integers: adding the (k+1)-th share multiplies by a theta function of nome
// r = exp(-2π²σ_i²·k/(k+1)), whose logarithm varies by 4·Σ_j artanh(r^(2j-1)) <= 5r.
func closeness(share Sigma, honest int) float64 {
	tau, s := 0.0, share.Float()
	for k := 1; k < honest; k++ {
		x := 2 * math.Pi * math.Pi * s * s * (float64(k) / float64(k+1))
		tau += max(math.Exp(-x), 0x1p-1000) // an underflow is not free
	}
	// x < 700 is off by less than 2^-50 of it, and so exp(-x) by less than 2^-40 of it; 2^16
	// additions lose less than 2^-36.
	return 10 * tau * (1 + 0x1p-30)
}

// DistributedRho is the ρ of zCDP of the sum of honest independent discrete Gaussians of
// parameter share, on each of values coordinates of an integer query of L2 sensitivity Δ, in
// grid units. Whatever is added to such a sum, the noise of further sites above all, is
// postprocessing. It is the least of three bounds, with a = Δ²/(honest·σ_i²), d = values and τ
// the closeness bound, 0 for one share (Kairouz, Liu, Steinke 2021, proposition 14: D_α is at
// most αa/2 + τd, where α > 1, and at most α(√a + τ√d)²/2):
//
//	a/2 + τd,  (√a + τ√d)²/2,  Δ²/(2σ_i²).
//
// The third takes one share for all the noise; it alone holds for σ_i < 1/2. Rounded up, so never
// below a/2, what one discrete Gaussian of that σ² costs. Parameters outside their bounds (those of
// ShareSigma, values >= 1, Δ positive and finite) cost +Inf: more than any budget.
func DistributedRho(sensitivity float64, share Sigma, honest, values int) float64 {
	if !(sensitivity > 0) || math.IsInf(sensitivity, 1) || share == 0 || share > maxSigma*sigmaStep ||
		honest < 1 || honest > maxHonest || values < 1 {
		return math.Inf(1)
	}
	// rounds up by enough for a share above 2^53, whose float64 is the nearest
	one := RhoOf(sensitivity, share.Float())
	if honest == 1 || share < closeSigma {
		return one
	}
	m, d := float64(honest), float64(values)
	half, tau := one/m, closeness(share, honest)
	root := math.Sqrt(2*half) + tau*math.Sqrt(d)
	const up = 1 + 32*0x1p-53 // above all roundings of these lines
	return min((half+tau*d)*up, root*root/2*up, one)
}

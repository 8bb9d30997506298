package noise

import (
	"fmt"
	"math"
)

// FalseReject bounds the probability with which CheckReleased refuses a good
// release, one call. What that costs of δ, a query, is RefusedByNeighbor.
const FalseReject = 0x1p-64

// ReleaseError is a release whose noise the law of σ does not explain. It carries
// no value.
type ReleaseError struct {
	Lanes int
	Low   bool // too little noise, or too much
}

func (e *ReleaseError) Error() string {
	if e.Low {
		return fmt.Sprintf("noise: a release of %d values is closer to the exact sum than its noise allows", e.Lanes)
	}
	return fmt.Sprintf("noise: a release of %d values is farther from the exact sum than its noise allows", e.Lanes)
}

// CheckReleased is the study's own check of what it is about to release: with
// residuals e = noised - exact in grid units, S = Σ(e/σ)² must lie where the
// discrete Gaussian of sigma puts it with probability at least 1 - FalseReject. A
// *ReleaseError is for an S outside, a *ParameterError for σ = 0 and slices of
// different lengths.
//
// Noise that is all zero is refused from 4 values up at σ >= 2^16, and from 28 up at σ >= 2. With
// fewer a good release is all zero with probability Z(σ)^-d > FalseReject, and the lower side
// passes everything. It is a check of the energy alone: at 4 values a standard deviation off by
// more than a factor of 5.2 is too much and hardly any is too little, at 64 values outside
// 0.32…1.93 is refused, at 512 outside 0.72…1.31.
//
// Below: by Markov on exp(-λS), P[S <= s] <= e^(λs)·r(λ)^d with r(λ) = E exp(-λe²/σ²) =
// Z(σ/√(1+2λ))/Z(σ), Z(s) = Σ_x exp(-x²/(2s²)). Above: the discrete Gaussian is σ-subgaussian (CKS
// 2020, section 2.3), so E exp(λe²/σ²) <= (1-2λ)^(-1/2) and P[S >= s] <= exp(-(s - d - d
// ln(s/d))/2) for s > d. Both hold at every σ and d. Each side gets half of FalseReject.
func CheckReleased(noised, exact []int64, sigma Sigma) error {
	if len(noised) != len(exact) {
		return parameter("noised", "has %d values, the exact sum %d", len(noised), len(exact))
	}
	if sigma == 0 {
		return parameter("sigma", "must be positive")
	}
	sum := 0.0
	for i := range noised {
		e := noised[i] - exact[i]
		if (noised[i] < 0) != (exact[i] < 0) && (e < 0) != (noised[i] < 0) {
			return &ReleaseError{len(noised), false} // wrapped: |e| > 2^63
		}
		scaled := float64(e) / sigma.Float()
		sum += scaled * scaled
	}
	return checkSum(len(noised), sum, sigma)
}

// checkSum is CheckReleased for the S of so many lanes.
func checkSum(lanes int, sum float64, sigma Sigma) error {
	// ln(2/FalseReject), and more than the two sides lose to rounding up to 10^8 values.
	const bound = 65*math.Ln2 + 1e-6
	d := float64(lanes)
	if low, ok := lowest(d, sigma.Float(), bound); ok && sum <= low {
		return &ReleaseError{lanes, true}
	}
	if sum > d && (sum-d-d*math.Log(sum/d))/2 > bound {
		return &ReleaseError{lanes, false}
	}
	return nil
}

// lowest is the largest s for which the bound from below is at most e^-bound, over a
// fixed grid of λ; ok is false where no s >= 0 is.
func lowest(d, sigma, bound float64) (s float64, ok bool) {
	best, z := math.Inf(-1), partition(sigma*sigma)
	for l := -12.0; l < 80; l += 0.25 {
		lambda := math.Exp2(l)
		r := partition(sigma*sigma/(1+2*lambda)) / z
		best = max(best, (-bound-d*math.Log(r))/lambda)
	}
	return best, best >= 0
}

// lnReject is -ln FalseReject.
const lnReject = 64 * math.Ln2

// maxRefused is the largest charge of one query whose refusals are bounded: of 4, with 4e-10. No
// plan charges one query more: where one has the whole budget that shows from ε = 16.9 up (δ =
// 10^-6; zCDP's curve: 17.9).
const maxRefused = 4

// RefusedByNeighbor bounds, rounded up, the probability that CheckReleased refuses noise that was
// shifted by a query's sensitivity, where it refuses noise that was not with probability
// FalseReject at most:
//
//	exp(-(√L - √ρ)²), where L = -ln FalseReject = 64 ln 2
//
// and ρ is the query's charge, at most 4: it is 1 beyond, which no δ has to spare, so that no plan
// charges a query more and BudgetRho can count on it. With P the shifted law and Q the law, P[E] <=
// (Q[E]·exp(D_α(P‖Q)))^(1-1/α) for every event E and α > 1 (Hölder), and D_α <= αρ; the best α is
// √(L/ρ). It needs nothing but the charge, so it holds for the discrete law at every σ and in any
// number of coordinates. The Gaussian's own value, Φ(Φ^-1(FalseReject) + √(2ρ)), is less by a
// factor below 2 for ρ <= 2. A ρ that is negative or no number costs 1.
//
// Why the sum of these over a study's k queries is all that the check costs of δ: near the edge of
// what passes, a checked release tells D from D'. Let r_t be the probability that query t is
// refused, given the past a function of the questions alone, and call a release of D bad if the
// noise that would explain it under D' does not pass. A mechanism that skips query t with
// probability r_t/(1+r_t), by a public coin, and else releases unchecked is (ε, δ₀)-DP by the
// charges. The checked one refuses with probability r_t and has, at a release that passes, the
// unchecked density: both are 1+r_t times the other's. So on transcripts without a bad release the
// densities differ by one factor, at most (1+FalseReject)^k, the same for D and D'. Transcripts
// with one have, under D, at most the sum of these bounds. Together, without a factor e^ε,
//
//	δ = δ₀·(1+FalseReject)^k + Σ_t RefusedByNeighbor(ρ_t).
func RefusedByNeighbor(rho float64) float64 {
	if !(rho >= 0 && rho <= maxRefused) {
		return 1
	}
	root := math.Sqrt(lnReject) - math.Sqrt(rho)
	// The square is at most 45, off by less than 2^-45; what is left of the margin is for 10^3
	// additions.
	return math.Exp(-root*root) * (1 + 0x1p-38)
}

// budgetQueries is how many queries BudgetRho sets δ aside for.
const budgetQueries = 1 << 12

// BudgetRho is the largest ρ that a population's studies may be charged in all, so that everything
// that they release is (ε, δ)-DP by the curve: RhoLess with what the checks of budgetQueries
// releases may refuse, however ρ is split over them. A *ParameterError is for parameters outside
// RhoLess's bounds and a δ that leaves nothing.
func (c Curve) BudgetRho(eps, delta float64) (float64, error) {
	rho, err := c.RhoLess(eps, delta, budgetRefusals)
	if err == nil && rho == 0 {
		err = parameter("delta", "must be above %.2g, what the checks of %d releases take of it, got %v", budgetRefusals(0), budgetQueries, delta)
	}
	return rho, err
}

// BudgetEpsilon is the least ε of a budget (ε, δ) that has room for charges of ρ in all, rounded
// up: BudgetRho's inverse. A *ParameterError is for a ρ outside [0, 1e6], and for a δ of which the
// checks of releases leave nothing.
func (c Curve) BudgetEpsilon(rho, delta float64) (float64, error) {
	return c.Epsilon(rho, (delta-budgetRefusals(max(0, rho)))*(1-0x1p-50)) // as RhoLess has it
}

// budgetRefusals bounds the sum of RefusedByNeighbor over up to budgetQueries queries of ρ in all,
// each of 4 at most, rounded up. Of f(x) = exp(-(√L-√x)²) the second derivative has the sign of
// (√L-u)²·u - √L/2, u = √x: f is convex on [0.006, 4], and below 3·FalseReject before. So f(x) <=
// 3·FalseReject + f(m)·x/m for x <= m = min(ρ, 4), and the x add up to ρ.
func budgetRefusals(rho float64) float64 {
	return (3*FalseReject*budgetQueries + RefusedByNeighbor(min(rho, maxRefused))*max(1, rho/maxRefused)) * (1 + 0x1p-50)
}

// partition is Z(σ) = Σ_x exp(-x²/(2σ²)), by Poisson summation where that
// converges faster.
func partition(sigma2 float64) float64 {
	scale, rate := 1.0, 1/(2*sigma2)
	if sigma2 > 0.2 {
		scale, rate = math.Sqrt(2*math.Pi*sigma2), 2*math.Pi*math.Pi*sigma2
	}
	sum := 1.0
	for k := 1.0; k <= 8; k++ {
		sum += 2 * math.Exp(-k*k*rate) // rate > 2.4: the ninth is below e^-190
	}
	return scale * sum
}

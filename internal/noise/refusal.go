package noise

import "math"

// Refusals of a release, as (ε, δ) counts them (docs/privacy.md): a query that CheckReleased checks costs as much of δ
// as the probability that the noise which led to its release would have been refused under the neighbor's sum.

// lnReject is -ln FalseReject.
const lnReject = 64 * math.Ln2

// maxRefused is the largest charge of one query whose refusals are bounded: of 4, with 4e-10. No plan charges one
// query more: where one has the whole budget that shows from ε = 18 up (δ = 10^-6).
const maxRefused = 4

// RefusedByNeighbor bounds, rounded up, the probability that CheckReleased refuses noise that was shifted by a query's
// sensitivity, where it refuses noise that was not with probability FalseReject at most:
//
//	exp(-(√L - √ρ)²), where L = -ln FalseReject = 64 ln 2
//
// and ρ is the query's charge, at most 4: it is 1 beyond, which no δ has to spare, so that no plan charges a query more and BudgetRho can
// count on it. With P the shifted law and Q the law, P[E] <= (Q[E]·exp(D_α(P‖Q)))^(1-1/α) for every
// event E and α > 1 (Hölder), and D_α <= αρ; the best α is √(L/ρ). It needs nothing but the charge, so it holds for
// the discrete law at every σ and in any number of coordinates. The Gaussian's own value, Φ(Φ^-1(FalseReject) + √(2ρ)), is less
// by a factor below 2 for ρ <= 2. A ρ that is negative or no number costs 1.
func RefusedByNeighbor(rho float64) float64 {
	if !(rho >= 0 && rho <= maxRefused) {
		return 1
	}
	root := math.Sqrt(lnReject) - math.Sqrt(rho)
	// The square is at most 45, off by less than 2^-45; what is left of the margin is for 10^3 additions.
	return math.Exp(-root*root) * (1 + 0x1p-38)
}

// RhoLess is the largest ρ for which ρ-zCDP gives (ε, δ - aside(ρ))-DP by Epsilon, rounded down; aside is what of δ is
// spent otherwise by charges of ρ in all, rounded up, and MUST NOT fall. 0 where no ρ > 0 leaves any δ. A
// *ParameterError is for ε outside (0, 1000] or δ outside (0, 1).
func RhoLess(eps, delta float64, aside func(rho float64) float64) (float64, error) {
	if !(eps > 0 && eps <= 1000) {
		return 0, parameter("epsilon", "must be in (0, 1000], got %v", eps)
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	fits := func(rho float64) bool {
		left := delta
		if a := aside(rho); a > 0 {
			// Rounded down, and less by the (1 + FalseReject)^k that k queries' refusals make of it, k <= 2^12.
			left = (delta - a) * (1 - 0x1p-50)
		}
		return left > 0 && epsilon(rho, left) <= eps
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

// BudgetQueries is how many queries BudgetRho sets δ aside for.
const BudgetQueries = 1 << 12

// BudgetRho is the largest ρ that a population's studies may be charged in all, so that everything that they release
// is (ε, δ)-DP: RhoLess with what the checks of BudgetQueries releases may refuse, however ρ is split over them. A *ParameterError is for
// parameters outside RhoLess's bounds and a δ that leaves nothing.
func BudgetRho(eps, delta float64) (float64, error) {
	rho, err := RhoLess(eps, delta, budgetRefusals)
	if err == nil && rho == 0 {
		err = parameter("delta", "must be above %.2g, what the checks of %d releases take of it, got %v", budgetRefusals(0), BudgetQueries, delta)
	}
	return rho, err
}

// budgetRefusals bounds the sum of RefusedByNeighbor over up to BudgetQueries queries of ρ in all, each of 4 at most, rounded up. Of
// f(x) = exp(-(√L-√x)²) the second derivative has the sign of (√L-u)²·u - √L/2, u = √x: f is convex on [0.006, 4], and below
// 3·FalseReject before. So f(x) <= 3·FalseReject + f(m)·x/m for x <= m = min(ρ, 4), and the x add up to ρ.
func budgetRefusals(rho float64) float64 {
	return (3*FalseReject*BudgetQueries + RefusedByNeighbor(min(rho, maxRefused))*max(1, rho/maxRefused)) * (1 + 0x1p-50)
}

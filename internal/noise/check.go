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
// Noise that is all zero is refused from 4 values up at σ >= 2^16, and from 28 up at σ >= 2.
// With fewer a good release is all zero with probability Z(σ)^-d > FalseReject, and the lower side passes
// everything. It is a check of the energy alone: at 4 values a standard deviation off by more
// than a factor of 5.2 is too much and hardly any is too little, at 64 values outside 0.32…1.93 is refused, at
// 512 outside 0.72…1.31.
//
// Below: by Markov on exp(-λS), P[S <= s] <= e^(λs)·r(λ)^d with r(λ) = E exp(-λe²/σ²)
// = Z(σ/√(1+2λ))/Z(σ), Z(s) = Σ_x exp(-x²/(2s²)). Above: the discrete Gaussian is σ-subgaussian (CKS
// 2020, section 2.3), so E exp(λe²/σ²) <= (1-2λ)^(-1/2) and P[S >= s] <= exp(-(s - d - d ln(s/d))/2) for s > d.
// Both hold at every σ and d. Each side gets half of FalseReject.
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

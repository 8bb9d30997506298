package noise

import (
	"fmt"
	"math"
)

// FalseReject bounds the probability with which CheckReleased refuses a good
// release. The plan sets that much of δ aside for every query.
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
// discrete Gaussian of sigma puts it with probability at least 1 - FalseReject. It
// refuses all-zero noise from 4 values up at σ >= 2^16, and from 512 values up at
// σ >= 3; fewer values cannot be told from chance at that level.
//
// Below: by Markov on exp(-λS), P[S <= s] <= e^(λs)·r(λ)^d with r(λ) = E exp(-λe²/σ²)
// = Z(σ/√(1+2λ))/Z(σ), Z(s) = Σ_x exp(-x²/(2s²)), s√(2π) <= Z(s) <= 1 + s√(2π). Above: the
// discrete Gaussian is σ-subgaussian (CKS 2020, section 2.3), so E exp(λe²/σ²) <= (1-2λ)^(-1/2) and
// P[S >= s] <= exp(-(s - d - d ln(s/d))/2) for s > d. Each side gets half of FalseReject.
func CheckReleased(noised, exact []int64, sigma Sigma) error {
	d := float64(len(noised))
	sum := 0.0
	for i := range noised {
		e := float64(noised[i]-exact[i]) / sigma.Float()
		sum += e * e
	}
	const bound = 65 * math.Ln2 // ln of 2/FalseReject
	if low, ok := lowest(d, sigma.Float(), bound); ok && sum <= low {
		return &ReleaseError{len(noised), true}
	}
	if sum > d && (sum-d-d*math.Log(sum/d))/2 > bound {
		return &ReleaseError{len(noised), false}
	}
	return nil
}

// lowest is the largest s for which the bound from below is at most e^-bound.
func lowest(d, sigma, bound float64) (float64, bool) {
	best := math.Inf(-1)
	for l := 0.0; l < 80; l += 0.25 {
		lambda := math.Exp2(l)
		z := sigma * math.Sqrt(2*math.Pi)
		r := min(1, (1+z/math.Sqrt(1+2*lambda))/z)
		best = max(best, (-bound-d*math.Log(r))/lambda)
	}
	return best, best >= 0
}

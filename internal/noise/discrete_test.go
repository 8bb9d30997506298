package noise

import "math"

// DiscreteDelta is the exact δ at ε of the one-dimensional discrete Gaussian
// mechanism with integer sensitivity (CKS 2020, theorem 7), to about 1e-12 of it:
//
//	δ = P[X > εσ²/Δ - Δ/2] - e^ε·P[X > εσ²/Δ + Δ/2] = Σ_x max(0, p(x) - e^ε·p(x+Δ)).
//
// The sum's terms are positive, so nothing cancels. A *ParameterError is for sigma²
// outside (0, 1e12], sensitivity < 1 and ε outside [0, 600].
func DiscreteDelta(epsilon, sigma2 float64, sensitivity int) (float64, error) {
	if !(sigma2 > 0 && sigma2 <= 1e12) {
		return 0, parameter("sigma²", "must be in (0, 1e12], got %v", sigma2)
	}
	if sensitivity < 1 || sensitivity > 1<<40 {
		return 0, parameter("sensitivity", "must be in [1, 2^40], got %d", sensitivity)
	}
	if !(epsilon >= 0 && epsilon <= 600) {
		return 0, parameter("epsilon", "must be in [0, 600], got %v", epsilon)
	}
	d := float64(sensitivity)
	reach := math.Ceil(40*math.Sqrt(sigma2)) + 1 // beyond it p(x)/p(0) < e^-800
	sum := 0.0
	for x := max(math.Floor(epsilon*sigma2/d-d/2)+1, -reach); x <= reach; x++ {
		sum += math.Exp(-x*x/(2*sigma2)) * max(0, -math.Expm1(epsilon-d*(2*x+d)/(2*sigma2)))
	}
	return sum / partition(sigma2), nil
}

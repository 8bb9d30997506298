package noise

import "math"

// AnalyticDelta is the exact δ at ε of rounds-fold composition of the continuous
// Gaussian mechanism (Balle, Wang 2018, theorem 8, with μ = Δ√T/σ). It is
// information: not a bound for the discrete law, and never charged.
func AnalyticDelta(sensitivity, sigma float64, rounds int, eps float64) float64 {
	mu := sensitivity * math.Sqrt(float64(rounds)) / sigma
	a, b := mu/2-eps/mu, -mu/2-eps/mu
	return normal(a) - math.Exp(eps)*normal(b)
}

// normal is the standard normal distribution function.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// AnalyticEpsilon is the ε at δ of the same composition.
func AnalyticEpsilon(sensitivity, sigma float64, rounds int, delta float64) (float64, error) {
	if !(sensitivity > 0 && sigma > 0) || math.IsInf(sensitivity, 0) || math.IsInf(sigma, 0) || math.IsInf(sensitivity/sigma, 0) {
		return 0, parameter("sigma", "sigma and sensitivity must be positive and finite")
	}
	if rounds < 1 {
		return 0, parameter("rounds", "must be at least 1, got %d", rounds)
	}
	if err := checkDelta(delta); err != nil {
		return 0, err
	}
	at := func(eps float64) float64 { return AnalyticDelta(sensitivity, sigma, rounds, eps) }
	if at(0) <= delta {
		return 0, nil
	}
	lo, hi := 0.0, 1.0
	for at(hi) > delta {
		if hi *= 2; hi > 600 {
			return 0, parameter("sigma", "gives an epsilon above 600, beyond what this formula computes")
		}
	}
	for range 200 {
		if mid := lo + (hi-lo)/2; at(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi, nil
}

// DiscreteDelta is the exact δ at ε of the one-dimensional discrete Gaussian
// mechanism with integer sensitivity (CKS 2020, theorem 7):
//
//	P[X > εσ²/Δ - Δ/2] - e^ε P[X > εσ²/Δ + Δ/2].
func DiscreteDelta(eps, sigma2 float64, sensitivity int) (float64, error) {
	if !(sigma2 > 0 && sigma2 <= 1e12) || sensitivity < 1 || !(eps >= 0 && eps <= 600) {
		return 0, parameter("sigma²", "sigma² in (0, 1e12], sensitivity >= 1 and epsilon in [0, 600] are wanted")
	}
	reach := int(math.Ceil(40*math.Sqrt(sigma2))) + sensitivity
	at, half := eps*sigma2/float64(sensitivity), float64(sensitivity)/2
	total, above, far := 0.0, 0.0, 0.0
	for x := -reach; x <= reach; x++ {
		p := math.Exp(-float64(x) * float64(x) / (2 * sigma2))
		total += p
		if float64(x) > at-half {
			above += p
		}
		if float64(x) > at+half {
			far += p
		}
	}
	return (above - math.Exp(eps)*far) / total, nil
}

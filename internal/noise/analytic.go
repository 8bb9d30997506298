package noise

import "math"

// AnalyticDelta is the exact δ at ε >= 0 of rounds-fold composition of the continuous
// Gaussian mechanism (Balle, Wang 2018, theorem 8, with μ = Δ√T/σ):
//
//	δ = Φ(a) - e^ε·Φ(b),  a = μ/2 - ε/μ,  b = -μ/2 - ε/μ.
//
// It is computed to the nearest float64, and is no bound for the discrete Gaussian; that of GDP is.
func AnalyticDelta(sensitivity, sigma float64, rounds int, eps float64) float64 {
	mu := sensitivity * math.Sqrt(float64(rounds)) / sigma
	a, b := mu/2-eps/mu, -mu/2-eps/mu
	// e^ε·Φ(b) overflows and cancels as it stands; ε - b²/2 = -a²/2 gives both
	// terms one small factor.
	common := math.Exp(-a*a/2) / 2
	if a > 0 {
		return math.Erfc(-a/math.Sqrt2)/2 - common*erfcx(-b/math.Sqrt2)
	}
	return common * (erfcx(-a/math.Sqrt2) - erfcx(-b/math.Sqrt2))
}

// erfcx is exp(x²)·erfc(x) for x >= 0, to about 1e-14 of it.
func erfcx(x float64) float64 {
	if x < 10 {
		return math.Exp(x*x) * math.Erfc(x)
	}
	// The asymptotic series; at x = 10 its term of index 12 is below 1e-14.
	sum, term := 1.0, 1.0
	for k := 1; k <= 12; k++ {
		term *= -float64(2*k-1) / (2 * x * x)
		sum += term
	}
	return sum / (x * math.Sqrt(math.Pi))
}

// AnalyticEpsilon is the ε at δ of the same composition. A *ParameterError is for
// Δ or σ that are not positive and finite or whose ratio is not, rounds < 1, δ outside
// (0, 1) and an ε above 1e9.
func AnalyticEpsilon(sensitivity, sigma float64, rounds int, delta float64) (float64, error) {
	if !(sensitivity > 0) || math.IsInf(sensitivity, 0) {
		return 0, parameter("sensitivity", "must be positive and finite, got %v", sensitivity)
	}
	if ratio := sensitivity / sigma; !(sigma > 0) || math.IsInf(sigma, 0) || !(ratio > 0) || math.IsInf(ratio, 0) {
		return 0, parameter("sigma", "must be positive and finite, and so sensitivity/sigma, got %v", sigma)
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
		if hi *= 2; hi > 1e9 {
			return 0, parameter("sigma", "gives an epsilon above 1e9, got %v", sigma)
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

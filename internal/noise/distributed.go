package noise

import "math"

// maxHonest bounds the number of shares that a sum's noise is made of.
const maxHonest = 1 << 16

// closeSigma is the least σ of a part from which closeness holds.
const closeSigma = sigmaStep / 2

// closeness is τ of a sum of discrete Gaussians, all of σ >= 1/2, rounded up. Where v is the
// variance of one and A that of all before it (docs/privacy.md; Kairouz, Liu, Steinke 2021, theorem
// 1, for equal ones),
//
//	τ = 10·Σ exp(-2π²·A·v/(A+v)), from the second on.
//
// The sum of discrete Gaussians is not one. Its law is N_Z(0, V)·e^h, V the whole variance, with
// |h| <= τ/2 on all integers.
//
// Proof. Let s² = Av/(A+v) and r = exp(-2π²s²). As x²/A + (z-x)²/v = z²/(A+v) +
// (x - zA/(A+v))²/s², the convolution of N_Z(0, A) and N_Z(0, v) at z is
// exp(-z²/(2(A+v)))·Θ(zA/(A+v)) up to a constant, Θ(c) = Σ_x exp(-(x-c)²/(2s²)) over the integers.
// By Jacobi's triple product Θ(c) ∝ Π_j (1 + 2r^(2j-1)·cos 2πc + r^(4j-2)), whose factors lie
// between (1 - r^(2j-1))² and (1 + r^(2j-1))². So ln Θ varies by at most 4·Σ_j artanh(r^(2j-1)). A
// and v are at least 1/4, so s² >= 1/8 and r <= e^(-π²/4) < 0.085; with artanh(y) <= y/(1-y²) and
// Σ_j r^(2j-1) = r/(1-r²) that is at most 4r/(1-r²)² <= 4.06·r < 5r. If the law of the parts so far
// is N_Z(0, A)·e^h with h in an interval, its convolution with N_Z(0, v) is that of N_Z(0, A) times
// a mean of e^h, in the same interval. So the intervals' lengths add up, to 5·Σ r = τ/2 at most.
// Both are probability laws, so h takes both signs or is 0, and |h| <= τ/2.
func closeness(s Carried) float64 {
	tau, before := 0.0, 0.0 // the variance of the parts before, of all sites
	for _, p := range s.Kept {
		v := p.Sigma.Float() * p.Sigma.Float()
		for k := range s.Honest {
			all := before + float64(k)*v
			if all == 0 {
				continue // the first of all
			}
			x := 2 * math.Pi * math.Pi * v * (all / (all + v))
			if x > 700 { // and so of all others of this part
				tau += float64(s.Honest-k) * 0x1p-1000 // an underflow is not free
				break
			}
			tau += max(math.Exp(-x), 0x1p-1000)
		}
		before += float64(s.Honest) * v
	}
	// Fewer than 2^7 parts (NewShare has 104 at most): A·v/(A+v) is off by less than 2^-45 of it,
	// and so exp(-x), x <= 700, by less than 2^-35; at most 2^23 additions lose less than 2^-29.
	return 10 * tau * (1 + 0x1p-28)
}

// close reports whether closeness bounds the sum: whether it has one discrete Gaussian, or only
// wide ones.
func (s Carried) close() bool {
	if s.Honest*len(s.Kept) == 1 {
		return true
	}
	for _, p := range s.Kept {
		if p.Sigma < closeSigma {
			return false
		}
	}
	return true
}

// valid reports whether the sum has noise, within the bounds of NewShare.
func (s Carried) valid() bool {
	for _, p := range s.Kept {
		if p.Sigma == 0 || p.Sigma > maxSigma*sigmaStep {
			return false
		}
	}
	return len(s.Kept) > 0 && len(s.Kept) < 1<<7 && s.Honest >= 1 && s.Honest <= maxHonest
}

// DistributedRho is the ρ of zCDP of an integer query of L2 sensitivity Δ, in grid units, with the
// noise of s on each of its values. Whatever is added to such a sum, the noise of further sites
// above all, is postprocessing. It is the least of three bounds, with a = Δ²/V for the sum's
// variance V, v the widest part's, d = values and τ the closeness bound, 0 for one part of one site
// (Kairouz, Liu, Steinke 2021, proposition 14):
//
//	a/2 + τd,  (√a + τ√d)²/2,  Δ²/(2v).
//
// The first: the loss of a step Δ_j in one coordinate is the discrete Gaussian's, linear in z, plus
// at most τ. The law is a sum of discrete Gaussians, so E exp(tz) <= exp(t²V/2) (CKS). Hence D_α <=
// αa_j/2 + τ, over independent coordinates αa/2 + τd <= α(a/2 + τd).
//
// The second: the law and N_Z(0, V) differ by a factor within e^(±τ/2), which is (τ/2)²/2-zCDP.
// From the law to the discrete Gaussian, to its shift, to the law's shift the √(2ρ) add up (Bun and
// Steinke 2016, group privacy): √a_j + τ a coordinate, and Σ_j(√a_j + τ)² <= (√a + τ√d)².
//
// The third takes one part of one site for all the noise; it alone holds where a σ is below 1/2.
// Rounded up, so never below a/2, what one discrete Gaussian of that variance costs. Parameters
// outside their bounds (those of NewShare, values >= 1, Δ positive and finite) cost +Inf: more than
// any budget.
func DistributedRho(sensitivity float64, s Carried, values int) float64 {
	if !(sensitivity > 0) || math.IsInf(sensitivity, 1) || !s.valid() || values < 1 {
		return math.Inf(1)
	}
	widest := Sigma(0)
	for _, p := range s.Kept {
		widest = max(widest, p.Sigma)
	}
	// rounds up by enough for a part above 2^53, whose float64 is the nearest
	one := RhoOf(sensitivity, widest.Float())
	if s.Honest*len(s.Kept) == 1 || !s.close() {
		return one
	}
	w, d := widest.Float(), float64(values)
	half, tau := one*(w*w/(float64(s.Honest)*s.Kept.Variance())), closeness(s)
	root := math.Sqrt(2*half) + tau*math.Sqrt(d)
	const up = 1 + 256*0x1p-53 // above all roundings of these lines, of fewer than 2^7 parts
	return min((half+tau*d)*up, root*root/2*up, one)
}

package graph

import "math"

// logFactorials is ln k! for k = 0, 1, …: what the exact tails below are made of. All
// probabilities are in natural logs, -Inf for what cannot happen. A pmf is good to about
// 1e-11 relative (differences of values up to 10^6, each to an ulp); the sums have terms
// of one sign. The package's comment has why that much does not matter.
type logFactorials []float64

func newLogFactorials(n int) logFactorials {
	lf := make(logFactorials, n+1)
	for k := range lf {
		lf[k], _ = math.Lgamma(float64(k) + 1)
	}
	return lf
}

// choose is ln C(n, k).
func (lf logFactorials) choose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	return lf[n] - lf[k] - lf[n-k]
}

// drawn is ln P(X = x) for X marked of a sample of k, without replacement, of n of which
// marked are.
func (lf logFactorials) drawn(n, marked, k, x int) float64 {
	return lf.choose(marked, x) + lf.choose(n-marked, k-x) - lf.choose(n, k)
}

// drawnAtLeast is ln P(X >= x) of the same X: the first term and its exact ratios upwards.
func (lf logFactorials) drawnAtLeast(n, marked, k, x int) float64 {
	low, high := max(0, k+marked-n), min(k, marked)
	if x <= low {
		return 0
	}
	if x > high {
		return math.Inf(-1)
	}
	first, term, sum := lf.drawn(n, marked, k, x), 1.0, 1.0
	for ; x < high; x++ {
		term *= float64(k-x) * float64(marked-x) / (float64(x+1) * float64(n-k-marked+x+1))
		sum += term
		if term < sum*1e-18 {
			break // past the mode, where terms fall: the others are below 10^-13 of sum
		}
	}
	return min(0, first+math.Log(sum))
}

// binomial is ln P(X = x) of n trials.
func (lf logFactorials) binomial(n int, p float64, x int) float64 {
	switch {
	case x < 0 || x > n, p <= 0 && x > 0, p >= 1 && x < n:
		return math.Inf(-1)
	case p <= 0 || p >= 1:
		return 0
	}
	return lf.choose(n, x) + float64(x)*math.Log(p) + float64(n-x)*math.Log1p(-p)
}

// binomialAtLeast is ln P(X >= x) of n trials.
func (lf logFactorials) binomialAtLeast(n int, p float64, x int) float64 {
	switch {
	case x <= 0 || p >= 1 && x <= n:
		return 0
	case x > n || p <= 0:
		return math.Inf(-1)
	}
	first, term, sum := lf.binomial(n, p, x), 1.0, 1.0
	for odds := p / (1 - p); x < n; x++ {
		term *= float64(n-x) / float64(x+1) * odds
		sum += term
		if term < sum*1e-18 {
			break
		}
	}
	return min(0, first+math.Log(sum))
}

// binomialBelow is ln P(X < x) of n trials.
func (lf logFactorials) binomialBelow(n int, p float64, x int) float64 {
	return lf.binomialAtLeast(n, 1-p, n-x+1)
}

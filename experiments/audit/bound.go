package main

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"covey/internal/noise"
)

// upper is the Clopper-Pearson upper bound on a probability of which k of n trials were seen: it
// is below the true one with probability at most miss.
func upper(k, n int, miss float64) float64 {
	if k >= n {
		return 1
	}
	return mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-miss)
}

// muBound is a lower bound on μ of a mechanism that is μ-GDP, from a test that took wrongA of nA
// runs of one data set for the other's, and wrongB of nB the other way round (Nasr et al. 2023,
// section 4): μ-GDP allows no test with Φ^-1(1-α) - Φ^-1(β) > μ (Dong, Roth, Su 2022). Each error
// is bounded at half of miss, so the bound is above μ with probability at most miss. At least 0.
func muBound(wrongA, nA, wrongB, nB int, miss float64) float64 {
	a, b := upper(wrongA, nA, miss/2), upper(wrongB, nB, miss/2)
	if a >= 1 || b >= 1 {
		return 0
	}
	return max(0, -mathext.NormalQuantile(a)-mathext.NormalQuantile(b))
}

// epsilonOf returns the ε at δ of a mechanism that is μ-GDP and no better.
func epsilonOf(mu, delta float64) float64 {
	if mu <= 0 {
		return 0
	}
	e, err := noise.AnalyticEpsilon(mu, 1, 1, delta)
	if err != nil {
		return math.NaN() // no claim is met then
	}
	return e
}

// muOf returns the μ of a Gaussian mechanism that is ρ-zCDP.
func muOf(rho float64) float64 { return math.Sqrt(2 * rho) }

package noise

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactRefused is exp(-(√L-√ρ)²), L = 64 ln 2, in 200 bits.
func exactRefused(rho float64) *big.Float {
	ln2, _ := new(big.Float).SetPrec(300).SetString("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754")
	l := new(big.Float).SetPrec(300).Mul(ln2, big.NewFloat(64))
	r := new(big.Float).SetPrec(300).SetFloat64(rho)
	root := new(big.Float).SetPrec(300).Sub(new(big.Float).SetPrec(300).Sqrt(l), new(big.Float).SetPrec(300).Sqrt(r))
	return bigExp(root.Mul(root, root))
}

// TestRefusedByNeighborIsRoundedUp: never below the bound worked out in 200 bits, and within 2^-37
// of it.
func TestRefusedByNeighborIsRoundedUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 2000 {
		rho := math.Exp2(rng.Float64()*57 - 55)
		if i == 0 {
			rho = 0
		}
		if rho > maxRefused {
			continue
		}
		got, want := new(big.Float).SetFloat64(RefusedByNeighbor(rho)), exactRefused(rho)
		if got.Cmp(want) < 0 {
			t.Fatalf("ρ = %v: %v is below %v", rho, got, want)
		}
		if most := new(big.Float).Mul(want, big.NewFloat(1+0x1p-37)); got.Cmp(most) > 0 {
			t.Fatalf("ρ = %v: %v is far above %v", rho, got, want)
		}
	}
	for _, rho := range []float64{4.001, 100, math.Inf(1), math.NaN(), -1} {
		if v := RefusedByNeighbor(rho); v != 1 {
			t.Errorf("ρ = %v: %v", rho, v)
		}
	}
}

// TestRefusedByNeighborCoversTheLaws: the most powerful test of its size between the law and the
// law shifted by Δ, an upper set of the likelihood ratio (Neyman and Pearson), exactly for the
// discrete Gaussian and by Φ for the Gaussian, is within the bound.
func TestRefusedByNeighborCoversTheLaws(t *testing.T) {
	for _, c := range []struct{ sigma, shift float64 }{
		{0.4, 1}, {0.7, 1}, {1, 1}, {1, 3}, {2, 1}, {3, 2}, {5, 1}, {5, 20}, {10, 30}, {40, 12},
	} {
		weight := func(x float64) float64 { return math.Exp(-x * x / (2 * c.sigma * c.sigma)) }
		total := 0.0
		for x := -40 * c.sigma; x <= 40*c.sigma; x++ {
			total += weight(math.Round(x))
		}
		// The set {x >= at} of the least at whose probability is FalseReject at most.
		tail := func(at int) float64 { // summed from the smallest
			sum := 0.0
			for x := at + int(60*c.sigma) + 60; x >= at; x-- {
				sum += weight(float64(x))
			}
			return sum / total
		}
		at := 0
		for tail(at) > FalseReject {
			at++
		}
		power, bound := tail(at-int(c.shift)), RefusedByNeighbor(RhoOf(c.shift, c.sigma))
		if power > bound {
			t.Errorf("σ = %v, Δ = %v: refused with %v, the bound is %v", c.sigma, c.shift, power, bound)
		}
	}
	// Φ^-1(FalseReject), by halving.
	lo, hi := -20.0, 0.0
	for range 100 {
		if mid := (lo + hi) / 2; math.Erfc(-mid/math.Sqrt2)/2 < FalseReject {
			lo = mid
		} else {
			hi = mid
		}
	}
	for mu := 0.01; mu*mu/2 < maxRefused; mu *= 1.1 {
		gauss, bound := math.Erfc(-(lo+mu)/math.Sqrt2)/2, RefusedByNeighbor(mu*mu/2)
		if gauss > bound {
			t.Errorf("μ = %v: the Gaussian is refused with %v, the bound is %v", mu, gauss, bound)
		}
		if mu <= 2 && bound > 2*gauss {
			t.Errorf("μ = %v: the bound %v is more than twice the Gaussian's %v", mu, bound, gauss)
		}
	}
}

// TestBudgetRefusals: no split of a population's ρ over budgetQueries queries costs more than is
// set aside for it.
func TestBudgetRefusals(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 3000 {
		rho := math.Exp2(rng.Float64()*20 - 15)
		sum, left := 0.0, rho
		count := 1 + rng.IntN(budgetQueries)
		for k := range count {
			part := min(left, maxRefused)
			if k < count-1 {
				switch rng.IntN(4) {
				case 0:
					part = min(part, left/float64(count-k))
				case 1:
					part *= rng.Float64()
				case 2:
					part = min(left, 0.006*rng.Float64())
				}
			}
			sum += RefusedByNeighbor(part)
			left -= part
		}
		if most := budgetRefusals(rho); sum > most {
			t.Fatalf("ρ = %v in %d queries is refused with %v, set aside is %v", rho, count, sum, most)
		}
	}
	for x := 0x1p-20; x <= maxRefused; x *= 1.01 { // the inequality itself
		for y := x; y <= maxRefused; y *= 1.5 {
			if f, chord := RefusedByNeighbor(x), 3*FalseReject+RefusedByNeighbor(y)*x/y; f > chord*(1+1e-10) {
				t.Fatalf("f(%v) = %v is above %v with ρ = %v", x, f, chord, y)
			}
		}
	}
}

// TestBudgetRho: what a population's budget allows fits with what is refused, and loses nothing
// that shows by it.
func TestBudgetRho(t *testing.T) {
	for _, c := range []struct{ eps, delta, least float64 }{
		{1, 1e-6, 1 - 1e-7}, {3, 1e-6, 1 - 1e-7}, {20, 1e-6, 0.999}, {30, 1e-6, 0.999}, {1, 1e-15, 0.9}, {100, 1e-6, 0.99}, {1000, 0.9, 0.99},
	} {
		rho, err := ZCDP.BudgetRho(c.eps, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := ZCDP.Rho(c.eps, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Epsilon(rho, c.delta-budgetRefusals(rho)); err != nil || got > c.eps {
			t.Errorf("(%v, %v): ρ = %v has ε = %v, %v", c.eps, c.delta, rho, got, err)
		}
		if rho > plain || rho < c.least*plain {
			t.Errorf("(%v, %v): ρ = %v, without refusals %v", c.eps, c.delta, rho, plain)
		}
		if eps, err := ZCDP.BudgetEpsilon(rho, c.delta); err != nil || eps > c.eps*(1+1e-12) || eps < c.eps*(1-1e-12) {
			t.Errorf("(%v, %v): ρ = %v has room in ε = %v, %v", c.eps, c.delta, rho, eps, err)
		}
		t.Logf("figure: (%g, %g): ρ = %.6g, without refusals %.6g", c.eps, c.delta, rho, plain)
	}
	if _, err := ZCDP.BudgetRho(1, 1e-16); err == nil {
		t.Error("a δ that the checks use up is a budget")
	}
}

package noise

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exactDelta is δ at ε of a mechanism that releases, by a first query, N_Z(f, σ²) with f moved by
// Δ, and by each further query of then, which may depend on the first's outcome, the same: the sum
// over all outcomes of max(0, P - e^ε·Q), by the law of the privacy loss. A query's loss is linear
// in its noise x: Δ(2x + Δ)/(2σ²).
func exactDelta(eps float64, first query, then func(x int) []query) float64 {
	sum := 0.0
	for x, p := range first.law() {
		sum += p * restDelta(eps-first.loss(x), then(x))
	}
	return sum
}

// restDelta is δ at ε of queries whose parameters do not depend on outcomes.
func restDelta(eps float64, queries []query) float64 {
	if len(queries) == 0 {
		return max(0, -math.Expm1(eps))
	}
	// equal queries: their losses add up, linear in the sum of their noise
	q, same := queries[0], 0
	for same < len(queries) && queries[same] == q {
		same++
	}
	sum := 0.0
	for x, p := range convolved(q, same) {
		loss := float64(q.shift) * (2*float64(x) + float64(same)*float64(q.shift)) / (2 * q.sigma * q.sigma)
		sum += p * restDelta(eps-loss, queries[same:])
	}
	return sum
}

type query struct {
	shift int
	sigma float64
}

func (q query) loss(x int) float64 {
	return float64(q.shift) * (2*float64(x) + float64(q.shift)) / (2 * q.sigma * q.sigma)
}

func (q query) rho() float64 { return BridgeRho(float64(q.shift), q.sigma) }

// law is N_Z(0, σ²) to beyond 10^-25.
func (q query) law() map[int]float64 {
	out, total, reach := map[int]float64{}, 0.0, int(11*q.sigma)
	for x := -reach; x <= reach; x++ {
		out[x] = math.Exp(-float64(x) * float64(x) / (2 * q.sigma * q.sigma))
	}
	for x := reach; x >= 0; x-- {
		total += out[x]
		if x > 0 {
			total += out[-x]
		}
	}
	for x := range out {
		out[x] /= total
	}
	return out
}

// convolved is the law of the sum of n independent draws of N_Z(0, σ²).
func convolved(q query, n int) map[int]float64 {
	one := q.law()
	sum := one
	for range n - 1 {
		next := map[int]float64{}
		for x, p := range sum {
			if p < 1e-25 {
				continue
			}
			for y, r := range one {
				next[x+y] += p * r
			}
		}
		sum = next
	}
	return sum
}

// TestBridgeCoversCompositions: against the discrete law's exact δ, summed outcome by outcome, of 1
// to 12 queries: the bridge's is never below, and by no more above than r² takes off σ².
func TestBridgeCoversCompositions(t *testing.T) {
	tight := 0
	for _, c := range []struct {
		query
		rounds int
	}{{query{1, 5}, 1}, {query{7, 10}, 1}, {query{3, 6}, 2}, {query{2, 8}, 12}, {query{20, 45}, 5}, {query{1, 20}, 6}, {query{30, 30}, 2}, {query{64, 45}, 1}} {
		law := convolved(c.query, c.rounds)
		for _, eps := range []float64{0, 0.1, 0.5, 1, 3, 8} {
			exact := 0.0
			for x, p := range law {
				loss := float64(c.shift) * (2*float64(x) + float64(c.rounds*c.shift)) / (2 * c.sigma * c.sigma)
				exact += p * max(0, -math.Expm1(eps-loss))
			}
			rho := float64(c.rounds) * c.rho()
			bound := gaussianDelta(rho, eps)
			if exact < 1e-13 {
				continue
			}
			if bound < exact*(1-1e-12) {
				t.Errorf("%d of %+v at ε = %v: δ = %v, the bridge has %v", c.rounds, c.query, eps, exact, bound)
			}
			// The whole difference is that of ρ's σ² - r² to σ².
			if most := AnalyticDelta(1, 1/math.Sqrt(2*rho*(1+1e-3)), 1, eps); bound > most {
				t.Errorf("%d of %+v at ε = %v: the bridge has %v, a Gaussian of σ² - r² %v", c.rounds, c.query, eps, bound, most)
			}
			if exact > AnalyticDelta(float64(c.shift), c.sigma, c.rounds, eps)*(1+1e-9) {
				tight++ // the curve without the bridge is no bound
			}
		}
	}
	if tight == 0 {
		t.Error("no case needs the bridge")
	}
}

// TestFilter: charges that add up to ρ on every path, where the first outcome chooses what is asked
// next, are within ρ's δ.
func TestFilter(t *testing.T) {
	first := query{3, 6}
	// by the sign of the first noise one wide step, two, or none: all of the budget or less of it
	paths := map[int][]query{-1: {{8, 16}}, 0: nil, 1: {{4, 12}, {4, 12}}}
	most := 0.0
	for _, path := range paths {
		rho := first.rho()
		for _, q := range path {
			rho += q.rho()
		}
		most = max(most, rho)
	}
	then := func(x int) []query {
		switch {
		case x < 0:
			return paths[-1]
		case x > 2:
			return paths[1]
		}
		return paths[0]
	}
	for _, eps := range []float64{0, 0.2, 0.7, 1.5, 3} {
		if exact, bound := exactDelta(eps, first, then), gaussianDelta(most, eps); exact > bound*(1+1e-12) || exact == 0 {
			t.Errorf("ε = %v: δ = %v of an adaptive study, its filter has %v", eps, exact, bound)
		}
	}
}

// TestBridgeOfShares: a sum of shares, exactly convolved, is within the bridge of its σ².
func TestBridgeOfShares(t *testing.T) {
	for _, c := range []struct {
		share  float64
		honest int
		shift  int
	}{{3, 3, 5}, {2.5, 8, 4}, {4, 2, 9}} {
		law := convolved(query{0, c.share}, c.honest)
		share, err := SigmaAtLeast(c.share)
		if err != nil {
			t.Fatal(err)
		}
		sum := alike(share, c.honest)
		kappa := BridgeKappa(1, sum)
		if want := closeness(sum) / 2; kappa < want || kappa > 1.01*want {
			t.Errorf("%+v: K = %v, τ/2 is %v", c, kappa, want)
		}
		rho := BridgeRho(float64(c.shift), c.share*math.Sqrt(float64(c.honest)))
		for _, eps := range []float64{0, 0.3, 1, 2} {
			exact := 0.0
			for x, p := range law {
				exact += max(0, p-math.Exp(eps)*law[x+c.shift])
			}
			// e^K·δ(ε - 2K)
			if bound := math.Exp(kappa) * gaussianDelta(rho, max(0, eps-2*kappa)); exact > bound*(1+1e-12) {
				t.Errorf("%+v, ε = %v: δ = %v, the bridge has %v", c, eps, exact, bound)
			}
		}
	}
}

// TestPartsOfOneSite: what one honest site adds in parts is no discrete Gaussian: where a part is
// narrow nothing bounds how far from one it is.
func TestPartsOfOneSite(t *testing.T) {
	narrow, wide := Part{Most: 5, Sigma: closeSigma - 1}, Part{Most: 4, Sigma: narrowest}
	if v := BridgeKappa(1, Carried{Share{narrow}, 1}); v > MaxKappa {
		t.Errorf("one part of one site has K = %v", v)
	}
	if v := BridgeKappa(1, Carried{Share{narrow, wide}, 1}); !math.IsInf(v, 1) {
		t.Errorf("a narrow part and another have K = %v", v)
	}
}

// TestKappa: the normalization of N_Z(x, r²) varies with x by e^(4q) and by less than e^(5q), q =
// exp(-2π²r²); BridgeKappa has 5q of r = 4 a coordinate.
func TestKappa(t *testing.T) {
	z := func(x, r float64) float64 {
		sum := 0.0
		for k := -40.0; k <= 40; k++ {
			sum += math.Exp(-(k - x) * (k - x) / (2 * r * r))
		}
		return sum
	}
	for _, r := range []float64{0.5, 0.6, 0.7, 0.9, 1.1} {
		least, most := math.Inf(1), 0.0
		for x := 0.0; x <= 1; x += 1.0 / 64 {
			least, most = min(least, z(x, r)), max(most, z(x, r))
		}
		if osc, q := math.Log(most/least), math.Exp(-2*math.Pi*math.Pi*r*r); osc > 5*q || osc < 3.9*q {
			t.Errorf("r = %v: ln Z varies by %v, q = %v", r, osc, q)
		}
	}
	q := math.Exp(-32 * math.Pi * math.Pi)
	for _, values := range []int{1, 512, 2_100_000} {
		for _, one := range []Carried{{}, alike(1, 1)} { // one share is one discrete Gaussian
			if k := BridgeKappa(values, one); k < 4.999*q*float64(values) || k > 5.001*q*float64(values) || k > MaxKappa {
				t.Errorf("%d values: K = %v", values, k)
			}
		}
	}
	for _, k := range []float64{
		BridgeKappa(0, alike(1, 1)), BridgeKappa(1, alike(1, 2)), BridgeKappa(1, alike(1<<20, maxHonest+1)), BridgeKappa(1, alike(1<<20, -1)),
		BridgeKappa(1, alike(0, 1)), BridgeKappa(1, Carried{Honest: 2}), BridgeKappa(1, Carried{Kept: alike(1<<20, 1).Kept}),
	} {
		if !math.IsInf(k, 1) {
			t.Errorf("K = %v without bounds", k)
		}
	}
	if 1<<20*MaxKappa > 0x1p-100 {
		t.Error("2^20 queries have more than what is reserved")
	}
}

// TestBridgeRhoIsRoundedUp: ρ·2(σ² - 16) >= Δ² in exact arithmetic, and hardly more; the multiplier
// for a ρ is charged no more than it.
func TestBridgeRhoIsRoundedUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d, s := math.Exp(rapid.Float64Range(-3, 20).Draw(r, "log Δ")), 4+math.Exp(rapid.Float64Range(-20, 30).Draw(r, "log σ-4"))
		square := exact(s)
		square.Mul(square, exact(s)).Sub(square, exact(16)).Mul(square, exact(2*BridgeRho(d, s)))
		least := exact(d)
		least.Mul(least, exact(d))
		if square.Cmp(least) < 0 || square.Cmp(least.Mul(least, exact(1+1e-14))) > 0 {
			r.Fatalf("BridgeRho(%v, %v) = %v", d, s, BridgeRho(d, s))
		}
		rho := math.Exp(rapid.Float64Range(-20, 4).Draw(r, "log ρ"))
		wide := 100 + d
		if m := BridgeMultiplier(rho, wide); BridgeRho(wide, m*wide) > rho || BridgeRho(wide, m*wide*(1-1e-13)) < rho*(1-1e-10) {
			r.Fatalf("σ/Δ = %v for ρ = %v is charged %v", m, rho, BridgeRho(wide, m*wide))
		}
	})
	for _, s := range []float64{4, 3.9, 0, -5, math.NaN()} {
		if v := BridgeRho(1, s); !math.IsInf(v, 1) {
			t.Errorf("σ = %v has a bridge: %v", s, v)
		}
	}
}

// TestGDPAgainstReference: from an independent script: never below the Gaussian's own ε.
func TestGDPAgainstReference(t *testing.T) {
	for _, row := range table(t, "accountant.csv") {
		sigma, rounds, delta, analytic, zcdp := row[0], row[1], row[2], row[3], row[4]
		got, err := GDP.Epsilon(rounds*RhoOf(1, sigma), delta)
		if err != nil || got < analytic*(1-1e-11) || got > analytic*(1+1e-9) || got > zcdp {
			t.Errorf("σ=%v T=%v δ=%v: ε = %.13g, want %.13g (%v)", sigma, rounds, delta, got, analytic, err)
		}
	}
}

// TestGDPRoundsUp: 30 digits of δ: gaussianDelta is never below, and hardly above.
func TestGDPRoundsUp(t *testing.T) {
	for _, row := range table(t, "gdp.csv") {
		rho, eps, want := row[0], row[1], row[2]
		if got := gaussianDelta(rho, eps); got < want || got > want*(1+1e-6) {
			t.Errorf("ρ = %v, ε = %v: δ = %.17g, want %.17g, not less", rho, eps, got, want)
		}
	}
}

// TestGDPSavesNoise: at (1, 10^-6) zCDP needs 1.0725 times the noise.
func TestGDPSavesNoise(t *testing.T) {
	zcdp, err := ZCDP.Rho(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	gdp, err := GDP.Rho(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := SigmaFor(zcdp, 1) / BridgeMultiplier(gdp, 0x1p17); math.Abs(ratio-1.0725) > 5e-5 {
		t.Errorf("zCDP has %v times the noise", ratio)
	}
}

// TestGDPIsMonotone: ε grows with ρ and as δ shrinks, is zCDP's at most, and what is converted
// there and back never gains.
func TestGDPIsMonotone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		eps := math.Exp(rapid.Float64Range(-4.6, 4.6).Draw(r, "log ε"))
		delta := math.Pow(10, -rapid.Float64Range(0.1, 15).Draw(r, "exponent"))
		rho, err := GDP.Rho(eps, delta)
		if err != nil {
			r.Fatal(err)
		}
		old, err := ZCDP.Rho(eps, delta)
		if err != nil || old > rho {
			r.Fatalf("zCDP allows ρ = %v, GDP %v (%v)", old, rho, err)
		}
		back, err := GDP.Epsilon(rho, delta)
		if err != nil || back > eps*(1+1e-12) || back < eps*(1-1e-8) {
			r.Fatalf("ε = %v gives ρ = %v, which gives ε = %v (%v)", eps, rho, back, err)
		}
		if more, err := GDP.Epsilon(rho*1.01, delta); err != nil || more <= back {
			r.Fatalf("ε does not grow with ρ: %v, then %v (%v)", back, more, err)
		}
		if less, err := GDP.Epsilon(rho, delta/2); err != nil || less <= back {
			r.Fatalf("ε does not grow as δ shrinks: %v, then %v (%v)", back, less, err)
		}
		aside := func(float64) float64 { return delta / 3 }
		part, err := GDP.RhoLess(eps, delta, aside)
		if err != nil || part >= rho {
			r.Fatalf("ρ = %v with a third of δ set aside, %v without (%v)", part, rho, err)
		}
		if spent, err := GDP.Epsilon(part, delta*2/3); err != nil || spent > eps*(1+1e-12) {
			r.Fatalf("ρ = %v spends ε = %v of %v (%v)", part, spent, eps, err)
		}
		budget, err := GDP.BudgetRho(eps, delta)
		if err != nil {
			return // a δ that the checks use up
		}
		if spent, err := GDP.Epsilon(budget, delta-budgetRefusals(budget)); err != nil || spent > eps*(1+1e-12) || budget > rho {
			r.Fatalf("a budget of ρ = %v spends ε = %v of %v (%v)", budget, spent, eps, err)
		}
	})
	for _, rho := range []float64{0, 5e-324, 1e-200} {
		if e, err := GDP.Epsilon(rho, 1e-12); err != nil || e != 0 {
			t.Errorf("ρ = %v: ε = %v, %v", rho, e, err)
		}
	}
}

// TestSelectionIsGaussian: any choice of range ε0, of which the two-point ones are the worst, is
// within the δ of its charge, alone and after a discrete Gaussian's query.
func TestSelectionIsGaussian(t *testing.T) {
	q := query{3, 8}
	for _, e0 := range []float64{0.01, 0.3, 1, 2.5, 6} {
		rat := new(big.Rat).SetFloat64(e0)
		rho := GDP.SelectRho(rat)
		if want := math.Pi / 16 * e0 * e0; rho < want || rho > want*(1+1e-6) || rho < ZCDP.SelectRho(rat) {
			t.Errorf("ε0 = %v costs %v, π/16 of its square is %v", e0, rho, want)
		}
		for i := 1; i < 40; i++ {
			high := e0 * float64(i) / 40
			// losses high and high - ε0: Q has mass b on the first, P a
			b := -math.Expm1(high-e0) / (math.Exp(high) - math.Exp(high-e0))
			a := b * math.Exp(high)
			for _, eps := range []float64{0, 0.1, 0.5, 1, 2, 4} {
				alone := a*max(0, -math.Expm1(eps-high)) + (1-a)*max(0, -math.Expm1(eps-high+e0))
				if bound := gaussianDelta(rho, eps); alone > bound*(1+1e-12) {
					t.Errorf("ε0 = %v, losses %v and %v: δ(%v) = %v, charged is %v", e0, high, high-e0, eps, alone, bound)
				}
				if i%8 == 0 {
					both := a*restDelta(eps-high, []query{q}) + (1-a)*restDelta(eps-high+e0, []query{q})
					if bound := gaussianDelta(rho+q.rho(), eps); both > bound*(1+1e-12) {
						t.Errorf("ε0 = %v, losses %v and %v, and a query: δ(%v) = %v, charged is %v", e0, high, high-e0, eps, both, bound)
					}
				}
			}
		}
	}
	for _, rho := range []float64{0x1p-42, 1e-6, 0.0014, 0.3, 40} {
		e0, err := GDP.SelectEpsilon(rho)
		if err != nil {
			t.Fatal(err)
		}
		next := new(big.Rat).Add(e0, big.NewRat(1, selectStep))
		if GDP.SelectRho(e0) > rho || GDP.SelectRho(next) <= rho {
			t.Errorf("ρ = %v buys ε0 = %v", rho, e0)
		}
	}
	if _, err := GDP.SelectEpsilon(0x1p-43); err == nil {
		t.Error("a ρ that buys nothing buys a choice")
	}
}

package study

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/test/texts"
)

// TestClosenessIsCharged: where shares are so narrow that their sum is not the law, the
// charge says so. (No proposal gives such shares: counts are scaled up for it.)
func TestClosenessIsCharged(t *testing.T) {
	const multiplier = 0.0015
	charge := func(accountant, by string) (Query, error) {
		p := mustPlan(t, texts.With(texts.Four, `noise = "`+by+`"`, `accountant = "`+accountant+`"`), 90_000, 90_000, 90_000, 90_000, 90_000)
		q := Query{Kind: KindHistogram, Of: KindPower, Values: HistogramBins, share: 1}
		return q, (&planner{p}).charge(&q, multiplier)
	}
	q, err := charge(proposal.AccountantZCDP, proposal.NoiseDistributed)
	alone := noise.RhoOf(1, multiplier)
	if err != nil || q.Rho < 1.1*alone {
		t.Errorf("ρ = %v is charged, one discrete Gaussian of σ is %v (%v)", q.Rho, alone, err)
	}
	if q, err := charge(proposal.AccountantZCDP, proposal.NoiseCentral); err != nil || q.Rho != alone {
		t.Errorf("ρ = %v is charged for central noise, which is one discrete Gaussian of %v (%v)", q.Rho, alone, err)
	}
	if _, err := charge(proposal.AccountantGDP, proposal.NoiseDistributed); err == nil {
		t.Error("shares too narrow for the bridge have one")
	}
}

// TestChargesMustFit: a plan whose charges add up to more than its (ε, δ) is none.
func TestChargesMustFit(t *testing.T) {
	p := mustPlan(t, texts.Four, 90_000, 90_000, 90_000)
	p.Queries[3].Rho *= 1.1
	if err := (&planner{p}).addCharges(); err == nil {
		t.Errorf("ρ = %v was accepted", p.Rho)
	}
}

// TestSharesAreTheProposals: what a proposal's keys say of the budget's parts is what the queries
// that they name are charged, together.
func TestSharesAreTheProposals(t *testing.T) {
	for _, extra := range [][]string{nil, {"norm_bound = \"private\"", `method = "covariance"`}} {
		p := mustPlan(t, texts.With(texts.Four, append(extra, `center = "private"`, "center_share = 0.1", `explained_variance = "private"`, "variance_share = 0.08", `accountant = "zcdp"`)...), 90_000, 90_000, 90_000)
		center, variance := 0.0, 0.0
		for _, q := range p.Queries {
			switch q.sum() {
			case KindMean:
				center += q.Rho
			case KindVariance, KindTotal:
				if len(extra) == 0 || q.Of != KindTotal { // a private norm bound's histogram is there without
					variance += q.Rho
				}
			}
		}
		if math.Abs(center/p.Rho-0.1) > 1e-9 || math.Abs(variance/p.Rho-0.08) > 1e-9 {
			t.Errorf("%v: the center costs %v of the budget, explained variance %v", extra, center/p.Rho, variance/p.Rho)
		}
	}
}

// TestSelectionIsCharged: a choice costs ε0²/8 of what it bought, no more and hardly less.
func TestSelectionIsCharged(t *testing.T) {
	p := mustPlan(t, texts.Studies["scale in a range"], 90_000, 90_000, 90_000)
	if q := p.Queries[0]; q.Kind != KindSelect || math.Abs(q.Rho/p.Rho-0.05) > 1e-3 {
		t.Errorf("%s costs %v of the budget", q.Kind, q.Rho/p.Rho)
	}
}

// TestTinyEpsilon: an ε whose noise nobody can draw at some radius, or no ring holds, is refused
// with its field, and of every other each query can be asked at all radii.
func TestTinyEpsilon(t *testing.T) {
	for _, spec := range []string{texts.Four, texts.With(texts.Four, `noise = "distributed"`), texts.With(texts.Four, `norm_bound = 1.0`, `method = "covariance"`), texts.With(texts.Four, `accountant = "zcdp"`)} {
		plans, refused := 0, 0
		for e := 1e-6; e > 1e-11; e *= 0.8 {
			p, err := plan(t, strings.NewReplacer("epsilon = 1.0", fmt.Sprintf("epsilon = %g", e), "delta = 1e-6", "delta = 1e-15").Replace(spec), 90_000, 90_000, 90_000, 90_000, 90_000)
			if bad, ok := errors.AsType[*proposal.FieldError](err); ok && (bad.Field == "epsilon" || bad.Field == "roster") { // the ring of shares
				refused++
				continue
			}
			if err != nil {
				t.Fatalf("ε = %g: %v", e, err)
			}
			plans++
			for _, q := range p.Queries {
				for _, radius := range []float64{1, 1.5, math.Nextafter(2, 1)} {
					if _, err := p.Noise.Sigma(q, radius); err != nil {
						t.Errorf("ε = %g: %s at radius %v: %v", e, q.Kind, radius, err)
					}
				}
			}
		}
		if plans == 0 || refused == 0 {
			t.Errorf("%d plans, %d refused", plans, refused)
		}
	}
}

// TestRingHoldsShares: with distributed noise all sites' shares are in the sum.
func TestRingHoldsShares(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		units := make([]int, rapid.IntRange(3, 40).Draw(r, "sites"))
		for i := range units {
			units[i] = rapid.IntRange(1, 1<<12).Draw(r, "units")
		}
		p := mustPlan(t, texts.With(texts.Four, `noise = "distributed"`, `explained_variance = "none"`), units...)
		for _, q := range p.Queries {
			per := 0x1p17 + 2
			if q.Kind.Definition().Counts {
				per = 256
			}
			sigma, err := p.Noise.Sigma(q, math.Nextafter(2, 1)) // R/g just below 2^17
			if err != nil {
				r.Fatal(err)
			}
			spread := sigma.Float() * math.Sqrt(float64(len(units))/float64(p.Honest))
			if need := float64(p.N)*per + 39.9*spread; need >= math.Ldexp(1, int(p.Bits)-1) {
				r.Fatalf("%s: a ring of %d bits cannot hold 2^%.2f", q.Kind, p.Bits, math.Log2(need))
			}
			if q.Kind.Definition().Counts && p.Noise.Sensitivity(q, 0) != 256*math.Sqrt2 {
				r.Fatalf("counts in units of 2^-8 have sensitivity %v", p.Noise.Sensitivity(q, 0))
			}
		}
	})
}

// TestEachRunHasItsRadius: what was read for one component is not in force for the next.
func TestEachRunHasItsRadius(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, "components = 2", `subspace = "deflation"`, "rounds = 1"), 90_000, 90_000, 90_000)
	c := p.Start()
	for i, want := range []bool{true, false, true} { // histogram, power, histogram
		a, err := p.NewAsk(c, i)
		if err != nil {
			t.Fatal(err)
		}
		noised := make([]int64, p.Queries[c.Query].Values)
		noised[len(noised)/2] = 1 << 30
		r, err := p.NewRelease(a, []int{0, 1, 2}, noised)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, nil); err != nil {
			t.Fatal(err)
		}
		if _, there := c.Radii[KindPower]; there != want {
			t.Errorf("after query %d a radius of power steps is in force: %v", i, there)
		}
	}
}

// TestPrincipalUnpacks: off-diagonal numbers travel times √2.
func TestPrincipalUnpacks(t *testing.T) {
	r := Release{Noised: []int64{2 << 40, int64(math.Round(math.Sqrt2 * (1 << 40))), 2 << 40}, Grid: 1, Units: 1 << 40}
	v, values, err := principal(r, 2, 2)
	if err != nil || math.Abs(values[0]-3) > 1e-9 || math.Abs(values[1]-1) > 1e-9 || math.Abs(math.Abs(v[0][0])-math.Sqrt2/2) > 1e-9 {
		t.Errorf("%v, %v, %v", v, values, err)
	}
}

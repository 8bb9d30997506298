package study

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/test/texts"
)

// sitesPlan is a study for units at s sites of five.
func sitesPlan(t *testing.T, text, s string) *Plan {
	t.Helper()
	return mustPlan(t, texts.With(text, "sites_per_unit = "+s), 90_000, 90_000, 90_000, 90_000, 90_000)
}

// lawful is a well-formed ask for the query of that index.
func lawful(t *testing.T, p *Plan, i int) Ask {
	t.Helper()
	q, c := p.Queries[i], p.Start()
	basis := make([]float64, p.D*p.D)
	for j := range p.D {
		basis[j*p.D+j] = 1
	}
	c.Query, c.Radii[q.Kind], c.X, c.Found = i, 2, basis[q.Run*p.D:][:p.columns(q)*p.D], nil
	if r, public := p.publicRadius(q.Kind); public {
		c.Radii[q.Kind] = r
	}
	if q.Kind == KindPower || q.Of == KindPower {
		c.Found = basis[:q.Run*p.D]
	}
	if p.Proposal.Spec.Center == proposal.CenterPrivate && (q.Kind != KindMean && q.Of != KindMean || q.Round > 0) && q.Kind != KindRows && q.Of != KindRows && q.Kind != KindOctaves {
		c.Center = make([]float64, p.D)
		if p.Proposal.Spec.Standardizes() {
			c.Scale = slices.Repeat([]float64{1}, p.D)
		}
	}
	if q.pictures() {
		c.Deviations = slices.Repeat([]float64{1}, p.K)
	}
	if p.form(q).scaled {
		c.Scale = slices.Repeat([]float64{1}, p.D)
	}
	if p.Proposal.Spec.Leveled() > 0 && p.Proposal.Spec.Center != proposal.CenterPairs {
		c.Center = make([]float64, p.D)
	}
	a, err := p.NewAsk(c, 0)
	if err == nil {
		err = p.Check(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSitesPerUnit: with a unit at s sites every query of every kind of study has s times the noise
// at the same charge, what an agent accepts included, and the ring has room for it.
func TestSitesPerUnit(t *testing.T) {
	for name, text := range texts.Studies {
		one, three := sitesPlan(t, text, "1"), sitesPlan(t, text, "3")
		if one.Digest == three.Digest {
			t.Fatalf("%s: the digest does not tell 1 from 3 sites", name)
		}
		if len(one.Queries) != len(three.Queries) || math.Abs(one.Rho/three.Rho-1) > 1e-12 {
			t.Fatalf("%s: %d and %d queries, ρ = %v and %v", name, len(one.Queries), len(three.Queries), one.Rho, three.Rho)
		}
		for i, q := range one.Queries {
			a, b := lawful(t, one, i), lawful(t, three, i)
			if q.Rho != three.Queries[i].Rho {
				t.Errorf("%s, %s of %s: charges %v and %v", name, q.Kind, q.Of, q.Rho, three.Queries[i].Rho)
			}
			if one.Noise.Chooses(one.Queries[i]) {
				continue // below
			}
			// σ of counts is in steps of 2^-10
			if ratio := b.Sigma.Float() / a.Sigma.Float(); !(ratio >= 3*(1-1e-4) && ratio <= 3*(1+1e-4)) {
				t.Errorf("%s, %s of %s: σ is %v times as much", name, q.Kind, q.Of, ratio)
			}
			if rho := noise.BridgeRho(3*one.Noise.Sensitivity(q, a.Radius), b.Sigma.Float()); rho > three.Queries[i].Rho {
				t.Errorf("%s, %s of %s: a unit at three sites costs %v and is charged %v", name, q.Kind, q.Of, rho, three.Queries[i].Rho)
			}
			if need := 40 * b.Sigma.Float(); need >= math.Ldexp(1, int(three.Bits)-1) {
				t.Errorf("%s, %s of %s: 40σ = %v does not fit %d bits", name, q.Kind, q.Of, need, three.Bits)
			}
			b.Sigma = a.Sigma
			if err := three.Check(b); err == nil {
				t.Errorf("%s, %s of %s: an agent takes the noise of a unit at one site", name, q.Kind, q.Of)
			}
		}
	}
}

// TestSelectAtSites: a unit at s sites changes each score by s at most, so a choice has range s·ε0,
// and that is what is charged.
func TestSelectAtSites(t *testing.T) {
	p := sitesPlan(t, texts.Studies["scale in a range"], "4")
	e, err := p.SelectEpsilon(0)
	if err != nil {
		t.Fatal(err)
	}
	span := new(big.Rat).Mul(e, big.NewRat(4, 1))
	if !p.Noise.Chooses(p.Queries[0]) || p.Curve().SelectRho(span) != p.Queries[0].Rho {
		t.Errorf("a range of 4·%v costs %v and is charged %v", e, p.Curve().SelectRho(span), p.Queries[0].Rho)
	}
	few := texts.With(texts.Studies["scale in a range"], "sites_per_unit = 3")
	if _, err := plan(t, few, 500, 500, 500); err == nil || !strings.Contains(err.Error(), "groups") {
		t.Errorf("too few groups for a third of ε0: %v", err)
	}
	if _, err := plan(t, texts.Studies["scale in a range"], 500, 500, 500); err != nil {
		t.Error(err)
	}
}

// TestPaperNoiseAtSites: the paper's own τ is of one row; of a unit at s sites it is s times that.
func TestPaperNoiseAtSites(t *testing.T) {
	text := texts.With(texts.Four, `profile = "paper"`, "lambda = 1.0", "rounds = 4")
	one, two := sitesPlan(t, text, "1"), sitesPlan(t, text, "2")
	if ratio := two.Paper.Tau / one.Paper.Tau; ratio != 2 || two.Rho != one.Rho {
		t.Errorf("τ is %v times as much, ρ = %v and %v", ratio, one.Rho, two.Rho)
	}
}

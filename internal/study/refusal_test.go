package study

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"covey/internal/noise"
	"covey/test/texts"
)

// refusedOf is what the checks of a plan's releases cost of δ: of each query exp(-(√(64 ln 2) -
// √ρ)²).
func refusedOf(p *Plan) float64 {
	sum := 0.0
	for _, q := range p.Queries {
		sum += math.Exp(-math.Pow(math.Sqrt(64*math.Ln2)-math.Sqrt(q.Rho), 2))
	}
	return sum
}

// TestRefusalsHaveTheirDelta: what the release checks may refuse comes out of δ, so that the
// charges fit into what is left of it. At δ = 10^-15, the least, that is a part that shows. A
// population's budget sets more aside, and a plan takes what it holds: neither more, nor less.
func TestRefusalsHaveTheirDelta(t *testing.T) {
	budget, err := noise.GDP.BudgetRho(2, 1e-15)
	if err != nil {
		t.Fatal(err)
	}
	for _, extra := range []string{"rounds = 10", "noise = \"distributed\""} {
		p := mustPlan(t, strings.Replace(texts.Minimal, "epsilon = 1.0\ndelta = 1e-6", "epsilon = 2.0\ndelta = 1e-15\n"+extra, 1), 1000, 2000, 3000)
		if p.Rho > budget || p.Rho < budget*(1-1e-9) {
			t.Errorf("%s: ρ = %v of a budget of %v", extra, p.Rho, budget)
		}
		aside := refusedOf(p)
		if aside < 1e-18 {
			t.Errorf("%v of 10^-15 would not show", aside)
		}
		if spent, err := p.Curve().Epsilon(p.Rho, 1e-15-aside); err != nil || spent > 2 {
			t.Errorf("%s: ε = %v at a δ of 10^-15 less %.3g, %v", extra, spent, aside, err)
		}
	}
}

// TestLargeEpsilon: what the checks cost is of each query's own charge, so that a large ε over many
// queries is not refused and hardly loses; where one query has it all, its noise is that of ρ = 4
// at least.
func TestLargeEpsilon(t *testing.T) {
	for _, c := range []struct {
		eps   float64
		extra string
		least float64 // of what (ε, δ) allow
	}{{8, "", 1 - 1e-6}, {20, "", 1 - 1e-3}, {27, "", 1 - 1e-3}, {60, "", 0.99}, {100, "rounds = 60", 0.99}, {100, "method = \"covariance\"", 0.077}} {
		p := mustPlan(t, strings.Replace(texts.Minimal, "epsilon = 1.0", "epsilon = "+strconv.FormatFloat(c.eps, 'g', -1, 64)+".0\n"+c.extra, 1), 1000, 2000, 3000)
		allowed, err := noise.GDP.Rho(c.eps, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if p.Rho > allowed || p.Rho < c.least*allowed {
			t.Errorf("ε = %v %s: ρ = %v of %v", c.eps, c.extra, p.Rho, allowed)
		}
		for _, q := range p.Queries {
			if q.Rho > 4 {
				t.Errorf("ε = %v %s: one %s costs ρ = %v", c.eps, c.extra, q.Kind, q.Rho)
			}
		}
		if spent, err := p.Curve().Epsilon(p.Rho, 1e-6-refusedOf(p)); err != nil || spent > c.eps {
			t.Errorf("ε = %v %s: spends %v, %v", c.eps, c.extra, spent, err)
		}
	}
}

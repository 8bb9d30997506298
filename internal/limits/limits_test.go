package limits

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/test/texts"
)

func planned(t fataler, epsilon, delta float64, extra string) *study.Plan {
	t.Helper()
	text := strings.Replace(texts.Minimal, "epsilon = 1.0\ndelta = 1e-6", fmt.Sprintf("epsilon = %v\ndelta = %v\n%s", epsilon, delta, extra), 1)
	body, err := texts.Propose(text, 1000, 2000, 3000)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

type fataler interface {
	Helper()
	Fatal(...any)
}

func budgetOf(epsilon, delta float64, accountant string) siteconfig.Population {
	return siteconfig.Population{Name: "people", Budget: &siteconfig.Budget{Epsilon: epsilon, Delta: delta, Accountant: accountant}}
}

var fresh = ledger.Population{Name: "people", GDP: true, Bridged: true}

// charged is a population after a study.
func charged(of ledger.Population, plan *study.Plan) ledger.Population {
	of.SpentRho += plan.Rho
	of.GDP = of.GDP && plan.Curve() == noise.GDP
	return of
}

// TestBudgetHoldsItsStudy: a population's budget of a study's own epsilon and delta takes it once
// and not twice, and what it took is within epsilon and delta with the checks of all releases.
func TestBudgetHoldsItsStudy(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		epsilon := math.Exp(rapid.Float64Range(math.Log(0.05), math.Log(12)).Draw(r, "log epsilon"))
		delta := math.Pow(10, -rapid.Float64Range(4, 12).Draw(r, "exponent"))
		accountant := rapid.SampledFrom([]string{"", "gdp", "zcdp"}).Draw(r, "accountant")
		extra := fmt.Sprintf("rounds = %d\nnoise = %q", rapid.IntRange(1, 200).Draw(r, "rounds"), rapid.SampledFrom([]string{"central", "distributed"}).Draw(r, "noise"))
		if rapid.Bool().Draw(r, "covariance") {
			extra = `method = "covariance"`
		}
		if accountant != "" {
			extra += fmt.Sprintf("\naccountant = %q", accountant)
		}
		plan := planned(r, epsilon, delta, extra)
		for _, budget := range []string{accountant, ""} {
			population := budgetOf(epsilon, delta, budget)
			b := Of(plan, population, fresh)
			if !b.Fits || b.More != 0 || b.Remedy != "" || b.LeftRho < 0 {
				r.Fatalf("accountant %q in a budget by %q: %+v", accountant, budget, b)
			}
			if again := Of(plan, population, charged(fresh, plan)); again.Fits || again.Remedy == "" {
				r.Fatalf("twice: %+v", again)
			}
		}
		if eps, err := plan.Curve().BudgetEpsilon(plan.Rho, delta); err != nil || eps > epsilon {
			r.Fatalf("it spends ε = %v, %v", eps, err)
		}
	})
}

// TestRemedy: the study that is said to fit does, and so does the refused one in the budget that is
// said to hold it.
func TestRemedy(t *testing.T) {
	would, raise := regexp.MustCompile(`a study of epsilon = (\S+) would fit`), regexp.MustCompile(`budget.epsilon to at least (\S+) in`)
	number := func(t *rapid.T, of *regexp.Regexp, text string) float64 {
		m := of.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s is not in %q", of, text)
		}
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	rapid.Check(t, func(r *rapid.T) {
		accountants := rapid.SampledFrom([]string{"gdp", "zcdp"})
		kind, budget := accountants.Draw(r, "study"), rapid.SampledFrom([]string{"", "gdp", "zcdp"}).Draw(r, "budget")
		extra := fmt.Sprintf("accountant = %q", kind)
		used := charged(fresh, planned(r, rapid.Float64Range(0.1, 0.9).Draw(r, "spent"), 1e-6, fmt.Sprintf("accountant = %q", accountants.Draw(r, "before"))))
		if rapid.Bool().Draw(r, "reserved") { // which counts like what is spent
			used.SpentRho, used.ReservedRho = 0, used.SpentRho
		}
		population := budgetOf(1.5, 1e-6, budget)
		delta := rapid.SampledFrom([]float64{1e-6, 1e-8}).Draw(r, "delta")
		plan := planned(r, rapid.Float64Range(2, 6).Draw(r, "epsilon"), delta, extra)
		b := Of(plan, population, used)
		if b.Fits {
			r.Fatalf("%+v", b)
		}
		smaller := number(r, would, b.Remedy)
		if fits := Of(planned(r, smaller, delta, extra), population, used); !fits.Fits {
			r.Fatalf("%s: %+v", b.Remedy, fits)
		}
		if more := Of(planned(r, smaller*1.02, delta, extra), population, used); more.Fits {
			r.Fatalf("%s: so does %+v", b.Remedy, more)
		}
		larger := number(r, raise, b.Remedy)
		if fits := Of(plan, budgetOf(larger, 1e-6, budget), used); !fits.Fits {
			r.Fatalf("%s: %+v", b.Remedy, fits)
		}
		if less := Of(plan, budgetOf(larger*0.98, 1e-6, budget), used); less.Fits {
			r.Fatalf("%s: so does %+v", b.Remedy, less)
		}
	})
}

// TestRefusalSaysWhatHelps: of a default study of a budget that is held to zcdp, the accountant
// makes room; of a cap in ρ, another cap; two numbers that differ never look equal.
func TestRefusalSaysWhatHelps(t *testing.T) {
	plan := planned(t, 1, 1e-6, "")
	b := Of(plan, budgetOf(1, 1e-6, "zcdp"), fresh)
	const want = `population "people": the study takes ρ = 0.0280145, and of 0.024356 there is 0.024356 left`
	if b.Fits || b.String() != want {
		t.Errorf("%s", b)
	}
	const helps = `at δ = 1e-06 a study of epsilon = 0.927 would fit; or set budget.epsilon to at least 1.08 in agent.toml, and run: agent reload; or set budget.accountant to "gdp" there`
	if b.Remedy != helps {
		t.Error(b.Remedy)
	}
	if both := charged(fresh, planned(t, 12, 1e-12, "")); Of(planned(t, 12, 1e-12, ""), budgetOf(12, 1e-12, ""), both).Remedy != "set a larger budget.delta in agent.toml, since no budget.epsilon at this one is enough, and run: agent reload" {
		t.Error(Of(planned(t, 12, 1e-12, ""), budgetOf(12, 1e-12, ""), both).Remedy)
	}
	held := fresh
	held.Bridged = false
	if now := Of(plan, budgetOf(1, 1e-6, ""), held); now.Fits || now.Remedy != helps {
		t.Errorf("a budget on record grew by itself: %+v", now)
	}
	if now := Of(plan, budgetOf(1, 1e-6, "gdp"), held); !now.Fits {
		t.Errorf("%+v", now)
	}
	spent := charged(fresh, planned(t, 0.1, 1e-6, `accountant = "zcdp"`))
	if mixed := Of(plan, budgetOf(1, 1e-6, "gdp"), spent); mixed.Fits || mixed.Curve != "zcdp" || strings.Contains(mixed.Remedy, "accountant") {
		t.Errorf("after a study by zcdp: %+v", mixed)
	}
	if none := Of(plan, siteconfig.Population{Name: "people", CapRho: 0.028}, fresh); none.Fits || !strings.Contains(none.Remedy, "set cap_rho to at least 0.0281 in") {
		t.Errorf("%+v", none)
	}
	full := fresh
	full.SpentRho = 1
	if over := Of(plan, budgetOf(1, 1e-6, ""), full); over.Fits || strings.Contains(over.Remedy, "would fit") || !strings.Contains(over.String(), "there is 0 left") {
		t.Errorf("%+v", over)
	}
	if a, b := Apart(0.028014481912586, 0.028014481910803); a != "0.028014481913" || b != "0.028014481911" {
		t.Errorf("%s and %s", a, b)
	}
}

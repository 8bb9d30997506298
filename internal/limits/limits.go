// Package limits holds a study against what a site allows: the budget of its population, the total
// of its proposer, and the rules of the policy. It shows where a study stands; the ledger's own
// transaction is what keeps a budget.
package limits

import (
	"fmt"

	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

// Study is a study at a site, under a configuration.
type Study struct {
	Plan    *study.Plan
	Self    int // roster index
	Ledger  *ledger.Ledger
	Config  *siteconfig.Config
	Dataset siteconfig.Dataset
}

// Budget is a population's budget before and after a study, in ρ.
type Budget struct {
	Population string  `json:"population"`
	CapRho     float64 `json:"cap_rho"` // by Curve
	// zcdp, or gdp where all charges and the study's have the bridge; none of a cap given in ρ
	Curve       string  `json:"curve,omitempty"`
	SpentRho    float64 `json:"spent_rho"`
	ReservedRho float64 `json:"reserved_rho"` // by other approved studies
	StudyRho    float64 `json:"study_rho"`
	LeftRho     float64 `json:"left_rho"` // after the study; below 0 if it does not fit
	Fits        bool    `json:"fits"`
	// More is how many studies of this charge could follow it, at most maxMore.
	More int `json:"more"`
}

// maxMore bounds what is counted of studies to come.
const maxMore = 999

// Budget returns the budget as an approval now would find it.
func (s Study) Budget() Budget {
	b := Budget{Population: s.Dataset.Population, StudyRho: s.Plan.Rho}
	used := ledger.Population{GDP: true}
	for _, p := range s.Ledger.Populations() {
		if p.Name == b.Population {
			used = p
			b.SpentRho, b.ReservedRho = p.SpentRho, p.ReservedRho
		}
	}
	gdp := s.Plan.Curve() == noise.GDP
	population, ok := s.Config.Population(s.Dataset.Population)
	if ok {
		b.CapRho, b.Curve = Cap(population, used, gdp)
	}
	if e, ok := s.Ledger.Study(s.Plan.Digest); ok {
		// Its own part is not counted twice.
		b.SpentRho -= e.SpentRho
		b.ReservedRho -= e.ReservedRho
	}
	if ok {
		used.SpentRho, used.ReservedRho = b.SpentRho, b.ReservedRho
		zcdp, _ := population.Cap() // check read both before
		bridged, _ := population.CapGDP()
		b.More = max(0, used.Room(zcdp, bridged, s.Plan.Rho, gdp, 1+maxMore)-1)
	}
	b.LeftRho = b.CapRho - b.SpentRho - b.ReservedRho - b.StudyRho
	b.Fits = b.LeftRho >= -1e-12*b.CapRho // as the ledger compares
	return b
}

// Cap returns the cap that binds a declared population, and the curve by which its budget
// converts, none of a cap in ρ; gdp is of a study that is to be charged, true for none.
func Cap(p siteconfig.Population, used ledger.Population, gdp bool) (rho float64, curve string) {
	old, _ := p.Cap() // check read both before
	more, _ := p.CapGDP()
	rho = used.Cap(old, more, gdp)
	switch {
	case p.Budget == nil:
		return rho, ""
	case rho > old:
		return rho, string(noise.GDP)
	}
	return rho, string(noise.ZCDP)
}

// Total is what all studies of a proposer's key come to in a population here.
type Total struct {
	Delta  float64 `json:"delta"`           // of the population's budget, or else the study's
	Curve  string  `json:"curve"`           // by which ρ is converted: zcdp makes more of it than gdp
	Before float64 `json:"epsilon_before"`  // of those approved here, as far as they may still be charged
	After  float64 `json:"epsilon_after"`   // with this one
	Limit  float64 `json:"limit,omitempty"` // max_epsilon_total; 0: none of its own
	Fits   bool    `json:"fits"`            // After is within Limit
}

// Total returns what the studies of the proposer's key come to, this one included; nil of a
// proposal of nobody.
func (s Study) Total() *Total {
	by := s.Plan.Proposal.Proposer
	population, ok := s.Config.Population(s.Dataset.Population)
	if by == nil || !ok {
		return nil
	}
	used := s.Ledger.Proposed(population.Name, by.Identity)
	if e, on := s.Ledger.Study(s.Plan.Digest); on { // its own part is not counted twice
		used.SpentRho -= e.SpentRho
		used.ReservedRho -= e.ReservedRho
	}
	t := Total{Delta: s.Plan.Proposal.Spec.Delta, Fits: true}
	zcdp, gdp := s.Config.Policy.AnalystCaps(pki.Fingerprint([]byte(by.Identity)), population)
	bridged := s.Plan.Curve() == noise.GDP
	curve := noise.ZCDP
	if population.Budget != nil {
		t.Delta = population.Budget.Delta
		if bridged && used.GDP && population.Budget.Accountant == string(noise.GDP) {
			curve = noise.GDP
		}
	}
	t.Curve = string(curve)
	// Both are of figures in bounds: a charge is at most 1e6, and δ was checked.
	t.Before, _ = curve.Epsilon(max(0, used.SpentRho+used.ReservedRho), t.Delta)
	t.After, _ = curve.Epsilon(max(0, used.SpentRho+used.ReservedRho)+s.Plan.Rho, t.Delta)
	if zcdp > 0 {
		_, of, _ := s.Config.Policy.Analyst(pki.Fingerprint([]byte(by.Identity)))
		t.Limit = of.MaxEpsilonTotal
		limit := used.Cap(zcdp, gdp, bridged)
		t.Fits = used.SpentRho+used.ReservedRho+s.Plan.Rho <= limit*(1+1e-12) // as the ledger compares
	}
	return &t
}

// Rules returns each of the site's limits held against the study, that on its proposer's total
// included.
func (s Study) Rules() []siteconfig.PolicyRule {
	rules := s.Config.Policy.Judge(s.Plan, s.Self)
	if t := s.Total(); t != nil && t.Limit > 0 {
		rules = append(rules, siteconfig.PolicyRule{Rule: "analysts.max_epsilon_total", Limit: fmt.Sprintf("%g", t.Limit),
			Study: fmt.Sprintf("ε = %.4g with what %q has had", t.After, s.Plan.Proposal.Proposer.Name), OK: t.Fits})
	}
	return rules
}

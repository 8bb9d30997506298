package agent

import (
	"fmt"

	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// AnalystView is an analyst of a proposal as this site's operator sees it.
type AnalystView struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"` // of its key
	// Known is whether [policy.analysts] lists it: "yes", "no", or "other key"; empty where the
	// policy lists no analysts.
	Known string `json:"known,omitempty"`
}

// AnalystTotal is what all studies of a proposer's key come to in a population here.
type AnalystTotal struct {
	Delta  float64 `json:"delta"`           // of the population's budget, or else the study's
	Curve  string  `json:"curve"`           // by which ρ is converted: zcdp makes more of it than gdp
	Before float64 `json:"epsilon_before"`  // of those approved here, as far as they may still be charged
	After  float64 `json:"epsilon_after"`   // with this one
	Limit  float64 `json:"limit,omitempty"` // max_epsilon_total; 0: none of its own
	Fits   bool    `json:"fits"`            // After is within Limit
}

// analystOf returns an analyst as the operator sees it, with whether the policy lists it.
func analystOf(policy *siteconfig.Policy, p proposal.Party) AnalystView {
	return AnalystView{p.Name, pki.Fingerprint([]byte(p.Identity)), policy.KnowsAnalyst(p)}
}

// proposerOf returns a proposal's proposer as the ledger keeps it.
func proposerOf(p proposal.Proposal) ledger.Proposer {
	if p.Proposer == nil {
		return ledger.Proposer{}
	}
	return ledger.Proposer{Name: p.Proposer.Name, Key: p.Proposer.Identity}
}

// party returns a proposer on the ledger as a party, nil for the zero Proposer.
func party(p ledger.Proposer) *proposal.Party {
	if len(p.Key) == 0 {
		return nil
	}
	return &proposal.Party{Name: p.Name, Identity: p.Key}
}

// total returns what the studies of the proposer's key come to, this one included; nil of a
// proposal of nobody.
func (s *session) total(config *siteconfig.Config, dataset siteconfig.Dataset) *AnalystTotal {
	by := s.plan.Proposal.Proposer
	population, ok := config.Population(dataset.Population)
	if by == nil || !ok {
		return nil
	}
	used := s.agent.ledger.Proposed(population.Name, by.Identity)
	if e, on := s.agent.standing(s.plan.Digest); on { // its own part is not counted twice
		used.SpentRho -= e.SpentRho
		used.ReservedRho -= e.ReservedRho
	}
	t := AnalystTotal{Delta: s.plan.Proposal.Spec.Delta, Fits: true}
	zcdp, gdp := config.Policy.AnalystCaps(pki.Fingerprint([]byte(by.Identity)), population)
	bridged := s.plan.Curve() == noise.GDP
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
	t.After, _ = curve.Epsilon(max(0, used.SpentRho+used.ReservedRho)+s.plan.Rho, t.Delta)
	if zcdp > 0 {
		_, of, _ := config.Policy.Analyst(pki.Fingerprint([]byte(by.Identity)))
		t.Limit = of.MaxEpsilonTotal
		limit := used.Cap(zcdp, gdp, bridged)
		t.Fits = used.SpentRho+used.ReservedRho+s.plan.Rho <= limit*(1+1e-12) // as the ledger compares
	}
	return &t
}

// rules returns each of the site's limits held against the study, that on its proposer's total
// included.
func (s *session) rules(config *siteconfig.Config, dataset siteconfig.Dataset) []siteconfig.PolicyRule {
	rules := config.Policy.Judge(s.plan, s.self)
	if t := s.total(config, dataset); t != nil && t.Limit > 0 {
		rules = append(rules, siteconfig.PolicyRule{Rule: "analysts.max_epsilon_total", Limit: fmt.Sprintf("%g", t.Limit),
			Study: fmt.Sprintf("ε = %.4g with what %q has had", t.After, s.plan.Proposal.Proposer.Name), OK: t.Fits})
	}
	return rules
}

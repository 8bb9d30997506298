package siteconfig

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"covey/internal/pki"
	"covey/internal/proposal"
)

// Analyst is an analyst whom this site's operator knows.
type Analyst struct {
	// Key is the fingerprint of the analyst's key, as the analyst read it to the operator.
	Key string `toml:"key"`
	// MaxEpsilonTotal is the ε that all the key's studies of a population may come to without the
	// operator, at the δ of the population's budget. Only the budget bounds them if not given.
	MaxEpsilonTotal float64 `toml:"max_epsilon_total,omitempty"`
}

// checkAnalysts checks [policy.analysts]. A key is listed once: what is spent is counted by key.
func (p *Policy) checkAnalysts(c *Config) error {
	keys := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.Analysts)) {
		key, a := "policy.analysts."+name, p.Analysts[name]
		if err := pki.ValidName(name); err != nil {
			return c.Errorf("policy.analysts", "%v", err)
		}
		if !fingerprintForm.MatchString(a.Key) {
			return c.Errorf(key+".key", "must be a fingerprint, six groups of four letters and digits, got %q", a.Key)
		}
		if other, twice := keys[a.Key]; twice {
			return c.Errorf(key+".key", "is also the key of %q; each analyst needs their own", other)
		}
		keys[a.Key] = name
		if e := a.MaxEpsilonTotal; !(e >= 0) || math.IsInf(e, 0) {
			return c.Errorf(key+".max_epsilon_total", "must be positive, got %v", e)
		}
		if a.MaxEpsilonTotal == 0 {
			continue
		}
		for i, of := range c.Populations {
			if of.Budget == nil {
				return c.Errorf(fmt.Sprintf("population[%d]", i), "needs a budget in place of cap_rho: max_epsilon_total of analyst %q holds at its δ", name)
			}
			if _, err := a.of(of).Cap(); err != nil {
				return c.Errorf(key+".max_epsilon_total", "with population %q: %v", of.Name, err)
			}
		}
	}
	return nil
}

// of returns the part of a population's budget that the analyst's studies may take.
func (a Analyst) of(population Population) Population {
	b := *population.Budget
	b.Epsilon = a.MaxEpsilonTotal
	return Population{Name: population.Name, Budget: &b}
}

// Analyst returns the analyst whose key has this fingerprint.
func (p *Policy) Analyst(fingerprint string) (Analyst, bool) {
	for _, a := range p.Analysts {
		if a.Key == fingerprint {
			return a, true
		}
	}
	return Analyst{}, false
}

// AnalystCaps returns what all studies of a key may be charged of a population's budget, in ρ, as
// Population.Caps returns it; 0 where max_epsilon_total says nothing of the key.
func (p *Policy) AnalystCaps(fingerprint string, population Population, bridged bool) (zcdp, gdp float64) {
	a, ok := p.Analyst(fingerprint)
	if !ok || a.MaxEpsilonTotal == 0 || population.Budget == nil {
		return 0, 0
	}
	zcdp, gdp, _ = a.of(population).Caps(bridged) // check read both before
	return zcdp, gdp
}

// KnowsAnalyst reports what [policy.analysts] has of a study's proposer, in the words of Knows.
func (p *Policy) KnowsAnalyst(by proposal.Party) string {
	a, listed := p.Analysts[by.Name]
	return knows(p.Analysts != nil, listed, a.Key, pki.Fingerprint([]byte(by.Identity)))
}

// judgeProposer returns Judge's rule about a study's proposer: an analyst must be listed with name
// and key. Where the policy lists nobody, only proposals of the coordinator's operator may be let
// in, which nobody signs.
func (p *Policy) judgeProposer(by *proposal.Party) (PolicyRule, bool) {
	rule := PolicyRule{Rule: "analysts", Limit: fmt.Sprintf("the %d listed, by name and fingerprint", len(p.Analysts))}
	switch {
	case by == nil && p.Analysts == nil:
		return rule, false
	case p.Analysts == nil && p.Approve != ApproveWithinLimits: // nobody is listed, and nobody let in
		return rule, false
	case by == nil:
		rule.Study = "nobody's signature: proposed at the coordinator's own machine"
		return rule, true
	}
	switch p.KnowsAnalyst(*by) {
	case "yes":
		rule.Study, rule.OK = fmt.Sprintf("%q", by.Name), true
	case "other key":
		rule.Study = fmt.Sprintf("%q with A DIFFERENT KEY from the one listed", by.Name)
	default:
		rule.Study = fmt.Sprintf("%q, who is not listed", by.Name)
	}
	return rule, true
}

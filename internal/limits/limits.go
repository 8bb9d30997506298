// Package limits compares a study with what a site allows: the budget of its population, the total
// of its proposer, and the rules of the policy. It only reports; the ledger's own transaction keeps
// a budget.
package limits

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/proposal"
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
	// Remedy says, of a study that does not fit, which would, and what else its operator can do.
	Remedy string `json:"remedy,omitempty"`
}

// maxMore bounds what is counted of studies to come.
const maxMore = 999

// Others says how many studies of this charge could follow it.
func (b Budget) Others() string {
	if b.More < maxMore {
		return strconv.Itoa(b.More)
	}
	return fmt.Sprintf("at least %d", maxMore)
}

// Budget returns the budget as an approval now would find it.
func (s Study) Budget() Budget {
	used := s.Ledger.Population(s.Dataset.Population)
	if e, ok := s.Ledger.Study(s.Plan.Digest); ok && e.Population == used.Name {
		// Its own part is not counted twice.
		used.SpentRho -= e.SpentRho
		used.ReservedRho -= e.ReservedRho
	}
	population, _ := s.Config.Population(s.Dataset.Population)
	return Of(s.Plan, population, used)
}

// Of returns the budget before and after a study; used is what other studies take from it.
func Of(plan *study.Plan, population siteconfig.Population, used ledger.Population) Budget {
	gdp := plan.Curve() == noise.GDP
	b := Budget{Population: used.Name, SpentRho: used.SpentRho, ReservedRho: used.ReservedRho, StudyRho: plan.Rho}
	b.CapRho, b.Curve = capOf(population, used, gdp)
	zcdp, bridged, _ := population.Caps(used.Bridged) // check read both before
	room := used.Room(zcdp, bridged, plan.Rho, gdp, 1+maxMore)
	b.Fits, b.More = room > 0, max(0, room-1) // as the ledger decides
	b.LeftRho = b.CapRho - b.SpentRho - b.ReservedRho - b.StudyRho
	if !b.Fits {
		b.Remedy = b.remedy(plan, population, used)
	}
	return b
}

// String says what the study takes of what is left, by numbers that differ where they do.
func (b Budget) String() string {
	left, takes := Apart(max(0, b.LeftRho+b.StudyRho), b.StudyRho)
	return fmt.Sprintf("population %q: the study takes ρ = %s, and of %.6g there is %s left", b.Population, takes, b.CapRho, left)
}

// remedy says which study of the same kind would fit, and what of agent.toml makes room for this
// one.
func (b Budget) remedy(plan *study.Plan, population siteconfig.Population, used ledger.Population) string {
	var out []string
	spec, need := plan.Proposal.Spec, b.SpentRho+b.ReservedRho+b.StudyRho
	e, err := plan.Curve().BudgetEpsilon(b.LeftRho+b.StudyRho, spec.Delta)
	if err == nil && e > leastEpsilon && spec.Accountant != proposal.AccountantPaper {
		out = append(out, fmt.Sprintf("at δ = %g a study of epsilon = %s would fit", spec.Delta, below(e)))
	}
	if population.Budget == nil {
		return strings.Join(append(out, fmt.Sprintf("set cap_rho to at least %s in agent.toml, and run: agent reload", above(need))), "; or ")
	}
	of := *population.Budget
	if e, err := noise.Curve(b.Curve).BudgetEpsilon(need, of.Delta); err == nil {
		out = append(out, fmt.Sprintf("set budget.epsilon to at least %s in agent.toml, and run: agent reload", above(e)))
	} else { // the checks of so large charges take all of its delta
		out = append(out, "set a larger budget.delta in agent.toml, since no budget.epsilon at this one is enough, and run: agent reload")
	}
	of.Accountant = string(noise.GDP)
	population.Budget = &of
	if zcdp, gdp, err := population.Caps(true); err == nil && used.Room(zcdp, gdp, plan.Rho, plan.Curve() == noise.GDP, 1) > 0 {
		out = append(out, `set budget.accountant to "gdp" there`)
	}
	return strings.Join(out, "; or ")
}

// leastEpsilon is the ε below which no study is suggested.
const leastEpsilon = 0.001

// below and above are a positive number to three digits. A number of three digits stays itself
// where it is off by 10^-13: a plan takes 10^-12 less of ρ than its epsilon allows.
func below(x float64) string { return digits(x, math.Floor, 1+0x1p-43) }
func above(x float64) string { return digits(x, math.Ceil, 1-0x1p-43) }

func digits(x float64, to func(float64) float64, slack float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return fmt.Sprintf("%.3g", to(x*slack/unit)*unit)
}

// Apart writes two numbers in six digits, or in as many more as it takes to tell them apart.
func Apart(a, b float64) (string, string) {
	for digits := 6; ; digits++ {
		x, y := fmt.Sprintf("%.*g", digits, a), fmt.Sprintf("%.*g", digits, b)
		if x != y || digits == 17 {
			return x, y
		}
	}
}

// capOf returns the cap that binds a population, and the curve by which its budget converts
// ("" if the cap is in ρ). gdp says whether the study to be charged has the bridge; pass true if
// there is no study.
func capOf(p siteconfig.Population, used ledger.Population, gdp bool) (rho float64, curve string) {
	old, more, _ := p.Caps(used.Bridged) // check read both before
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
	kept := s.Ledger.Population(population.Name).Bridged
	zcdp, gdp := s.Config.Policy.AnalystCaps(pki.Fingerprint([]byte(by.Identity)), population, kept)
	bridged := s.Plan.Curve() == noise.GDP
	curve := noise.ZCDP
	if population.Budget != nil {
		t.Delta = population.Budget.Delta
		if bridged && used.GDP {
			curve = population.Curve(kept)
		}
	}
	t.Curve = string(curve)
	// Neither fails: a charge is at most 1e6, and δ was checked.
	t.Before, _ = curve.Epsilon(max(0, used.SpentRho+used.ReservedRho), t.Delta)
	t.After, _ = curve.Epsilon(max(0, used.SpentRho+used.ReservedRho)+s.Plan.Rho, t.Delta)
	if zcdp > 0 {
		of, _ := s.Config.Policy.Analyst(pki.Fingerprint([]byte(by.Identity)))
		t.Limit = of.MaxEpsilonTotal
		limit := used.Cap(zcdp, gdp, bridged)
		t.Fits = used.SpentRho+used.ReservedRho+s.Plan.Rho <= limit*(1+1e-12) // as the ledger compares
	}
	return &t
}

// OtherKeys warns of studies on the ledger whose proposer had this one's name and another key.
func (s Study) OtherKeys() []string {
	by, keys := s.Plan.Proposal.Proposer, []string(nil)
	if by == nil {
		return nil
	}
	for _, e := range s.Ledger.Studies() {
		if e.Proposer.Name == by.Name && !bytes.Equal(e.Proposer.Key, by.Identity) {
			keys = append(keys, pki.Fingerprint(e.Proposer.Key))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	return []string{fmt.Sprintf("earlier studies here were signed by an analyst %.80q with another key (%s): ask the analyst, and not through the coordinator, whether this key is theirs; its total of ε leaves those studies out",
		by.Name, strings.Join(slices.Compact(keys), ", "))}
}

// Rules returns each of the site's limits held against the study, those on its proposer's total and
// on what nobody signed included.
func (s Study) Rules() []siteconfig.PolicyRule {
	rules := s.Config.Policy.Judge(s.Plan, s.Self)
	if s.Plan.Proposal.Proposer == nil && s.Config.Policy.Approve == siteconfig.ApproveWithinLimits {
		open := 0
		for _, e := range s.Ledger.Active() {
			if e.By == ledger.ByPolicy && len(e.Proposer.Key) == 0 && e.Study != s.Plan.Digest {
				open++
			}
		}
		rules = append(rules, siteconfig.PolicyRule{Rule: "approve", Limit: fmt.Sprintf("%d open studies that nobody signed", siteconfig.MaxUnsigned),
			Study: fmt.Sprintf("%d with this one", open+1), OK: open < siteconfig.MaxUnsigned})
	}
	if t := s.Total(); t != nil && t.Limit > 0 {
		rules = append(rules, siteconfig.PolicyRule{Rule: "analysts.max_epsilon_total", Limit: fmt.Sprintf("%g", t.Limit),
			Study: fmt.Sprintf("ε = %.4g with what %q has had", t.After, s.Plan.Proposal.Proposer.Name), OK: t.Fits})
	}
	return rules
}

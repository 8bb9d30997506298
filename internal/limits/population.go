package limits

import (
	"fmt"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// Population is a population's budget as it stands, in ρ.
type Population struct {
	Name   string  `json:"name"`
	CapRho float64 `json:"cap_rho"` // by Curve
	// zcdp or gdp; none of a cap in ρ, and of one that is not declared
	Curve       string  `json:"curve,omitempty"`
	SpentRho    float64 `json:"spent_rho"`
	ReservedRho float64 `json:"reserved_rho"`
	LeftRho     float64 `json:"left_rho"`
	// Declared is false of a population that the configuration does not name any more.
	Declared bool `json:"declared"`
}

// below says what it means that a budget is less than what is spent and reserved; it is empty for
// any other.
func (p Population) below() string {
	if used := p.SpentRho + p.ReservedRho; !p.Declared || used <= p.CapRho*(1+1e-9) {
		return ""
	}
	return fmt.Sprintf("the budget of population %q, ρ = %.4g, is below what is spent (%.4g) and reserved (%.4g): no further study fits. This takes nothing back: studies that are approved go on and charge what is reserved, unless you end them with \"agent study reject\"",
		p.Name, p.CapRho, p.SpentRho, p.ReservedRho)
}

// Below returns what below says of populations.
func Below(all []Population) (out []string) {
	for _, p := range all {
		if words := p.below(); words != "" {
			out = append(out, words)
		}
	}
	return out
}

// Populations returns those that the configuration names, and then the others that the ledger has.
func Populations(config *siteconfig.Config, l *ledger.Ledger) []Population {
	out := []Population{}
	add := func(used ledger.Population, limit float64, curve string, declared bool) {
		out = append(out, Population{used.Name, limit, curve, used.SpentRho, used.ReservedRho, limit - used.SpentRho - used.ReservedRho, declared})
	}
	for _, p := range config.Populations {
		used := l.Population(p.Name)
		limit, curve := capOf(p, used, true)
		add(used, limit, curve, true)
	}
	for _, used := range l.Populations() {
		if _, ok := config.Population(used.Name); !ok {
			add(used, used.CapRho, "", false)
		}
	}
	return out
}

// Older returns a warning that the ledger may be an older copy, with what to do, if there are signs
// of studies that it lacks; otherwise it is empty.
func Older(beyond []proposal.Digest) string {
	if len(beyond) == 0 {
		return ""
	}
	return fmt.Sprintf("THE LEDGER MAY BE AN OLDER COPY: messages left of studies that it does not have, or the coordinator goes on with them (%d, the first %.12s), and its budgets do not count what they were charged. "+
		"If so, stop the agent, move its folder \"ledger\" away and run \"agent ledger recover --from EXPORT\"; without an export that has them, lower the budgets by what they were worth", len(beyond), beyond[0])
}

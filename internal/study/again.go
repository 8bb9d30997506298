package study

import (
	"fmt"
)

// AgainText warns of a study that asks what a completed one asked.
func (p *Plan) AgainText(completed Digest) string {
	return fmt.Sprintf("study %.12s asked the same and is completed: its result is there for nothing, and this study charges ρ = %.6g (ε = %g) again to whoever is in the rows",
		completed.String(), p.Rho, p.Proposal.Spec.Epsilon)
}

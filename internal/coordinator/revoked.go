package coordinator

import (
	"slices"

	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
)

// AwaitedOf returns the studies under way that have a site in their roster, or that an analyst has
// proposed, as proposed.
func (c *Coordinator) AwaitedOf(role pki.Role, name string) []outline.RevokedStudy {
	m := c.machine.lock()
	defer c.machine.unlock()
	out := []outline.RevokedStudy{}
	for _, r := range m.all {
		digest, state := r.Digest, r.State
		if r.Terminal() {
			continue
		}
		p := state.Plan()
		if role == pki.RoleAnalyst {
			if by := p.Proposal.Proposer; by != nil && by.Same(m.who.Analysts[name].Party()) {
				out = append(out, outline.RevokedStudy{Digest: digest, Name: p.Proposal.Spec.Name, Status: state.Status, GoesOn: true})
			}
			continue
		}
		if !slices.ContainsFunc(p.Proposal.Roster, func(in proposal.Member) bool { return in.Name == name && m.who.Is(in) }) {
			continue
		}
		left := 0
		for _, in := range p.Proposal.Roster {
			if m.who.Barred(in) == "" {
				left++
			}
		}
		out = append(out, outline.RevokedStudy{Digest: digest, Name: p.Proposal.Spec.Name, Status: state.Status,
			GoesOn: state.Status == round.StatusRunning && p.Proposal.Spec.OnDropout == proposal.DropoutContinue && left >= p.Thresholds.MinSurvivors})
	}
	return out
}

package agent

import (
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/uplink"
)

// ceiling is the longest message that this site takes now: what its approved studies need, and a
// proposal. A pending study needs no more: nothing is asked of it before all have approved.
func (a *Agent) ceiling() int {
	out := uplink.LeastMessage
	for _, e := range a.ledger.Active() {
		out = max(out, a.largest(e.Study))
	}
	return out
}

// largest is what an approved study needs; it is kept until the study is forgotten.
func (a *Agent) largest(id proposal.Digest) int {
	a.mu.Lock()
	size, ok := a.sizes[id]
	a.mu.Unlock()
	if ok {
		return size
	}
	if body, ok := a.ledger.Proposal(id); ok {
		if plan, err := study.NewPlan(body); err == nil {
			size = uplink.Largest(plan)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sizes[id] = size
	return size
}

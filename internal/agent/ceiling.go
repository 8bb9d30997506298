package agent

import (
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/uplink"
)

// ceiling is the longest message that this site takes now: what its approved studies need, and a
// proposal. A pending study needs no more: nothing is asked of it before all have approved.
func (m *sessions) ceiling() int {
	out := uplink.LeastMessage
	for _, e := range m.a.ledger.Active() {
		out = max(out, m.largest(e.Study))
	}
	return out
}

// largest returns how long a message may be that an approved study needs; it is kept until the
// study is forgotten.
func (m *sessions) largest(id proposal.Digest) int {
	m.mu.Lock()
	size, ok := m.sizes[id]
	m.mu.Unlock()
	if ok {
		return size
	}
	if body, ok := m.a.ledger.Proposal(id); ok {
		if plan, err := study.NewPlan(body); err == nil {
			size = uplink.Largest(plan)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sizes[id] = size
	return size
}

package coordinator

import (
	"slices"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// View returns a study's view.
func (c *Coordinator) View(digest proposal.Digest) outline.View {
	m := c.machine.lock()
	defer c.machine.unlock()
	r, _ := m.find(digest)
	return m.view(r)
}

// Name returns a study's name; empty if there is no such study.
func (c *Coordinator) Name(digest proposal.Digest) string {
	m := c.machine.lock()
	defer c.machine.unlock()
	if r, ok := m.find(digest); ok {
		return r.Proposal().Spec.Name
	}
	return ""
}

// Views returns all studies', as proposed.
func (c *Coordinator) Views() []outline.View {
	m := c.machine.lock()
	defer c.machine.unlock()
	out := []outline.View{}
	for _, r := range m.all {
		out = append(out, m.view(r))
	}
	return out
}

// view returns a study's view, and reads nothing from disk.
func (m *leader) view(r outline.Study) (v outline.View) {
	if c := r.Closed; c != nil {
		v = c.View
		v.Sites = slices.Clone(v.Sites)
	} else {
		l := m.lasts[r.Digest].After(r.State.Plan(), r.State.Releases)
		m.lasts[r.Digest] = l
		v = m.outline(r.Digest, r.State, l)
	}
	for i := range v.Sites {
		in := &v.Sites[i]
		l := m.links[in.Name]
		in.Connected = l != nil
		if r.Terminal() {
			continue
		}
		if in.Barred = m.who.Barred(r.State.Plan().Proposal.Roster[i]); in.Barred != "" {
			in.Connected = false
		} else if m.astray(l) {
			in.Refused = study.CodeBrokenChain
		}
	}
	if s := m.sessions[r.Digest]; s != nil {
		v.Faults = s.faults
		if v.Status == round.StatusRunning {
			v.Deadline = s.deadline
		}
	}
	return v
}

// outline is a study's view but for what this leader alone knows.
func (m *replicated) outline(digest proposal.Digest, state *round.State, last outline.Last) outline.View {
	at := m.dates[digest]
	return outline.Of(state, last, at.Proposed, at.Ended)
}

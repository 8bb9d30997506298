package coordinator

import (
	"time"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/session"
)

// memory is what the leader keeps of one study. It and its methods are for the leader alone. It
// dies with the process, and none of it reaches the log.
type memory struct {
	*session.Session
	deadline time.Time // of the open phase
	faults   []outline.Fault
	words    map[int][]byte // signatures of the decisions on their way to the log, by site
	// fits checks a signature on the committed draft of the result; nil before one came
	fits func(identity, signature []byte) bool
}

// remember returns a study's memory.
func (m *leader) remember(digest proposal.Digest, state *round.State) *memory {
	s := m.sessions[digest]
	if s == nil {
		s = &memory{}
		s.Session = session.New(state, m.log, func(f session.Fault) { m.fault(s, f) })
		m.sessions[digest] = s
	}
	s.State = state
	return s
}

const maxFaults = 100 // kept for display; a faulty site cannot grow memory

// fault notes a message that failed a check.
func (m *leader) fault(s *memory, f session.Fault) {
	digest, name := s.Plan.Digest, s.Plan.Proposal.Roster[f.Site].Name
	m.log.Warn("a site's message failed a check and was dropped", "study", digest, "site", name, "query", f.Query, "code", f.Code)
	m.happened(outline.Happening{Kind: outline.HappenedFault, Study: digest, Site: name, Query: f.Query, Slot: f.Slot, Code: f.Code})
	if len(s.faults) < maxFaults {
		s.faults = append(s.faults, outline.Fault{Site: name, Query: f.Query, Code: f.Code})
	}
}

// over forgets what only a study under way needs, here and in the leader's part of its state: keys,
// shares and sums are much, and studies are many. Every site with a link was told the end just now;
// one that comes later is told if it misses it (greet).
func (m *leader) over(state *round.State, s *memory) {
	s.Forget()
	*s = memory{Session: s.Session, faults: s.faults}
	state.Step(round.Led{}) // of no link: nothing follows
}

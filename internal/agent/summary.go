package agent

import (
	"sync"
	"weak"

	"covey/internal/egress"
	"covey/internal/holding"
	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
)

// maxIdle is about how many bytes a study that waits may take in memory, besides its rows.
const maxIdle = 3_000_000

// summary is what stays in memory of a study that is pending or approved, however many columns it
// has: what lists show, and what its session cannot read from the disk.
type summary struct {
	agent *Agent
	id    proposal.Digest
	asks  proposal.Proposal // without its columns, its start and its roster
	rho   float64
	curve noise.Curve
	// dataset is what the approval recorded, or before one what under offers. Both are written with
	// mu and the agent's held.
	dataset siteconfig.Dataset
	under   *siteconfig.Config // before an approval: what dataset is of

	planned []egress.Planned // nil until somebody asks (leaves); with the agent's mu held

	// mu is held while one request, or one decision of the operator, is worked on.
	mu   sync.Mutex
	rows *holding.Rows
}

// place is where the agent has a study's session. A short proposal's stays in memory, and so does
// any study's from its setup on. A long one's that waits is let go when nobody uses it, 30 MB of
// 100,000 columns, and made again from the data directory. The pointer to it is weak, so that there
// are never two of one study.
type place struct {
	*summary
	session weak.Pointer[session]
	held    *session // nil: it may be let go. Written with the agent's mu held
}

// roomy reports whether the session stays in memory while its study waits: by the bytes of the
// proposal, which it holds as they are and as a plan, and by what that and the figures that
// somebody looked at have of each coordinate.
func (s *session) roomy() bool { return 3*len(s.body)+400*s.plan.D <= maxIdle }

// session returns the session of a study that is pending or approved, from memory or from what the
// data directory holds of it.
func (a *Agent) session(id proposal.Digest) (*session, study.Code) {
	if _, s := a.placed(id); s != nil {
		return s, ""
	}
	a.offering.Lock()
	defer a.offering.Unlock()
	at, s := a.placed(id)
	if s != nil { // made meanwhile
		return s, ""
	}
	body, pending := []byte(nil), false
	if approved, ok := a.ledger.Proposal(id); ok {
		body = approved
	} else if body, pending = a.pending.Get(id); !pending {
		return nil, study.CodeUnknownStudy
	}
	var code study.Code
	if at == nil {
		s, code = a.newSession(body)
	} else if s, _, code, _ = a.plannedSession(body); s != nil {
		s.summary = at.summary // it was let go, and goes on with what was kept of it
	}
	if code != "" {
		return nil, code
	}
	return a.keep(s), ""
}

// placed returns a study's place, nil if there is none, and its session, nil if it is not in
// memory.
func (a *Agent) placed(id proposal.Digest) (*place, *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.sessions[id]
	if at == nil {
		return nil, nil
	}
	return at, at.session.Value()
}

// keep puts a session into memory, or returns the one that is there.
func (a *Agent) keep(s *session) *session {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at := a.sessions[s.id]; at != nil {
		if old := at.session.Value(); old != nil {
			return old
		}
		s.summary = at.summary
	}
	at := &place{summary: s.summary, session: weak.Make(s)}
	if s.roomy() {
		at.held = s
	} else {
		a.stock.Worked() // it goes when memory is given back
	}
	a.sessions[s.id] = at
	return s
}

// hold keeps the session until its study is forgotten: its setup has begun.
func (s *session) hold() {
	s.agent.mu.Lock()
	defer s.agent.mu.Unlock()
	if at := s.agent.sessions[s.id]; at != nil && at.session.Value() == s {
		at.held = s
	}
}

// listed returns what lists show of a study that is pending or approved, nil if there is no session
// of it.
func (a *Agent) listed(id proposal.Digest) *summary {
	if at, _ := a.placed(id); at != nil {
		return at.summary
	}
	if s, _ := a.session(id); s != nil {
		return s.summary
	}
	return nil
}

// idles answers a request about a study that is not approved here, but for its end, without its
// session: a coordinator can ask without end, and must not have a long proposal's made each time.
func (a *Agent) idles(r wire.Message) (wire.Message, bool) {
	id := r.About().Study
	if e, _ := a.ledger.Study(id); e.State == ledger.Approved {
		return nil, false
	}
	switch r.(type) {
	case wire.Ended:
		return nil, false
	case wire.Final, wire.Confirmed: // are not answered, and so not paced
		return a.strange(r, study.CodeUnknownStudy), true
	}
	at, _ := a.placed(id)
	if at == nil {
		return nil, false
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if e, _ := a.ledger.Study(id); e.State == ledger.Approved { // meanwhile
		return nil, false
	}
	return at.unapproved(r), true
}

// unapproved answers a request about a study that is not approved here. Called with mu held.
func (s *summary) unapproved(r wire.Message) wire.Message {
	if err := s.agent.ledger.Err(); err != nil {
		return refuse(r, s.store(err))
	}
	if said, ok := s.agent.withdrawn(r); ok {
		return said
	}
	if _, known := s.agent.ledger.Study(s.id); !known {
		// it is pending here, and going on elsewhere
		s.agent.stranger(s.id, askedBeyond)
	}
	switch r.(type) {
	case wire.Final, wire.Confirmed:
		return nil
	}
	return refuse(r, study.CodeNotApproved)
}

// leaves returns what will have left of the study at its end; metrics read it again and again.
func (s *summary) leaves() []egress.Planned {
	a := s.agent
	a.mu.Lock()
	planned := s.planned
	a.mu.Unlock()
	if planned != nil {
		return planned
	}
	if one, _ := a.session(s.id); one != nil {
		planned = uplink.Planned(one.plan, one.self)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s.planned = planned
	return planned
}

// brief returns a proposal without what grows with its columns and its sites.
func brief(p proposal.Proposal) proposal.Proposal {
	p.Spec.Columns, p.Spec.Start, p.Roster = nil, nil, nil
	return p
}

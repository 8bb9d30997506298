package agent

import (
	"sync"

	"covey/internal/egress"
	"covey/internal/holding"
	"covey/internal/ledger"
	"covey/internal/limits"
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
	// dataset is the one that the approval recorded, or before an approval the one that under
	// offers. Both are written with mu and the sessions' mu held.
	dataset siteconfig.Dataset
	under   *siteconfig.Config // before an approval: what dataset is of

	fault   string           // why the rows of the approval were not to be had when last asked; with the sessions' mu held
	planned []egress.Planned // nil until somebody asks (leaves); with the sessions' mu held

	// mu is held while one request, or one decision of the operator, is worked on.
	mu      sync.Mutex
	rows    *holding.Rows
	missing string // why the log says that the study lacks these rows, empty if it does not
}

// roomy reports whether the session stays in memory while its study waits. It counts the proposal's
// bytes, which the session holds as they are and as a plan, and for each coordinate the plan's part
// and the figures that somebody looked at.
func (s *session) roomy() bool { return 3*len(s.body)+400*s.plan.D <= maxIdle }

// hold keeps the session until its study is forgotten: its setup has begun.
func (s *session) hold() {
	s.agent.sessions.mu.Lock()
	defer s.agent.sessions.mu.Unlock()
	if at := s.agent.sessions.places[s.id]; at != nil && at.session.Value() == s {
		at.held = s
	}
}

// unapproved answers a request about a study that is not approved here. Called with mu held.
func (s *summary) unapproved(r wire.Message) wire.Message {
	if err := s.agent.ledger.Err(); err != nil {
		return wire.Refuse(r, s.store(err))
	}
	if said, ok := s.agent.strangers.withdrawn(r); ok {
		return said
	}
	if e, known := s.agent.ledger.Study(s.id); e.State == ledger.Finished {
		return s.agent.strangers.answer(r, study.CodeLeft) // it was left while the request waited
	} else if !known {
		// it is pending here, and going on elsewhere
		s.agent.strangers.log(s.id, askedBeyond)
	}
	switch r.(type) {
	case wire.Final, wire.Confirmed:
		return nil
	}
	return wire.Refuse(r, study.CodeNotApproved)
}

// stands keeps what the operator is told about the rows: why they cannot be used, or empty if they
// can.
func (s *summary) stands(fault string) {
	s.agent.sessions.mu.Lock()
	defer s.agent.sessions.mu.Unlock()
	s.fault = fault
}

// stood returns what stands has kept.
func (s *summary) stood() string {
	s.agent.sessions.mu.Lock()
	defer s.agent.sessions.mu.Unlock()
	return s.fault
}

// leaves returns what will have left of the study at its end; metrics read it again and again.
func (s *summary) leaves() []egress.Planned {
	a := s.agent
	a.sessions.mu.Lock()
	planned := s.planned
	a.sessions.mu.Unlock()
	if planned != nil {
		return planned
	}
	if one, _ := a.sessions.of(s.id); one != nil {
		planned = uplink.Planned(one.plan, one.self)
	}
	a.sessions.mu.Lock()
	defer a.sessions.mu.Unlock()
	s.planned = planned
	return planned
}

// limits returns how the study stands to what the site allows.
func (s *session) limits(config *siteconfig.Config, dataset siteconfig.Dataset) limits.Study {
	return limits.Study{Plan: s.plan, Self: s.self, Ledger: s.agent.ledger, Config: config, Dataset: dataset}
}

// brief returns a proposal without what grows with its columns and its sites.
func brief(p proposal.Proposal) proposal.Proposal {
	p.Spec.Columns, p.Spec.Start, p.Roster = nil, nil, nil
	return p
}

// Package session is a leader's part in the secure aggregation of one study: it checks what sites
// send of its setup and of the open slot, adds their masked uploads, and opens the sum. What it
// makes of a message is an event for internal/round, which decides.
//
// A Session is behind its leader's lock. What takes long is a Job, or an Unmasking, and is done
// without it. All dies with the process and is asked for again; none of it reaches the log.
package session

import (
	"log/slog"

	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// Session is a leader's part in the secure aggregation of one study. The zero Session is that of a
// study that is over, and holds nothing.
type Session struct {
	State *round.State
	Plan  *study.Plan

	log    *slog.Logger
	faulty func(Fault)

	setup *secagg.Setup // nil until the announcements are checked and the graph is drawn
	// On the sparse graph, until the setup is on record: the heads before the graph is drawn, and
	// by site the parts of its announcement that are for some sites alone.
	board         *secagg.Board
	seals, bodies [][]byte
	kept          secagg.Kept // what is here for when a site drops out

	tally
}

// Fault names a site whose message failed a check and was dropped.
type Fault struct {
	Site        int
	Query, Slot int // that were open here
	Code        study.Code
}

// New returns a study's session. faulty is told of each message that failed a check.
func New(state *round.State, log *slog.Logger, faulty func(Fault)) *Session {
	return &Session{State: state, Plan: state.Plan(), log: log, faulty: faulty}
}

// Fault reports that a site's message failed a check.
func (s *Session) Fault(site int, code study.Code) {
	s.faulty(Fault{Site: site, Query: s.query, Slot: s.slot, Code: code})
}

// Forget lets go of all that only a study under way needs, and overwrites what opens its sum.
func (s *Session) Forget() {
	s.Leave()
	*s = Session{State: s.State, Plan: s.Plan, log: s.log, faulty: s.faulty}
}

// Job is work that takes long, and is done without the leader's lock. What it returns is called
// with the lock held again, and returns the study's event, nil for none.
type Job func() func() round.Event

// Hear takes a message of a site and returns its event, nil for none, or what is to be done first.
func (s *Session) Hear(site int, m wire.Message) (round.Event, Job) {
	switch m := m.(type) {
	case wire.Announcement:
		return s.announced(site, m.Signed), nil
	case wire.Nonce:
		return s.revealed(site, m.Nonce), nil
	case wire.Boxes:
		return nil, s.boxed(site, m.Boxes)
	case wire.Confirmation:
		return s.confirmed(site, m), nil
	case wire.Recalled:
		return s.recalled(site, m), nil
	case wire.Upload:
		return s.uploaded(site, m.Query, m.Slot, m.Masked), nil
	case wire.Signature:
		return s.signed(site, m.Query, m.Slot, m.Signature), nil
	case wire.Shares:
		return s.shared(site, m.Query, m.Slot, m.Shares), nil
	case wire.Proof:
		return s.proved(site, m.Query, m.Slot, m.Dealer.Site(), m.Proof), nil
	case wire.PairKeys:
		return s.keyed(site, m.Query, m.Slot, m.Keys), nil
	case wire.Refusal:
		if m.Code == study.CodeFinal && m.Final != nil && s.current(m.Query, s.State.Slot) {
			return nil, s.shown(site, m)
		}
		return s.refused(site, m, nil), nil
	}
	return nil, nil
}

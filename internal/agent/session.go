package agent

import (
	"covey/internal/keyring"
	"covey/internal/ledger"
	"covey/internal/responder"
	"covey/internal/study"
	"covey/internal/wire"
)

// session is this process's memory of one study that is pending or approved.
// Everything in it can be made again from the ledger, the pending store and the
// data file.
type session struct {
	*summary
	body    []byte
	plan    *study.Plan
	self    int // roster index
	journal *ledger.Journal

	// unattended is set where the policy approves, or did, and nobody looked at the rows.
	unattended bool

	ring      *keyring.Ring        // nil if the session shows a proposal and does nothing else
	responder *responder.Responder // likewise
}

// handle answers one request about this study. Called with mu held.
func (s *session) handle(r wire.Message) wire.Message {
	approval, approved := s.agent.ledger.Approved(s.plan.Digest)
	// Until a study may expire, what this site was charged, which is added up, need not be known.
	at := expiresAt(s.asks, ledger.StudyEntry{State: ledger.Approved, Time: approval.Time})
	if _, over := r.(wire.Ended); approved && !over && !s.agent.now().Before(at) {
		if why := s.expired(); why != nil {
			s.lapse(why)
			return s.agent.strangers.answer(r, study.CodeNotApproved)
		}
	}
	if !approved {
		if ended, ok := r.(wire.Ended); ok && s.agent.ledger.Err() == nil {
			s.dropped(ended.Code)
			return nil
		}
		return s.unapproved(r)
	}
	s.hold()
	switch r.(type) {
	case wire.Query, wire.Release, wire.Open, wire.Prove, wire.Keys, wire.Final, wire.Attest:
		return s.responder.Handle(r, approval)
	}
	if err := s.responder.Erased(); err != nil {
		return wire.Refuse(r, s.store(err))
	}
	switch r := r.(type) {
	case wire.Announce:
		return s.ring.Announce(r)
	case wire.Reveal:
		return s.ring.Reveal(r)
	case wire.Deal:
		return s.ring.Deal(r)
	case wire.Confirm:
		return s.ring.Confirm(r)
	case wire.Confirmed:
		return s.ring.Confirmed(r)
	case wire.Recall:
		return s.ring.Recall(r)
	case wire.Ended:
		s.ended(r.Code)
	}
	return nil
}

// owner is a session as the owner of its keys and of its queries.
type owner struct{ *session }

func (o owner) Store(err error) study.Code { return o.store(err) }
func (o owner) RolledBack(r wire.Message, evidence string) wire.Message {
	return o.rolledBack(r, evidence)
}
func (o owner) Pinned(approval ledger.Approval) study.Code { return o.pinned(approval) }
func (o owner) Sum(ask study.Ask) ([]int64, error)         { return o.rows.Answer(o.plan, ask) }
func (o owner) Beyond(sign string)                         { o.agent.strangers.log(o.plan.Digest, sign) }

// smallCheck is how much memory the check of a result may take besides the rows.
const smallCheck = 4 << 20

// Answered lets go of the rows: at once if the check of the result, which follows, takes much
// memory. Otherwise they go after the answer, which waits for no rows to be unmapped: that takes
// longer than the check where there are many. Until then mu is held, so that nobody is in Sum.
func (o owner) Answered() {
	if o.plan.CheckBytes() > smallCheck {
		o.rows.Release()
		return
	}
	o.agent.work.Go(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.rows.Release()
	})
}

// store tells an error of the ledger by code. One that ends the ledger ends Run.
func (s *summary) store(err error) study.Code {
	s.agent.failed(err)
	s.agent.log.Error("the ledger refuses", "study", s.id, "error", err)
	return study.CodeStore
}

// ended finishes an approved study: its reservation is free again and its
// secrets are erased. The word is not signed, so "completed" is believed only
// when the last query's signed result is held: a false one would make this site
// erase the shares that the others need. Any other end takes nothing but the
// study itself, which the coordinator can stop anyway by silence.
func (s *session) ended(code study.Code) {
	log := s.agent.log.With("study", s.plan.Digest, "code", code)
	last, ok := s.journal.LatestFinal()
	if code == study.CodeCompleted && !(ok && s.plan.Queries.Ends(last)) {
		log.Warn("the coordinator reports completion before the last result; nothing is erased")
		return
	}
	if err := s.agent.ledger.Finish(s.plan.Digest, string(code)); err != nil {
		s.store(err)
		return
	}
	log.Info("study ended")
	s.closed(string(ledger.Finished), code, "coordinator", elsewhere(code))
	s.agent.sessions.forget(s.plan.Digest)
}

// dropped forgets a proposal that ended before this site approved it.
func (s *session) dropped(code study.Code) {
	s.closed(stateEnded, code, "coordinator", elsewhere(code))
	if err := s.agent.pending.Remove(s.plan.Digest); err != nil {
		s.agent.log.Error("a proposal that ended cannot be removed", "study", s.plan.Digest, "error", err)
	}
	s.agent.log.Info("study ended before this site approved it", "study", s.plan.Digest, "code", code)
	s.agent.sessions.forget(s.plan.Digest)
}

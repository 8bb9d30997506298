package coordinator

import (
	"errors"
	"time"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/session"
	"covey/internal/stream"
	"covey/internal/wire"
)

// ErrNotLeader is returned where only the leader can act.
var ErrNotLeader = errors.New("this coordinator is not the leader, and knows no leader that answers")

// retryPropose is the pause before an entry that the log did not take is
// proposed again.
const retryPropose = time.Second

// send queues a message for a site. A site without a link is asked when it connects.
func (m *leader) send(digest proposal.Digest, s *memory, e round.Send) {
	l := m.links[s.Plan.Proposal.Roster[e.Site].Name]
	if l == nil {
		return
	}
	if own, ok := s.Own(e.Site, e.Message); ok {
		l.SendLater(func() ([]byte, error) { return wire.Encode(own) })
		return
	}
	message, err := s.Encode(e.Message, func(w wire.Message) wire.Message { return m.whole(s, w) })
	if err != nil {
		m.log.Error("a message does not encode", "study", digest, "error", err)
		return
	}
	switch e.Message.(type) {
	case wire.Query, wire.Attest:
		m.show(l)
	}
	l.Send(message, stream.AboutOf(e.Message))
}

// propose puts an entry into the log, and again if the log does not take it.
func (m *leader) propose(e round.Entry) {
	c, term, signature := m.core, m.term, m.word(e)
	c.background(func() {
		err := c.apply(entry{Round: &e, Signature: signature})
		if _, stale := errors.AsType[*round.StaleError](err); err == nil || stale || c.ctx.Err() != nil {
			return
		}
		c.log.Error("the log did not take an entry", "study", e.Study, "kind", e.Kind, "error", err)
		c.after(retryPropose, nil, func() { c.event(term, e.Study, round.ProposeFailed{}) })
	})
}

// work does what takes long for a study, and hands it the event.
func (m *leader) work(digest proposal.Digest, s *memory, do session.Job) {
	c, term := m.core, m.term
	c.background(func() {
		done := do()
		c.inTerm(term, func(m *leader) { // what this leader was sent is not what the next one hears
			m.step(digest, s.State, done())
		})
	})
}

func (m *leader) deadline(digest proposal.Digest, s *memory, e round.SetDeadline) {
	s.deadline = m.now().Add(e.After)
	// a deadline is of up to 30 days, and a study has hundreds
	m.later(e.After, s.Turned(), digest, round.Expired{Query: e.Query, Slot: e.Slot, Phase: e.Phase})
}

// later hands an event of this term to a study after a while, unless until is closed.
func (m *leader) later(d time.Duration, until <-chan struct{}, digest proposal.Digest, e round.Event) {
	c, term := m.core, m.term
	c.after(d, until, func() { c.event(term, digest, e) })
}

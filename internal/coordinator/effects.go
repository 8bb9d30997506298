package coordinator

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/stream"
	"covey/internal/study"
	"covey/internal/wire"
)

// ErrNotLeader is returned where only the leader can act.
var ErrNotLeader = errors.New("this coordinator is not the leader, and knows no leader that answers")

// retryPropose is the pause before an entry that the log did not take is
// proposed again.
const retryPropose = time.Second

// send queues a message for a site. A site without a link is asked when it connects.
func (m *leader) send(digest proposal.Digest, s *session, e round.Send) {
	l := m.links[s.plan.Proposal.Roster[e.Site].Name]
	if l == nil {
		return
	}
	// What is for one site alone; the slices are never written to again.
	switch own := e.Message.(type) {
	case wire.Confirm:
		own.Bodies = s.bodiesFor(e.Site)
		l.SendLater(func() ([]byte, error) { return wire.Encode(own) })
		return
	case wire.Deal:
		if s.seals != nil {
			own.Keys = s.sealsFor(e.Site)
			l.SendLater(func() ([]byte, error) { return wire.Encode(own) })
			return
		}
	}
	what := e.Message
	if ask, ok := what.(wire.Attest); ok && s.encoded[wire.Name(what)] == nil {
		what = m.asking(s, ask)
	}
	message, err := s.encode(what)
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

// encode returns a message's bytes. What is the same for every site of the slot is encoded once and
// shared: with many sites and a long vector, a copy each would be most of the leader's memory.
func (s *session) encode(m wire.Message) ([]byte, error) {
	kind := wire.Name(m)
	if told, ok := m.(wire.Final); ok { // not always the last
		kind += strconv.Itoa(told.Query)
	}
	raw := s.encoded[kind]
	if raw == nil {
		var err error
		if raw, err = wire.Encode(m); err != nil {
			return nil, err
		}
		s.encoded[kind] = raw
	}
	return raw, nil
}

// sealsFor are the ML-KEM keys of those that a site seals to.
func (s *session) sealsFor(site int) [][]byte {
	var out [][]byte
	for _, j := range s.setup.Graph().Recipients(site) {
		out = append(out, s.seals[j])
	}
	return out
}

// bodiesFor are the parts of the announcements that are for a site alone: those of the dealers
// whose shares it holds.
func (s *session) bodiesFor(site int) [][]byte {
	if s.bodies == nil {
		return nil
	}
	held := s.setup.Graph().Held(site)
	out := make([][]byte, len(held))
	for k, share := range held {
		out[k] = s.bodies[share.Dealer]
	}
	return out
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

// verify checks all announcements, and with them makes the session's setup.
func (m *leader) verify(digest proposal.Digest, s *session, announcements [][]byte) {
	c, sparse, cfg, term := m.core, s.plan.Thresholds.Sparse(), s.plan.Setup(), m.term
	c.background(func() {
		var setup *secagg.Setup
		var board *secagg.Board
		var err error
		if sparse {
			board, err = secagg.VerifyHeads(cfg, announcements)
		} else {
			setup, err = secagg.Verify(cfg, announcements)
		}
		done := round.SetupVerified{Failed: err != nil}
		if err != nil {
			if at, ok := errors.AsType[*secagg.SiteError](err); ok {
				done.Culprit = study.SeatOf(at.Site)
			}
			c.log.Warn("setup refused", "study", digest, "error", err)
		}
		c.inTerm(term, func(m *leader) { // these announcements are not what the next leader hears
			s.setup, s.board = setup, board
			m.step(digest, s.state, done)
		})
	})
}

// draw makes the setup of the sparse graph.
func (m *leader) draw(digest proposal.Digest, s *session, nonces [][]byte) {
	c, board, term := m.core, s.board, m.term
	seals, bodies := slices.Clone(s.seals), slices.Clone(s.bodies)
	c.background(func() {
		setup, err := board.Draw(nonces)
		if err == nil {
			err = checkParts(setup, seals, bodies)
		}
		done := round.Drawn{}
		// nonces were checked as they came: the graph is unfit, with probability 10^-6
		if err != nil {
			if at, ok := errors.AsType[*secagg.SiteError](err); ok {
				done.Culprit = study.SeatOf(at.Site)
			}
			c.log.Warn("no graph was drawn", "study", digest, "error", err)
		}
		c.inTerm(term, func(m *leader) {
			if err == nil { // or it is drawn again, to the same end, should the log not take that
				s.setup, s.board = setup, nil
			}
			done.Graph = s.graph()
			m.step(digest, s.state, done)
		})
	})
}

// checkParts checks what the leader and some sites alone see of the announcements. They are those
// that the heads name.
func checkParts(setup *secagg.Setup, seals, bodies [][]byte) error {
	for i := range seals {
		if err := setup.CheckKey(i, seals[i]); err != nil {
			return err
		}
		if err := setup.CheckBody(i, bodies[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *leader) deadline(digest proposal.Digest, s *session, e round.SetDeadline) {
	s.deadline = m.now().Add(e.After)
	// a deadline is of up to 30 days, and a study has hundreds
	m.later(e.After, s.turned, digest, round.Expired{Query: e.Query, Slot: e.Slot, Phase: e.Phase})
}

// later hands an event of this term to a study after a while, unless until is closed.
func (m *leader) later(d time.Duration, until <-chan struct{}, digest proposal.Digest, e round.Event) {
	c, term := m.core, m.term
	c.after(d, until, func() { c.event(term, digest, e) })
}

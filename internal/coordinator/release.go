package coordinator

import (
	"crypto/ed25519"
	"errors"
	"slices"
	"time"

	"covey/internal/aggregate"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// open unmasks the sum of the open slot, makes it private and proposes the
// release. The exact sum lives in one slice of this goroutine's until it is noised, and is
// overwritten then: not in the log, not in a log line, not in an error, not in memory.
func (m *leader) open(digest proposal.Digest, s *session, e round.Open) {
	q, err := s.secaggQuery()
	sum, opening := s.take()
	c, state, plan, term := m.core, s.state, s.plan, m.term
	before := *state // for Next, outside the lock
	certificate := s.setup.Pack(state.Certificate)
	c.background(func() {
		var released study.Release
		var began time.Time
		if err == nil {
			released, err = aggregate.Release(plan, e.Ask, e.Survivors, q, sum, opening, func() { began = c.now() })
		}
		if needs(err) {
			if !c.inTerm(term, func(m *leader) { m.unopened(digest, s, err, e, sum, opening) }) {
				aggregate.Wipe(sum, opening)
			}
			return
		}
		aggregate.Wipe(sum, opening)
		if err != nil {
			c.unreleased(term, digest, e.Ask, err)
			return
		}
		// On the tick, so that the sampling time reveals nothing. What comes before the draws and
		// after the tick takes a time that depends on public numbers and on what is released.
		tick := plan.Tick(e.Ask)
		c.after(tick-max(0, c.now().Sub(began))%tick, nil, func() {
			signed, err := sign(c.authority.SigningKey(), released)
			signed.Certificate = certificate
			var next study.Course
			if err == nil {
				next, err = before.Next(released)
			}
			if err != nil {
				c.unreleased(term, digest, e.Ask, err)
				return
			}
			c.inTerm(term, func(m *leader) {
				if !state.Terminal() && state.Query == e.Ask.Query && state.Slot == e.Ask.Slot {
					m.propose(state.NewReleased(released, signed, next))
				}
			})
		})
	})
}

// unreleased ends a study at a sum that was not released.
func (c *core) unreleased(term int, digest proposal.Digest, of study.Ask, err error) {
	c.log.Error("a sum was not released", "study", digest, "query", of.Query, "slot", of.Slot, "error", err)
	c.event(term, digest, failure(of, err))
}

// needs reports whether an opening goes on once sites have sent what it lacks.
func needs(err error) bool {
	switch err.(type) {
	case *secagg.ProofsError, *secagg.KeysError, *secagg.TagsError:
		return true
	}
	return false
}

// failure is how an opening that does not go on ends the study.
func failure(of study.Ask, err error) round.OpenFailed {
	failed := round.OpenFailed{Query: of.Query, Slot: of.Slot, Code: study.CodeInternal}
	if guilty, ok := errors.AsType[*secagg.DealerError](err); ok {
		failed.Code, failed.Culprit = study.CodeBadDealer, study.SeatOf(guilty.Site)
	}
	return failed
}

// unopened goes on with an opening that needs more of the sites.
func (m *leader) unopened(digest proposal.Digest, s *session, why error, e round.Open, sum []uint64, opening *secagg.Opening) {
	query, slot := e.Ask.Query, e.Ask.Slot
	if !s.current(query, slot) {
		aggregate.Wipe(sum, opening)
		return
	}
	convicted := opening.Convicted()
	for _, i := range convicted {
		if !slices.Contains(s.convicted, i) {
			s.fault(i, study.CodeWrongDeposit)
		}
	}
	s.convicted = convicted
	s.giveBack(query, slot, sum, opening)
	m.log.Warn("an opening needs more than shares", "study", digest, "query", query, "why", why)
	var lacks round.Event
	switch why := why.(type) {
	case *secagg.ProofsError:
		lacks = round.ProofsMissing{Query: query, Slot: slot, Dealer: why.Dealer, Helpers: why.Helpers}
	case *secagg.KeysError:
		lacks = round.KeysMissing{Query: query, Slot: slot, From: why.From, Convicted: convicted}
	case *secagg.TagsError:
		lacks = round.TagsMissing{Query: query, Slot: slot, Owners: why.Owners, Convicted: convicted}
	}
	m.step(digest, s.state, lacks)
}

// drop takes the shares of helpers that proved nothing out of the opening.
func (s *session) drop(e round.Drop) {
	if s.opening == nil || !s.current(e.Query, e.Slot) {
		return
	}
	for _, i := range e.Helpers {
		s.opening.Drop(i)
	}
}

func sign(key ed25519.PrivateKey, r study.Release) (round.Released, error) {
	encoded, err := r.Encode()
	if err != nil {
		return round.Released{}, err
	}
	return round.Released{Encoded: encoded, Signature: ed25519.Sign(key, study.SigningInput(encoded))}, nil
}

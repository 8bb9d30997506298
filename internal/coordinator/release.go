package coordinator

import (
	"time"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/session"
	"covey/internal/study"
)

// open unmasks the sum of the open slot, makes it private and proposes the release.
func (m *leader) open(digest proposal.Digest, s *memory, e round.Open) {
	u := s.Unmask(e)
	c, state, plan, term := m.core, s.State, s.Plan, m.term
	before := *state // for Next, outside the lock
	c.background(func() {
		var began time.Time
		released, err := u.Release(func() { began = c.now() })
		if session.Lacks(err) {
			if !c.inTerm(term, func(m *leader) {
				if lacks := u.Resume(err); lacks != nil {
					m.step(digest, s.State, lacks)
				}
			}) {
				u.Wipe()
			}
			return
		}
		if err != nil {
			c.unreleased(term, digest, e.Ask, err)
			return
		}
		// On the tick, so that the sampling time reveals nothing. What comes before the draws and
		// after the tick takes a time that depends on public numbers and on what is released.
		tick := plan.Tick(e.Ask)
		left := tick - max(0, c.now().Sub(began))%tick
		due := c.now().Add(left)
		sleepFraction(left)
		c.after(due.Sub(c.now()), nil, func() {
			signed, err := u.Sign(c.authority.SigningKey(), released)
			var next study.Course
			if err == nil {
				next, err = before.Next(released, signed.Encoded)
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
	c.event(term, digest, session.Failed(of, err))
}

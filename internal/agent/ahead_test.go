package agent

import (
	"testing"
	"testing/synctest"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// late brings two of five sites' queries to the moment when the first one's result is on its way to
// site 0's disk: the next query is asked in the background, and what it does waits in c.
func late(t *testing.T) (*standIn, wire.Query, *recording) {
	c, q := newFive(t, proposal.DropoutContinue)
	u := c.everyone()
	c.tell(c.release(q, u, c.open(q, u)))
	s := c.sites[0]
	s.agent.work.Wait()
	on := s.session(c).results.recording
	w := &recording{query: 0, final: on.final, release: on.release, done: make(chan struct{}), erased: make(chan struct{})}
	s.session(c).results.recording = w // as if the disk had not answered yet
	return c, c.query(1, 1, c.plan.Start().X), w
}

func (s *testSite) charged(t *testing.T, rho float64) {
	t.Helper()
	if p := s.agent.ledger.Populations(); len(p) != 1 || p[0].SpentRho != rho {
		t.Errorf("%+v, want %v spent", p, rho)
	}
}

// TestResultIsWrittenBeforeTheNextCharge: AG-25. While a result is on its way to the disk nothing
// of the next query is charged, stored or sent.
func TestResultIsWrittenBeforeTheNextCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, w := late(t)
		s, rho := c.sites[0], c.plan.Queries[0].Rho
		sent := make(chan wire.Message, 1)
		s.shows()
		go func() { sent <- s.agent.handle(next) }()
		synctest.Wait()
		s.charged(t, rho)
		if s.session(c).answers.adding == nil {
			t.Error("no sum is made ahead")
		}
		if _, on, err := s.session(c).journal.UploadedIn(1); on || err != nil || len(sent) > 0 {
			t.Errorf("an upload is stored (%v, %v), or %d answers are sent", on, err, len(sent))
		}
		close(w.done)
		if up, ok := (<-sent).(wire.Upload); !ok || up.Query != 1 {
			t.Errorf("no upload when the result is there: %+v", up)
		}
		s.charged(t, rho+c.plan.Queries[1].Rho)
		close(w.erased)
	})
}

// TestErasedBeforeTheNextSignature: AG-25. But for the next query's upload a site answers nothing
// before the slots of the result are erased.
func TestErasedBeforeTheNextSignature(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, next, w := late(t)
		s := c.sites[0]
		close(w.done)
		want[wire.Upload](s, next)
		sent := make(chan wire.Message, 1)
		go func() {
			sent <- s.agent.handle(wire.Release{Header: wire.Header{Study: c.plan.Digest, Query: 1, Slot: 1}, Survivors: c.everyone()})
		}()
		synctest.Wait()
		if _, on := s.session(c).journal.Signed(1); on || len(sent) > 0 {
			t.Errorf("a signature is stored (%v), or %d answers are sent", on, len(sent))
		}
		close(w.erased)
		if _, ok := (<-sent).(wire.Signature); !ok {
			t.Error("no signature when the slot is erased")
		}
	})
}

// TestNoSumForARefusal: AG-25. No sum over the rows is begun for what the ledger would refuse, nor
// before the chain was looked at: a refusal that waits for one may tell of the rows by its time.
func TestNoSumForARefusal(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s := c.sites[0]
	q := s.session(c).answers
	begun := func(slot int) bool {
		ask := c.plan.Queries.Fill(c.query(0, slot, c.plan.Start().X).Ask)
		q.s.mu.Lock()
		defer q.s.mu.Unlock()
		q.add(&openQuery{ask: ask, query: c.plan.Summed(q.s.ring.Setup.Transcript(), ask)})
		defer q.abandonSum()
		return q.adding != nil
	}
	if !begun(1) {
		t.Error("no sum is begun for what would be taken")
	}
	want[wire.Upload](s, c.query(0, 1, c.plan.Start().X))
	for slot := range 3 { // before it, the same again, and another one for a query whose shares are out
		if begun(slot) {
			t.Errorf("a sum is begun for slot %d", slot)
		}
	}
	if code := s.quiet(c.query(0, 0, c.plan.Start().X)); code != study.CodeHeld {
		t.Errorf("a slot before the last one: %q", code)
	}
}

package responder

import (
	"testing"
	"testing/synctest"

	"covey/internal/chain"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// late brings two queries to the moment when the first one's result is on its way to the disk. The
// next query is returned.
func late(t *testing.T) (*standIn, *Responder, wire.Query, *recording) {
	c := newStandIn(t, 5, proposal.DropoutContinue)
	s, start := c.respond(), c.plan.Start()
	first := c.ask(start, 0)
	if said, ok := s.Handle(c.query(first), ledger.Approval{}).(wire.Upload); !ok {
		t.Fatalf("no upload: %+v", said)
	}
	final, release := c.release(first)
	next, err := c.plan.Next(start, release, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &recording{query: 0, final: final, release: release, done: make(chan struct{}), erased: make(chan struct{})}
	s.results.recording = w // as if the disk had not answered yet
	c.chain.Append(chain.Released(c.plan.Digest, final.Encoded))
	c.shows()
	return c, s, c.query(c.ask(next, 1)), w
}

// TestResultIsWrittenBeforeTheNextCharge: AG-25. While a result is on its way to the disk nothing
// of the next query is charged, stored or sent.
func TestResultIsWrittenBeforeTheNextCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, next, w := late(t)
		rho := c.plan.Queries[0].Rho
		sent := make(chan wire.Message, 1)
		go func() { sent <- s.Handle(next, ledger.Approval{}) }()
		synctest.Wait()
		c.charged(rho)
		if s.answers.adding == nil {
			t.Error("no sum is made ahead")
		}
		if _, on, err := s.journal.UploadedIn(1); on || err != nil || len(sent) > 0 {
			t.Errorf("an upload is stored (%v, %v), or %d answers are sent", on, err, len(sent))
		}
		close(w.done)
		if up, ok := (<-sent).(wire.Upload); !ok || up.Query != 1 {
			t.Errorf("no upload when the result is there: %+v", up)
		}
		c.charged(rho + c.plan.Queries[1].Rho)
		close(w.erased)
	})
}

// TestErasedBeforeTheNextSignature: AG-25. But for the next query's upload a site answers nothing
// before the slots of the result are erased.
func TestErasedBeforeTheNextSignature(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, next, w := late(t)
		close(w.done)
		if said, ok := s.Handle(next, ledger.Approval{}).(wire.Upload); !ok {
			t.Fatalf("no upload: %+v", said)
		}
		sent := make(chan wire.Message, 1)
		go func() {
			sent <- s.Handle(wire.Release{Header: wire.Header{Study: c.plan.Digest, Query: 1, Slot: 1}, Survivors: c.everyone()}, ledger.Approval{})
		}()
		synctest.Wait()
		if _, on := s.journal.Signed(1); on || len(sent) > 0 {
			t.Errorf("a signature is stored (%v), or %d answers are sent", on, len(sent))
		}
		close(w.erased)
		if said, ok := (<-sent).(wire.Signature); !ok {
			t.Errorf("no signature when the slot is erased: %+v", said)
		}
	})
}

// TestNoSumForARefusal: AG-25. No sum over the rows is begun for what the ledger would refuse, nor
// before the chain was looked at: a refusal that waits for one may tell of the rows by its time.
func TestNoSumForARefusal(t *testing.T) {
	c := newStandIn(t, 3, proposal.DropoutWait)
	s, start := c.respond(), c.plan.Start()
	begun := func(slot int) bool {
		ask := c.ask(start, slot)
		s.answers.add(&openQuery{ask: ask, query: c.plan.Summed(c.setup.Transcript(), ask)})
		defer s.answers.abandonSum()
		return s.answers.adding != nil
	}
	if !begun(1) {
		t.Error("no sum is begun for what would be taken")
	}
	if said, ok := s.Handle(c.query(c.ask(start, 1)), ledger.Approval{}).(wire.Upload); !ok {
		t.Fatalf("no upload: %+v", said)
	}
	for slot := range 3 { // before it, the same again, and another one for a query whose shares are out
		if begun(slot) {
			t.Errorf("a sum is begun for slot %d", slot)
		}
	}
	if no, ok := s.Handle(c.query(c.ask(start, 0)), ledger.Approval{}).(wire.Refusal); !ok || no.Code != study.CodeHeld {
		t.Errorf("a slot before the last one: %+v", no)
	}
}

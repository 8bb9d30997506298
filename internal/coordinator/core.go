package coordinator

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
)

// core is what every part of a coordinator works with.
type core struct {
	authority *pki.Authority
	machine   *Machine
	log       *slog.Logger
	now       func() time.Time

	ctx    context.Context // ends with Close: bounds proposals under way
	cancel context.CancelFunc
	work   sync.WaitGroup // effects under way
}

// Leading reports whether this node leads.
func (c *core) Leading() bool {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.leading
}

// apply puts an entry into the log and waits until it is applied here.
func (c *core) apply(e entry) error {
	m := c.machine.lock()
	log, leading, head := m.raft, m.leading, m.chain.Head()
	c.machine.unlock()
	if !leading {
		return ErrNotLeader
	}
	e.At = c.now().UTC().Truncate(time.Millisecond)
	if head.Number > 0 {
		e.Head = head
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	answer, err := log.Apply(c.ctx, line)
	if err != nil {
		return err
	}
	if refused, ok := answer.(error); ok {
		return refused
	}
	return nil
}

// inTerm lets do have the state if this node leads in the given term still, and reports whether it
// does: a deadline, a check or an opening of an earlier term means nothing.
func (c *core) inTerm(term int, do func(*leader)) bool {
	m := c.machine.lock()
	defer c.machine.unlock()
	if !m.leading || m.term != term {
		return false
	}
	do(m)
	return true
}

// event hands an event to a study, if it comes from the present term.
func (c *core) event(term int, digest proposal.Digest, e round.Event) {
	c.inTerm(term, func(m *leader) {
		if state := m.studies[digest]; state != nil {
			m.step(digest, state, e)
		}
	})
}

// background runs work that must be over before Close returns.
func (c *core) background(work func()) {
	if c.ctx.Err() == nil {
		c.work.Go(work)
	}
}

// after runs work later, unless the coordinator closes first, or until is closed.
func (c *core) after(d time.Duration, until <-chan struct{}, work func()) {
	c.background(func() {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			work()
		case <-until:
		case <-c.ctx.Done():
		}
	})
}

// eventAt hands an event of this term to a study once this leader's clock is there, unless until is
// closed. The clock is looked at again and again: a timer stands still while a machine sleeps, and
// does not see a clock that is set.
func (c *core) eventAt(at time.Time, term int, until <-chan struct{}, digest proposal.Digest, e round.Event) {
	c.after(min(at.Sub(c.now()), time.Minute), until, func() {
		if c.now().Before(at) {
			c.eventAt(at, term, until, digest, e)
			return
		}
		c.event(term, digest, e)
	})
}

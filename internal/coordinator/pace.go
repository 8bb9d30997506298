package coordinator

import (
	"context"
	"errors"
	"time"

	"covey/internal/admission"
)

// What a site may say, over all its streams: an honest one sends some messages a round. What
// changes nothing costs more, and what fails a check most: it costs the leader curve points, a log
// line and a place in the event log.
const (
	paceRate  = 2000.0 // tokens a second
	paceBurst = 4000.0

	costMessage = 1.0
	costHello   = 50.0
	costIdle    = 5.0         // on top, of a message that changes nothing,
	idleBytes   = 64.0 * 1024 // and for each so many bytes of it one token more
	costFault   = 200.0       // on top, of one that fails a check
)

// paceOf returns a site's pace. There is at most one for each site that has joined.
func (c *Coordinator) paceOf(site string) *admission.Pace {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.paced(site)
}

func (m *leader) paced(site string) *admission.Pace {
	p := m.paces[site]
	if p == nil {
		p = admission.NewPace(paceRate, paceBurst)
		m.paces[site] = p
	}
	return p
}

// wait waits out a debt, or until the link or its stream ends.
func (l *link) wait(ctx context.Context, debt time.Duration) error {
	err := admission.Pause(ctx, l.Done(), debt)
	if errors.Is(err, admission.ErrPauseEnded) {
		return l.Why()
	}
	return err
}

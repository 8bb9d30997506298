package coordinator

import (
	"context"
	"errors"
	"sync"
	"time"
)

// bucket is a token bucket: what may be done at once, and how fast that comes back. It may go
// into debt, which is time to wait. The zero bucket is empty.
type bucket struct {
	rate, burst float64 // tokens a second, and at most
	tokens      float64
	at          time.Time
}

func newBucket(rate, burst float64) bucket { return bucket{rate: rate, burst: burst, tokens: burst} }

func (b *bucket) fill(now time.Time) {
	if !b.at.IsZero() {
		b.tokens = min(b.burst, b.tokens+b.rate*max(0, now.Sub(b.at).Seconds()))
	}
	b.at = now
}

// spend takes tokens and gives how long to wait until there is no debt.
func (b *bucket) spend(now time.Time, cost float64) time.Duration {
	b.fill(now)
	b.tokens -= cost
	if b.tokens >= 0 {
		return 0
	}
	return time.Duration(-b.tokens / b.rate * float64(time.Second))
}

// queue takes one token and gives how long to wait for it; none if that is longer than most.
func (b *bucket) queue(now time.Time, most time.Duration) (time.Duration, bool) {
	wait := b.spend(now, 1)
	if wait > most {
		b.tokens++
		return 0, false
	}
	return wait, true
}

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

// pace slows a site down that says more than an honest one has to say.
type pace struct {
	mu     sync.Mutex
	bucket bucket
}

func newPace() *pace { return &pace{bucket: newBucket(paceRate, paceBurst)} }

func (p *pace) spend(now time.Time, cost float64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bucket.spend(now, cost)
}

// paceOf gives a site's. There are no more of them than sites that have joined.
func (c *Coordinator) paceOf(site string) *pace {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	return c.paced(site)
}

// paced is paceOf with the lock held.
func (c *Coordinator) paced(site string) *pace {
	p := c.paces[site]
	if p == nil {
		p = newPace()
		c.paces[site] = p
	}
	return p
}

// wait waits out a debt, or until the link or its stream ends.
func (l *link) wait(ctx context.Context, debt time.Duration) error {
	err := pause(ctx, l.done, debt)
	if errors.Is(err, errLinkEnded) {
		return l.why
	}
	return err
}

var errLinkEnded = errors.New("link: ended")

// pause waits out a debt, or until ctx or done ends; done may be nil.
func pause(ctx context.Context, done <-chan struct{}, debt time.Duration) error {
	if debt <= 0 {
		return nil
	}
	t := time.NewTimer(debt)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-done:
		return errLinkEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

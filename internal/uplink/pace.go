package uplink

import (
	"context"
	"sync"
	"time"
)

const (
	// askedBurst is how many messages a site reads without a pause: those of more queries than
	// studies ask in hours.
	askedBurst = 100_000
	// askedEvery is how often it reads one more.
	askedEvery = 20 * time.Millisecond
)

// pace bounds the messages that a site reads, over all its links: a coordinator can ask about an
// approved study without end, and each answer is a line of egress.jsonl for good, each refusal one
// of the log. What comes faster waits, and none is lost.
type pace struct {
	mu sync.Mutex
	// until when the messages that were read would have taken, at one every askedEvery
	until time.Time
}

// wait returns when one more message may be read, or ctx's error.
func (p *pace) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	if p.until.Before(now) {
		p.until = now
	}
	p.until = p.until.Add(askedEvery)
	early := p.until.Sub(now) - askedBurst*askedEvery
	p.mu.Unlock()
	if early <= 0 {
		return nil
	}
	select {
	case <-time.After(early):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

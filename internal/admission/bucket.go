// Package admission is who may come in to a coordinator, and how fast: token buckets and what is
// kept of each host that connects, for both of its ports; and for the sites' the gate around TLS
// and the meter of HTTP/2 frames behind it. It knows nothing of studies.
package admission

import (
	"sync"
	"time"
)

// Bucket is a token bucket: what may be done at once, and how fast that comes back. It may go into
// debt, which is time to wait. The zero bucket is empty. It is not safe for use by several
// goroutines.
type Bucket struct {
	Rate, Burst float64 // tokens a second, and at most
	Tokens      float64
	at          time.Time
}

// NewBucket returns a full bucket.
func NewBucket(rate, burst float64) Bucket { return Bucket{Rate: rate, Burst: burst, Tokens: burst} }

func (b *Bucket) fill(now time.Time) {
	if !b.at.IsZero() {
		b.Tokens = min(b.Burst, b.Tokens+b.Rate*max(0, now.Sub(b.at).Seconds()))
	}
	b.at = now
}

// Full reports whether nothing of the bucket is in use.
func (b *Bucket) Full(now time.Time) bool {
	b.fill(now)
	return b.Tokens >= b.Burst
}

// Spend takes tokens and returns how long to wait until there is no debt.
func (b *Bucket) Spend(now time.Time, cost float64) time.Duration {
	b.fill(now)
	b.Tokens -= cost
	if b.Tokens >= 0 {
		return 0
	}
	return time.Duration(-b.Tokens / b.Rate * float64(time.Second))
}

// Queue takes one token and returns how long to wait for it; it takes none if that is longer than
// most.
func (b *Bucket) Queue(now time.Time, most time.Duration) (time.Duration, bool) {
	wait := b.Spend(now, 1)
	if wait > most {
		b.Tokens++
		return 0, false
	}
	return wait, true
}

// Pace is a bucket for use by several goroutines.
type Pace struct {
	mu     sync.Mutex
	bucket Bucket
}

// NewPace returns a full one.
func NewPace(rate, burst float64) *Pace { return &Pace{bucket: NewBucket(rate, burst)} }

// Spend is [Bucket.Spend].
func (p *Pace) Spend(now time.Time, cost float64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bucket.Spend(now, cost)
}

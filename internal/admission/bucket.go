// Package admission limits who may connect to a coordinator, and how fast: token buckets and a
// record of each host for both of its ports, and for the sites' port the gate around TLS and the
// meter of HTTP/2 frames behind it. It knows nothing about studies.
//
// # Rules
//
// The rules of docs/protocol.md that hold at the sites' port, at length; other packages keep
// LIM-5, LIM-8 and LIM-9.
//
//   - LIM-1: Connections without a certificate of a site or an analyst of now, handshakes
//     included, MUST be bounded in number, time and bytes. One more ends the oldest of the address
//     that has most.
//   - LIM-2: A site or an analyst MUST have at most 4 connections; one more ends its oldest, and
//     none of another's, nor of an earlier holder of the name.
//   - LIM-3: Connections MUST be taken, and handshakes begun, at a bounded rate, from one address
//     and from all. What comes faster waits for 5 s at most. One address's flood costs no other's
//     rate.
//   - LIM-4: A connection's calls and their heads MUST be bounded, and a stream's sender MUST be
//     at most 1 MiB ahead of its reader. A site MUST have at most two streams of Link, its link
//     and the next. A message on a stream that has not said hello, or whose site opened another
//     since, MUST end that stream and change nothing. A client MUST be sent one result at a time,
//     and a caller that takes none of it for 30 s MUST lose the call.
//   - LIM-5: A plan of more than 4 GiB of tags and deposits (64 bytes a pair and slot), or of more
//     than 256 MiB in the log, MUST be refused. A message MUST be no longer than what the studies
//     of its site's roster entries need (64 KiB in none), or the link ends. Before it is decoded
//     it MUST be one body, once, of no more fields than the largest roster has boxes.
//   - LIM-6: A site's messages and calls MUST be processed at a bounded rate over all its streams,
//     lower for those that change nothing, lowest for those that fail a check. Another site's MUST
//     NOT wait for it.
//   - LIM-7: HTTP/2 frames that move no message (heads, resets, pings, settings, priorities,
//     window updates, DATA that is small or of no message) MUST be read at a bounded rate a
//     connection. An honest transfer MUST NOT wait for it.
//   - LIM-8: A join without a token that is given out MUST write nothing to the log, and be
//     refused before anything is signed. A repeated join writes nothing again.
//   - LIM-9: A hello with a data set's name that is empty, over 200 bytes, or not printed as
//     itself MUST end the link; names that are more than letters, digits, `.`, `_` and `-` are
//     quoted on terminals. A coordinator's addresses and refusals MUST hold no such character
//     either.
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

// spend takes tokens and returns how long to wait until there is no debt.
func (b *Bucket) spend(now time.Time, cost float64) time.Duration {
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
	wait := b.spend(now, 1)
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

// Spend is [Bucket.spend].
func (p *Pace) Spend(now time.Time, cost float64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bucket.spend(now, cost)
}

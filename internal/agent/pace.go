package agent

import (
	"sync"
	"time"
)

const (
	// unknownBurst is how many answers about studies that are not on record here leave at once:
	// more than proposals can wait.
	unknownBurst = 256
	// unknownEvery is how often one more may leave.
	unknownEvery = 10 * time.Second
	// idleBurst and idleEvery are the same for studies that are on record and not approved: a
	// coordinator that lost its place asks a study that is over for its results, query by query.
	idleBurst = 4096
	idleEvery = time.Second
)

// pace bounds the answers about studies that this site takes no part in: each is a line of
// egress.jsonl for good, and a coordinator can ask, and make up digests, without end. What is not
// answered leaves no line; an honest coordinator asks again on the next link.
type pace struct {
	burst int
	every time.Duration

	mu    sync.Mutex
	spent int       // of burst
	since time.Time // up to which spent was made less
}

// take reports whether one more answer may leave.
func (p *pace) take(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if back := int(now.Sub(p.since) / p.every); back > 0 {
		p.spent = max(0, p.spent-back)
		p.since = p.since.Add(time.Duration(back) * p.every)
	}
	if p.spent == 0 {
		p.since = now
	}
	if p.spent >= p.burst {
		return false
	}
	p.spent++
	return true
}

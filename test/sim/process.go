//go:build failpoint

package sim

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"covey/internal/failpoint"
	"covey/internal/ledger"
	"covey/internal/replica"
	"covey/test/fed"
)

// errKilled is what a dead process's files say.
var errKilled = errors.New("sim: the process was killed")

// process is a coordinator or an agent with its folder. A kill stops its network
// and its files at one moment; what its goroutines still do then reaches neither.
type process struct {
	f *Federation
	*fed.Part
	log *slog.Logger

	mu      sync.Mutex
	dead    bool // from the kill to the next start
	running bool // from start to the end of its last goroutine
	skew    time.Duration
	armed   *trap
}

// trap makes the k-th passage of a place a fault.
type trap struct {
	point string // a prefix
	phase failpoint.Phase
	match func(failpoint.Event) bool // nil for any
	left  int
	do    func(p *process) error
	hit   atomic.Bool
}

func (p *process) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Add(p.skew)
}

// start runs the process from its folder. The one before must have ended.
func (p *process) start() error {
	p.f.net.Start(p.Host)
	p.mu.Lock()
	p.dead = false
	p.mu.Unlock()
	return p.StartWith(func() {
		p.mu.Lock()
		p.running = true
		p.mu.Unlock()
	}, func(err error) {
		p.mu.Lock()
		p.running = false
		dead := p.dead
		p.dead = true
		p.mu.Unlock()
		if !dead && err != nil {
			p.f.fault("process-ended", "%s ended by itself: %v", p.Name, err)
		}
		p.f.net.Kill(p.Host)
	})
}

// kill ends the process as kill -9 does: its network and its files stop here.
func (p *process) kill() {
	p.mu.Lock()
	if p.dead || !p.running {
		p.mu.Unlock()
		return
	}
	p.dead = true
	p.mu.Unlock()
	p.f.net.Kill(p.Host)
	p.Cancel()
}

// gone waits for the last goroutine of a killed process.
func (p *process) gone() {
	ended := p.Ended()
	if ended == nil {
		return
	}
	select {
	case <-ended:
	case <-time.After(patience):
		p.f.fault("hang", "%s was stopped and does not end", p.Name)
		<-ended
	}
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead || !p.running
}

// arm sets the process's trap, nil for none.
func (p *process) arm(t *trap) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = t
}

// hit is a passage of one of the process's places.
func (p *process) hit(e failpoint.Event) error {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		if e.Phase == failpoint.After && e.Point != failpoint.Receive {
			p.f.record(e) // it did become durable
		}
		return errKilled
	}
	var do func(*process) error
	if t := p.armed; t != nil && t.phase == e.Phase && (t.point == e.Point || len(t.point) < len(e.Point) && e.Point[:len(t.point)] == t.point) && (t.match == nil || t.match(e)) {
		if t.left--; t.left < 0 {
			p.armed, do = nil, func(p *process) error {
				defer t.hit.Store(true) // last: who sees it waits for what do began
				return t.do(p)
			}
		}
	}
	p.mu.Unlock()
	if do != nil && e.Phase == failpoint.Before {
		if err := do(p); err != nil {
			return err
		}
	}
	p.f.record(e)
	if do != nil && e.Phase == failpoint.After {
		return do(p)
	}
	return nil
}

// stores reports whether an error is that of files that a kill stopped.
func stores(err error) bool {
	_, l := errors.AsType[*ledger.StoreError](err)
	_, r := errors.AsType[*replica.StoreError](err)
	return l || r || errors.Is(err, errKilled)
}

//go:build failpoint

package sim

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"covey/internal/agent"
	"covey/internal/failpoint"
	"covey/internal/ledger"
	"covey/internal/node"
	"covey/internal/replica"
	"covey/internal/siteconfig"
)

// errKilled is what a dead process's files say.
var errKilled = errors.New("sim: the process was killed")

// process is a coordinator or an agent with its folder. A kill stops its network
// and its files at one moment; what its goroutines still do then reaches neither.
type process struct {
	f    *Federation
	name string
	host string
	dir  string
	log  *slog.Logger

	mu      sync.Mutex
	dead    bool          // from the kill to the next start
	running bool          // from start to the end of its last goroutine
	ended   chan struct{} // closed with running's end
	cancel  context.CancelFunc
	skew    time.Duration
	armed   *trap
	starts  int
	node    *node.Node // of a coordinator that runs
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
	p.f.net.Start(p.host)
	p.mu.Lock()
	p.dead = false
	p.starts++
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	var run func(context.Context) error
	var n *node.Node
	var err error
	if p.isAgent() {
		run, err = p.openAgent()
	} else {
		n, err = p.openNode()
		if err == nil {
			run = n.Run
		}
	}
	if err != nil {
		cancel()
		return err
	}
	p.mu.Lock()
	p.cancel, p.running, p.node, p.ended = cancel, true, n, make(chan struct{})
	ended := p.ended
	p.mu.Unlock()
	go func() {
		err := run(ctx)
		cancel()
		p.mu.Lock()
		p.running, p.node = false, nil
		dead := p.dead
		p.dead = true
		p.mu.Unlock()
		if !dead && err != nil && !errors.Is(err, context.Canceled) {
			p.f.fault("process-ended", "%s ended by itself: %v", p.name, err)
		}
		p.f.net.Kill(p.host)
		close(ended)
	}()
	return nil
}

func (p *process) isAgent() bool { return p.f.sites[p.dir] != nil }

func (p *process) openNode() (*node.Node, error) {
	n, err := node.Open(p.dir, node.Options{
		Logger: p.log, Now: p.now, Listen: p.f.net.Listen,
		Dial:     func(ctx context.Context, address string) (net.Conn, error) { return p.f.net.Dial(ctx, p.host, address) },
		Election: 200 * time.Millisecond, PeerTimeout: 2 * time.Second, SnapshotThreshold: 24,
	})
	return n, err
}

func (p *process) openAgent() (func(context.Context) error, error) {
	config, err := siteconfig.Read(p.dir)
	if err != nil {
		return nil, err
	}
	a, err := agent.New(agent.Options{Config: config, Logger: p.log, Now: p.now, DialOptions: p.dialer()})
	if err != nil {
		return nil, err
	}
	return a.Run, nil
}

func (p *process) dialer() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
		return p.f.net.Dial(ctx, p.host, address)
	})}
}

// kill ends the process as kill -9 does: its network and its files stop here.
func (p *process) kill() {
	p.mu.Lock()
	if p.dead || !p.running {
		p.mu.Unlock()
		return
	}
	p.dead = true
	cancel := p.cancel
	p.mu.Unlock()
	p.f.net.Kill(p.host)
	cancel()
}

// gone waits for the last goroutine of a killed process.
func (p *process) gone() {
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended == nil {
		return
	}
	select {
	case <-ended:
	case <-time.After(patience):
		p.f.fault("hang", "%s was stopped and does not end", p.name)
		<-ended
	}
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead || !p.running
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
			do, p.armed = t.do, nil
			t.hit.Store(true)
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

//go:build failpoint

package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"covey/internal/failpoint"
)

// Kind of a fault.
type Kind string

// The kinds.
const (
	KillLeader    Kind = "kill-leader"
	KillNode      Kind = "kill-coordinator"
	KillAgent     Kind = "kill-agent"
	TrapLeader    Kind = "trap-leader"      // killed at a write to its log
	TrapFollower  Kind = "trap-coordinator" // the same of any coordinator
	TrapAgent     Kind = "trap-agent"       // killed at a place of its ledger or link
	IsolateLeader Kind = "isolate-leader"   // from the other coordinators
	Partition     Kind = "partition"        // two hosts
	OneWay        Kind = "one-way"          // two hosts, one direction
	Freeze        Kind = "freeze"           // a host's network
	Stall         Kind = "stall"            // a write to a coordinator's log takes long
	Cut           Kind = "cut"              // connections, at a write
	Slow          Kind = "slow"             // the network
	Transfer      Kind = "transfer"         // of the lead
)

// Fault is one thing done to a federation.
type Fault struct {
	After time.Duration // since the one before
	Kind  Kind
	A, B  int // which: coordinators first, then sites
	For   time.Duration
	Point string
	Phase failpoint.Phase
	Left  int // passages of the place before
	Late  bool
}

func (t Fault) String() string {
	s := fmt.Sprintf("{After: %d, Kind: %q, A: %d, B: %d, For: %d", t.After, t.Kind, t.A, t.B, t.For)
	if t.Point != "" {
		s += fmt.Sprintf(", Point: %q, Phase: %q, Left: %d", t.Point, t.Phase, t.Left)
	}
	return s + fmt.Sprintf(", Late: %v}", t.Late)
}

// agentPoints are the places of an agent where a crash matters.
var agentPoints = []string{
	"ledger.approve", "ledger.charge", "ledger.upload", "ledger.sign", "ledger.shares", "ledger.final", "ledger.finish", "ledger.erase",
	"ledger.slots", "ledger.setup", failpoint.Send, failpoint.Receive,
}

// draw returns the next fault of a random schedule.
func draw(rng *rand.Rand, o Options) Fault {
	t := Fault{
		After: time.Duration(rng.ExpFloat64() * float64(450*time.Millisecond)),
		For:   100*time.Millisecond + time.Duration(rng.ExpFloat64()*float64(2*time.Second)),
		A:     rng.IntN(o.Coordinators + o.Sites), B: rng.IntN(o.Coordinators + o.Sites),
		Phase: failpoint.Before, Left: rng.IntN(3), Late: rng.IntN(2) == 0,
	}
	if rng.IntN(2) == 0 {
		t.Phase = failpoint.After
	}
	weighted := []struct {
		kind   Kind
		weight int
	}{
		{KillLeader, 16}, {KillNode, 2}, {KillAgent, 3}, {TrapLeader, 12}, {TrapFollower, 2}, {TrapAgent, 5}, {IsolateLeader, 2},
		{Partition, 2}, {OneWay, 2}, {Freeze, 2}, {Stall, 1}, {Cut, 4}, {Slow, 1}, {Transfer, 1},
	}
	total := 0
	for _, w := range weighted {
		total += w.weight
	}
	k := rng.IntN(total)
	for _, w := range weighted {
		if k -= w.weight; k < 0 {
			t.Kind = w.kind
			break
		}
	}
	switch t.Kind {
	case Stall:
		t.Point = failpoint.Log
	case TrapLeader, TrapFollower:
		t.Point = failpoint.Log
		if rng.IntN(5) == 0 {
			t.Point = failpoint.Vote
		}
	case TrapAgent:
		t.Point = agentPoints[rng.IntN(len(agentPoints))]
		if t.Point == failpoint.Send {
			t.Phase = failpoint.Before
		}
		if t.Point == failpoint.Receive {
			t.Phase = failpoint.After
		}
	}
	return t
}

// pick returns a process by a fault's number.
func (f *Federation) pick(i int) *process {
	return f.all()[i%len(f.all())]
}

// faults makes faults from next until stop is closed; then it mends everything and starts
// every dead process again.
type faults struct {
	f    *Federation
	work sync.WaitGroup // restarts under way
	calm atomic.Bool    // no faults just now: the study had its share
	made atomic.Bool    // the last one of a schedule
}

func (w *faults) run(next func() (Fault, bool), stop <-chan struct{}) {
	for {
		t, ok := next()
		if !ok {
			w.made.Store(true)
			<-stop
			break
		}
		select {
		case <-time.After(t.After):
		case <-stop:
			ok = false
		}
		if !ok {
			break
		}
		if w.calm.Load() {
			continue
		}
		w.f.did("%v", t)
		w.make(t)
	}
	for _, p := range w.f.all() {
		p.arm(nil)
	}
	w.f.net.Heal()
	w.f.net.Slow(2 * time.Millisecond)
	w.f.net.Cut(0, false)
	w.work.Wait()
}

func (w *faults) make(t Fault) {
	f := w.f
	heal := func() {
		w.work.Go(func() {
			time.Sleep(t.For)
			f.net.Heal()
		})
	}
	switch t.Kind {
	case KillLeader:
		if p := f.leader(); p != nil {
			w.kill(p, t)
		}
	case KillNode:
		w.kill(f.nodes[t.A%len(f.nodes)], t)
	case KillAgent:
		w.kill(f.agents[t.A%len(f.agents)], t)
	case TrapLeader, TrapFollower, TrapAgent, Stall:
		p := f.nodes[t.A%len(f.nodes)]
		switch {
		case t.Kind == TrapLeader:
			if p = f.leader(); p == nil {
				return
			}
		case t.Kind == TrapAgent:
			p = f.agents[t.A%len(f.agents)]
		}
		do := func(p *process) error {
			// In the middle of a call of the process: its end must not be waited for here.
			w.kill(p, t)
			return errKilled
		}
		if t.Kind == Stall {
			do = func(*process) error { time.Sleep(t.For); return nil }
		}
		p.arm(&trap{point: t.Point, phase: t.Phase, left: t.Left, do: do})
	case IsolateLeader:
		if p := f.leader(); p != nil {
			for _, q := range f.nodes {
				if q != p {
					f.net.Block(p.Host, q.Host)
					f.net.Block(q.Host, p.Host)
				}
			}
			f.mu.Lock()
			f.leaders++
			f.mu.Unlock()
			t.For += time.Second // past an election
			heal()
		}
	case Partition:
		f.net.Block(f.pick(t.A).Host, f.pick(t.B).Host)
		f.net.Block(f.pick(t.B).Host, f.pick(t.A).Host)
		heal()
	case OneWay:
		f.net.Block(f.pick(t.A).Host, f.pick(t.B).Host)
		heal()
	case Freeze:
		f.net.Freeze(f.pick(t.A).Host)
		heal()
	case Cut:
		f.net.Cut(1+t.Left, t.Late)
	case Slow:
		f.net.Slow(50 * time.Millisecond)
		w.work.Go(func() {
			time.Sleep(t.For)
			f.net.Slow(2 * time.Millisecond)
		})
	case Transfer:
		if p := f.leader(); p != nil {
			if n := p.Node(); n != nil {
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
				w.work.Go(func() {
					defer cancel()
					n.Transfer(ctx)
				})
			}
		}
	}
}

// kill kills a process now and starts it again later, with its clock off by up to an
// hour now and then.
func (w *faults) kill(p *process, t Fault) {
	p.mu.Lock()
	alive := !p.dead && p.running
	p.mu.Unlock()
	n := p.Node()
	leads := n != nil && n.Coordinator.Leading()
	if !alive {
		return
	}
	p.f.mu.Lock()
	p.f.kills++
	if leads {
		p.f.leaders++
	}
	p.f.mu.Unlock()
	p.kill()
	w.work.Go(func() {
		p.gone()
		time.Sleep(t.For)
		p.mu.Lock()
		p.skew = 0
		if t.Late {
			p.skew = time.Duration(t.B%7-3) * 19 * time.Minute
		}
		p.mu.Unlock()
		for {
			err := p.start()
			if err == nil {
				return
			}
			if !stores(err) {
				p.f.fault("restart", "%s does not start again: %v", p.Name, err)
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

package agent

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc"

	"covey/internal/egress"
	"covey/internal/enroll"
	"covey/internal/failpoint"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// maxWaiting bounds the messages of one link that wait for work, and the answers that wait to be
// sent, but for one of each study being worked on: the reader then reads no more, and gRPC's flow
// control holds the coordinator back.
const maxWaiting = 64

// pair is two answers to one request, in this order.
type pair struct {
	wire.Message
	second wire.Message
}

// refuse makes the refusal of a request.
func refuse(r wire.Message, code study.Code) wire.Refusal {
	return wire.Refusal{Header: r.About(), Code: code}
}

// queued is one message to send and what the egress log says of it.
type queued struct {
	raw  []byte
	sent egress.Line
}

// link is one open stream. One goroutine reads it and one writes it; each study's
// messages are worked on in order, different studies' at the same time.
type link struct {
	agent *Agent
	ctx   context.Context // ends with the stream
	end   func(error)     // ends it; nil in tests of a link alone

	mu    sync.Mutex
	queue []queued
	taken *sync.Cond // the writer took the queue, or the link ended
	wake  chan struct{}

	lanesMu sync.Mutex
	lanes   map[proposal.Digest][]wire.Message // what waits, for studies being worked on
	held    int                                // bytes of the messages read and not yet worked off
	freed   *sync.Cond                         // held is less, or the link ended
	waiting chan struct{}                      // one a message read and not yet worked off
}

// sized is a request, and how long its message was.
type sized struct {
	wire.Message
	bytes int
}

func newLink(ctx context.Context, a *Agent) *link {
	l := &link{agent: a, ctx: ctx, wake: make(chan struct{}, 1),
		lanes: map[proposal.Digest][]wire.Message{}, waiting: make(chan struct{}, maxWaiting)}
	l.taken, l.freed = sync.NewCond(&l.mu), sync.NewCond(&l.lanesMu)
	context.AfterFunc(ctx, func() {
		l.mu.Lock()
		l.taken.Broadcast()
		l.mu.Unlock()
		l.lanesMu.Lock()
		l.freed.Broadcast()
		l.lanesMu.Unlock()
	})
	return l
}

// begin makes l the link and says hello on it. A proposal of the link before may still be worked
// on: either its study is on record by now, and in the hello, or its decision finds l (drain).
// Either way the coordinator learns that the study is open here.
func (a *Agent) begin(l *link, address string) {
	h := a.hello()
	a.setLink(l, address, nil)
	a.tellStudies(&h)
	l.enqueue(h, true) // the writer has not begun
}

// post queues an answer. After the link has ended it does nothing: whatever an
// answer holds is asked for again on the next one.
func (l *link) post(m wire.Message) {
	if two, ok := m.(pair); ok {
		l.post(two.Message)
		l.post(two.second)
		return
	}
	l.enqueue(m, false)
}

// enqueue puts one message behind the others, or before them.
func (l *link) enqueue(m wire.Message, first bool) {
	raw, err := wire.Encode(m)
	if err != nil {
		l.agent.log.Error("an answer does not encode", "kind", wire.Name(m), "error", err)
		return
	}
	l.mu.Lock()
	at := len(l.queue)
	if first {
		at = 0
	}
	l.queue = slices.Insert(l.queue, at, queued{raw, describe(m, len(raw))})
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // the writer is already due to look
	}
}

// describe says of a message what the egress log holds.
func describe(m wire.Message, bytes int) egress.Line {
	s := wire.StatedIn(m)
	return egress.Line{Kind: wire.Name(m), Bytes: bytes, Study: s.Study, Query: s.Query, Slot: s.Slot, Code: s.Code}
}

// room waits until answers are taken, if many are queued: who asks and takes none is not to fill
// this site's memory.
func (l *link) room() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) >= maxWaiting && l.ctx.Err() == nil {
		l.taken.Wait()
	}
}

// write sends what is queued until the link ends.
func (l *link) write(send func(data []byte, last bool) error) error {
	for {
		l.mu.Lock()
		queue := l.queue
		l.queue = nil
		l.taken.Broadcast()
		l.mu.Unlock()
		for _, m := range queue {
			// Recorded before it is sent: the log may hold a message that was
			// cut off, never miss one that left.
			l.agent.egress.Record(m.sent.Of(m.raw), l.agent.now())
			if err := l.agent.hit(failpoint.Send, failpoint.Before, m.raw); err != nil {
				return err
			}
			if err := wire.Send(m.raw, send); err != nil {
				return err
			}
		}
		if len(queue) > 0 {
			continue
		}
		select {
		case <-l.wake:
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
}

// hit shows a message to a test; it does nothing in a release build.
func (a *Agent) hit(point string, phase failpoint.Phase, raw []byte) error {
	if !failpoint.Enabled {
		return nil
	}
	return failpoint.Hit(failpoint.Event{Point: point, Phase: phase, Owner: a.config.DataDir(), Query: -1, Slot: -1, Data: raw})
}

// read takes messages until the link ends or one makes no sense.
func (l *link) read(receive func() (data []byte, last bool, err error)) error {
	for {
		// A study's first long message comes behind a short one that asks for this site's keys, so
		// that the ceiling is of after its approval.
		raw, err := wire.Receive(receive, l.agent.ceiling())
		if err != nil {
			return err
		}
		if err := l.agent.hit(failpoint.Receive, failpoint.After, raw); err != nil {
			return err
		}
		r, err := wire.DecodeCoordinator(raw)
		if err != nil {
			return err
		}
		select {
		case l.waiting <- struct{}{}:
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
		l.hold(len(raw))
		l.dispatch(sized{r, len(raw)})
	}
}

// hold waits until there is room for a message's bytes.
func (l *link) hold(bytes int) {
	l.lanesMu.Lock()
	defer l.lanesMu.Unlock()
	for l.held > 0 && l.held+bytes > maxHeld && l.ctx.Err() == nil {
		l.freed.Wait()
	}
	l.held += bytes
}

// dispatch puts a request behind its study's others.
func (l *link) dispatch(r wire.Message) {
	id := r.About().Study
	l.lanesMu.Lock()
	defer l.lanesMu.Unlock()
	waiting, busy := l.lanes[id]
	l.lanes[id] = append(waiting, r)
	if !busy {
		l.agent.work.Go(func() { l.drain(id) })
	}
}

// drain works a study's requests off. What is left when the link ends is
// dropped; it is asked again on the next one.
func (l *link) drain(id proposal.Digest) {
	for {
		l.lanesMu.Lock()
		lane := l.lanes[id]
		if len(lane) == 0 || l.ctx.Err() != nil {
			delete(l.lanes, id)
			l.lanesMu.Unlock()
			return
		}
		next := lane[0]
		lane[0] = nil // its bytes are this function's alone
		l.lanes[id] = lane[1:]
		l.lanesMu.Unlock()
		bytes := 0
		if r, ok := next.(sized); ok {
			next, bytes = r.Message, r.bytes
		}
		switch said := l.agent.handle(next).(type) {
		case nil:
		case wire.Decision:
			// On the link that there is by now: a study that ended meanwhile is not asked about
			// again.
			l.agent.post(said)
		default:
			l.post(said)
		}
		l.room()
		l.lanesMu.Lock()
		l.held -= bytes
		l.freed.Broadcast()
		l.lanesMu.Unlock()
		<-l.waiting
	}
}

// stay keeps a link open until ctx ends or the ledger fails: it tries the
// coordinators' addresses in order, again and again, waiting longer after each round
// of failures. One that does not lead may say who does. A change of state is logged
// once.
func (a *Agent) stay(ctx context.Context) error {
	wait := backoff.NewExponentialBackOff()
	// and half of that as jitter
	wait.InitialInterval, wait.MaxInterval = 250*time.Millisecond, 8*time.Second
	said, elsewhere := "", false
	addresses := rota{configured: a.config.Coordinator}
	for {
		address := addresses.next()
		settled, err := a.connect(ctx, address)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if settled {
			wait.Reset()
			said = ""
		}
		a.setLink(nil, address, err)
		if err == errReloaded {
			addresses.again()
			continue
		}
		if addresses.heard(err) && !elsewhere {
			elsewhere = true
			a.log.Warn("the coordinator that leads is at an address that agent.toml does not name, and is not called there; if its operator tells you so, add it to coordinator",
				"asked", address, "error", enroll.Plain(err))
		}
		if _, ok := errors.AsType[*enroll.NotLeaderError](err); ok {
			wait.Reset() // an election takes about a second
		}
		if addresses.atOnce() {
			continue
		}
		if now := enroll.Plain(err); now != said {
			a.log.Warn("no link to the coordinator; trying again", "address", address, "error", now)
			said = now
		}
		select {
		case <-time.After(wait.NextBackOff()):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// settleTime is how long a link lives before it counts as one: a coordinator
// that takes the handshake and then refuses the site must not be asked four
// times a second.
const settleTime = 2 * time.Second

// connect runs one link to its end.
func (a *Agent) connect(ctx context.Context, address string) (settled bool, err error) {
	tls, err := a.site.ClientTLS(enroll.ServerName(address))
	if err != nil {
		return false, err
	}
	seen := enroll.NewHandshake(tls)
	conn, err := grpc.NewClient(address, append(enroll.DialOptions(seen), a.dialOptions...)...)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s, err := wire.OpenLink(ctx, conn) // waits for the handshake, or its failure
	if err != nil {
		return false, seen.Explain(err)
	}
	l := newLink(ctx, a)
	l.end = cancel
	a.begin(l, address)
	a.setCalls(conn)
	defer a.setCalls(nil)
	ended := make(chan error, 2)
	a.work.Go(func() {
		// io.EOF says that the stream is over; why, its reader hears.
		if err := l.write(s.Send); !errors.Is(err, io.EOF) {
			ended <- err
		}
	})
	a.work.Go(func() { ended <- l.read(s.Receive) })
	a.work.Go(func() { a.renewals(ctx, conn) })
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	for {
		select {
		case err := <-ended:
			if context.Cause(ctx) == errReloaded {
				return true, errReloaded
			}
			return settled, enroll.ExplainLeader(err)
		case <-timer.C:
			settled = true
			a.log.Info("linked to the coordinator", "address", address)
		}
	}
}

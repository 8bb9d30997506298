package uplink

import (
	"context"
	"slices"
	"sync"

	"covey/internal/egress"
	"covey/internal/failpoint"
	"covey/internal/proposal"
	"covey/internal/wire"
)

// maxWaiting bounds the messages of one link that wait for work, and the answers that wait to be
// sent, but for one of each study being worked on: the reader then stops reading, and gRPC's flow
// control holds the coordinator back.
const maxWaiting = 64

// maxHeld bounds the messages of a link that were read and not yet worked off, in bytes; one of
// more is held alone.
const maxHeld = 2 * LeastMessage

// Pair is two answers to one request, in this order.
type Pair struct {
	wire.Message
	Second wire.Message
}

// queued is one message to send and what the egress log says of it.
type queued struct {
	raw  []byte
	sent egress.Line
}

// link is one open stream. One goroutine reads it and one writes it; each study's
// messages are worked on in order, different studies' at the same time.
type link struct {
	u   *Uplink
	ctx context.Context // ends with the stream
	end func(error)     // ends it; nil in tests of a link alone

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

func newLink(ctx context.Context, u *Uplink) *link {
	l := &link{u: u, ctx: ctx, wake: make(chan struct{}, 1),
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

// post queues an answer. After the link has ended it does nothing: whatever an
// answer holds is asked for again on the next one.
func (l *link) post(m wire.Message) {
	if two, ok := m.(Pair); ok {
		l.post(two.Message)
		l.post(two.Second)
		return
	}
	l.enqueue(m, false)
}

// enqueue puts one message behind the others, or before them.
func (l *link) enqueue(m wire.Message, first bool) {
	raw, err := wire.Encode(m)
	if err != nil {
		l.u.o.Log.Error("an answer does not encode", "kind", wire.Name(m), "error", err)
		return
	}
	l.mu.Lock()
	at := len(l.queue)
	if first {
		at = 0
	}
	l.queue = slices.Insert(l.queue, at, queued{raw, Describe(m, len(raw))})
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // the writer is already due to look
	}
}

// Describe says of a message what the egress log holds.
func Describe(m wire.Message, bytes int) egress.Line {
	s := wire.StatedIn(m)
	return egress.Line{Kind: wire.Name(m), Bytes: bytes, Study: s.Study, Query: s.Query, Slot: s.Slot, Code: s.Code}
}

// room waits until answers are taken, if many are queued: a coordinator that asks and takes no
// answers must not fill this site's memory.
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
			if err := l.u.o.Egress.Record(m.sent.Of(m.raw), l.u.o.Now()); err != nil {
				return err
			}
			if err := l.u.hit(failpoint.Send, failpoint.Before, m.raw); err != nil {
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
func (u *Uplink) hit(point string, phase failpoint.Phase, raw []byte) error {
	if !failpoint.Enabled {
		return nil
	}
	return failpoint.Hit(failpoint.Event{Point: point, Phase: phase, Owner: u.o.Dir, Query: -1, Slot: -1, Data: raw})
}

// read takes messages until the link ends or one makes no sense.
func (l *link) read(receive func() (data []byte, last bool, err error)) error {
	for {
		// A study's first long message follows a short one that asks for this site's keys, so the
		// ceiling read here already has its approval.
		raw, err := wire.ReceiveUpTo(receive, LeastMessage, l.u.o.Ceiling)
		if err != nil {
			return err
		}
		if err := l.u.hit(failpoint.Receive, failpoint.After, raw); err != nil {
			return err
		}
		if err := l.u.asked.wait(l.ctx); err != nil {
			return err
		}
		r, err := wire.DecodeCoordinator(raw)
		if err != nil {
			return err
		}
		if m, ok := r.(wire.Head); ok { // about no study: handled before the messages that follow it
			l.u.headed(l, m)
			continue
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
		l.u.o.Work.Go(func() { l.drain(id) })
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
		switch said := l.u.o.Handle(next).(type) {
		case nil:
		case wire.Decision:
			// On the link of this moment: a study that ended meanwhile is not asked about again.
			l.u.Post(said)
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

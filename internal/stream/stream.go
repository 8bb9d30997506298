// Package stream is a coordinator's end of a site's stream: it queues what is to be sent, and
// limits how much is read at a time. All that it knows about a message is what makes it needless.
package stream

import (
	"slices"
	"sync"
	"time"

	"covey/internal/proposal"
	"covey/internal/wire"
)

// Stream is one site's open stream. Sending never blocks: the queue is bounded by what round asks
// for, one message a phase of the open slot of each study, and dies with the stream.
type Stream struct {
	mu    sync.Mutex
	queue []Outgoing
	wake  chan struct{}
	done  chan struct{}
	once  sync.Once
	why   error // of done's end
}

// New returns a stream on which nothing is sent before Write.
func New() *Stream { return &Stream{wake: make(chan struct{}, 1), done: make(chan struct{})} }

// Outgoing is one message to be sent: serialized, or to be when its turn comes. Large messages for
// one site each would fill the memory if all were serialized at once.
type Outgoing struct {
	Raw    []byte
	Encode func() ([]byte, error)
	about  About
	Head   bool   // of the chain, from Base on
	Base   uint64 // number
}

// About is the slot that a message asks about, or whose result it has; the zero About is neither.
type About struct {
	study proposal.Digest
	slot  int // from 1
	final bool
}

// AboutOf returns what a message is about.
func AboutOf(m wire.Message) About {
	h := m.About()
	switch m.(type) {
	case wire.Query, wire.Release, wire.Open:
		return About{h.Study, 1 + h.Slot, false}
	case wire.Final:
		return About{h.Study, 1 + h.Slot, true}
	}
	return About{}
}

// replaces reports whether a site that is sent a no longer needs before: on a new link it would be
// asked about the open slot and told only the last result.
func (a About) replaces(before About) bool {
	if a.study != before.study || before.slot == 0 {
		return false
	}
	return before.slot < a.slot && !before.final || before.slot <= a.slot && a.final
}

// Send queues one serialized message.
func (s *Stream) Send(message []byte, of About) { s.enqueue(Outgoing{Raw: message, about: of}) }

// SendLater queues a message that is serialized once one of few places is free. If encode returns
// nothing, nothing is sent.
func (s *Stream) SendLater(encode func() ([]byte, error)) { s.enqueue(Outgoing{Encode: encode}) }

// SendHeads queues what pieces makes of the chain from base on. If such a message waits already,
// the new ones take its place and begin at its base, since messages queued behind it need no less.
func (s *Stream) SendHeads(base uint64, pieces func(base uint64) ([]Outgoing, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := len(s.queue)
	for i, waits := range slices.Backward(s.queue) {
		if waits.Head {
			at, base = i, waits.Base
		}
	}
	heads, err := pieces(base)
	if err != nil {
		return err
	}
	s.queue = slices.DeleteFunc(s.queue, func(o Outgoing) bool { return o.Head })
	s.queue = slices.Insert(s.queue, at, heads...)
	s.woken()
	return nil
}

func (s *Stream) enqueue(m Outgoing) {
	s.mu.Lock()
	if m.about.slot > 0 {
		s.queue = slices.DeleteFunc(s.queue, func(before Outgoing) bool { return m.about.replaces(before.about) })
	}
	s.queue = append(s.queue, m)
	s.mu.Unlock()
	s.woken()
}

func (s *Stream) woken() {
	select {
	case s.wake <- struct{}{}:
	default: // the writer is already due to look
	}
}

// Close ends the stream; why is the first call's.
func (s *Stream) Close(why error) {
	s.once.Do(func() {
		s.why = why
		close(s.done)
	})
}

// Write sends queued messages until the stream is closed or stop is. places bound the messages that
// are serialized late, over all streams.
func (s *Stream) Write(stop <-chan struct{}, places chan struct{}, send func(data []byte, last bool) error) error {
	for {
		queue := s.Take()
		for _, m := range queue {
			err := error(nil)
			if m.Encode == nil {
				err = wire.Send(m.Raw, send)
			} else {
				err = s.writeLate(stop, places, m.Encode, send)
			}
			if err != nil {
				return err
			}
		}
		if len(queue) > 0 {
			continue
		}
		select {
		case <-s.wake:
		case <-s.done:
			return s.why
		case <-stop:
			return nil
		}
	}
}

// Take empties the queue.
func (s *Stream) Take() []Outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue := s.queue
	s.queue = nil
	return queue
}

// Done is closed when the stream is, and Why returns the reason then.
func (s *Stream) Done() <-chan struct{} { return s.done }

// Why returns why the stream was closed, once Done is.
func (s *Stream) Why() error { return s.why }

// writeLate serializes a message in a place of its own. A receiver that stalls for too long loses
// its stream, so that others go on.
func (s *Stream) writeLate(stop <-chan struct{}, places chan struct{}, encode func() ([]byte, error), send func(data []byte, last bool) error) error {
	select {
	case places <- struct{}{}:
	case <-s.done:
		return s.why
	case <-stop:
		return nil
	}
	defer func() { <-places }()
	raw, err := encode()
	if err != nil || raw == nil {
		return err
	}
	timer := time.AfterFunc(StalledAfter, func() { s.Close(errStalled) })
	defer timer.Stop()
	return wire.Send(raw, func(data []byte, last bool) error {
		timer.Reset(StalledAfter)
		return send(data, last)
	})
}

package coordinator

import (
	"crypto/x509"
	"errors"
	"slices"
	"sync"
	"time"

	"covey/internal/admission"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/wire"
)

// link is one site's open stream. Sending never blocks: the queue is bounded by what round asks
// for, one message a phase of the open slot of each study, and dies with the stream.
type link struct {
	site  string
	mu    sync.Mutex
	queue []outgoing
	wake  chan struct{}
	done  chan struct{}
	once  sync.Once
	why   error          // of done's end
	units map[string]int // data sets that the site offers, by name

	leaf     *x509.Certificate // that it showed; nil where no TLS is
	software string            // as it calls itself
	exchange pki.KeyExchange   // zero where no TLS is
	// untold are studies that were over before this link, and whose end it was not told, by place
	// in the machine's order. Guarded by the machine's lock.
	untold []bool
	// shown is the number of the head of the chain that was sent last. Guarded by the machine's
	// lock.
	shown uint64

	// Of the stream's reader.
	known   known            // studies, as the hello says; empty once they are looked through
	meter   *admission.Meter // nil where no TLS is
	limit   int              // bytes of a message
	studies int              // that limit is of
	changed bool             // by the last message
}

func newLink(site string) *link {
	return &link{site: site, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// outgoing is one message to be sent: serialized, or to be when its turn comes. What is for one
// site alone and large would fill the memory, were it all serialized at once.
type outgoing struct {
	raw    []byte
	encode func() ([]byte, error)
	about  about
	head   bool   // of the chain, from base on
	base   uint64 // number
}

// about says which slot a message asks about, or whose result it tells; the zero one is of neither.
type about struct {
	study proposal.Digest
	slot  int // from 1
	final bool
}

func aboutOf(m wire.Message) about {
	h := m.About()
	switch m.(type) {
	case wire.Query, wire.Release, wire.Open:
		return about{h.Study, 1 + h.Slot, false}
	case wire.Final:
		return about{h.Study, 1 + h.Slot, true}
	}
	return about{}
}

// replaces reports whether who is sent a needs before no more: on a new link it would be asked
// about the open slot and told the last result alone.
func (a about) replaces(before about) bool {
	if a.study != before.study || before.slot == 0 {
		return false
	}
	return before.slot < a.slot && !before.final || before.slot <= a.slot && a.final
}

// send queues one serialized message.
func (l *link) send(message []byte, of about) { l.enqueue(outgoing{raw: message, about: of}) }

// sendLater queues one that is serialized when one of few places is free.
func (l *link) sendLater(encode func() ([]byte, error)) { l.enqueue(outgoing{encode: encode}) }

// sendHeads queues what pieces makes of the chain from a base on, or from that of the first such
// message that waits, in its place: what was queued behind it needs no less.
func (l *link) sendHeads(base uint64, pieces func(base uint64) ([]outgoing, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := len(l.queue)
	for i, waits := range slices.Backward(l.queue) {
		if waits.head {
			at, base = i, waits.base
		}
	}
	heads, err := pieces(base)
	if err != nil {
		return err
	}
	l.queue = slices.DeleteFunc(l.queue, func(o outgoing) bool { return o.head })
	l.queue = slices.Insert(l.queue, at, heads...)
	return nil // the writer is woken by what comes behind it
}

func (l *link) enqueue(m outgoing) {
	l.mu.Lock()
	if m.about.slot > 0 {
		l.queue = slices.DeleteFunc(l.queue, func(before outgoing) bool { return m.about.replaces(before.about) })
	}
	l.queue = append(l.queue, m)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // the writer is already due to look
	}
}

// close ends the link; why is the first call's.
func (l *link) close(why error) {
	l.once.Do(func() {
		l.why = why
		close(l.done)
	})
}

// write sends queued messages until the link is closed or stop is. places bound the messages that
// are serialized late, over all links.
func (l *link) write(stop <-chan struct{}, places chan struct{}, send func(data []byte, last bool) error) error {
	for {
		l.mu.Lock()
		queue := l.queue
		l.queue = nil
		l.mu.Unlock()
		for _, m := range queue {
			err := error(nil)
			if m.encode == nil {
				err = wire.Send(m.raw, send)
			} else {
				err = l.writeLate(stop, places, m.encode, send)
			}
			if err != nil {
				return err
			}
		}
		if len(queue) > 0 {
			continue
		}
		select {
		case <-l.wake:
		case <-l.done:
			return l.why
		case <-stop:
			return nil
		}
	}
}

// writeLate serializes a message in a place of its own. A receiver that takes nothing of it for too
// long loses its link, and others go on.
func (l *link) writeLate(stop <-chan struct{}, places chan struct{}, encode func() ([]byte, error), send func(data []byte, last bool) error) error {
	select {
	case places <- struct{}{}:
	case <-l.done:
		return l.why
	case <-stop:
		return nil
	}
	defer func() { <-places }()
	raw, err := encode()
	if err != nil {
		return err
	}
	timer := time.AfterFunc(stalledAfter, func() { l.close(errStalled) })
	defer timer.Stop()
	return wire.Send(raw, func(data []byte, last bool) error {
		timer.Reset(stalledAfter)
		return send(data, last)
	})
}

var (
	errReplaced = errors.New("link: the site opened another link; if this goes on, another agent runs with its keys")
	// errNotCurrent is of a message on a stream that is not the site's link.
	errNotCurrent = errors.New("link: a message before hello, or after another link was opened")
	errRevoked    = errors.New("link: the site is revoked")
	errNotLeader  = errors.New("link: this coordinator does not lead")
)

package coordinator

import (
	"crypto/x509"
	"errors"
	"sync"

	"covey/internal/frame"
)

// link is one site's open stream. Sending never blocks: the queue is bounded by
// what round asks for, one message a phase, and dies with the stream.
type link struct {
	site  string
	mu    sync.Mutex
	queue [][]byte
	wake  chan struct{}
	done  chan struct{}
	once  sync.Once
	why   error          // of done's end
	units map[string]int // data sets that the site offers, by name

	leaf     *x509.Certificate // that it showed; nil where no TLS is
	software string            // as it calls itself
}

func newLink(site string) *link {
	return &link{site: site, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// send queues one serialized message.
func (l *link) send(message []byte) {
	l.mu.Lock()
	l.queue = append(l.queue, message)
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

// write sends queued messages until the link is closed or stop is.
func (l *link) write(stop <-chan struct{}, send func(data []byte, last bool) error) error {
	for {
		l.mu.Lock()
		queue := l.queue
		l.queue = nil
		l.mu.Unlock()
		for _, m := range queue {
			if err := frame.Send(m, send); err != nil {
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

var (
	errReplaced  = errors.New("link: the site opened another link")
	errRevoked   = errors.New("link: the site is revoked")
	errNotLeader = errors.New("link: this coordinator does not lead")
)

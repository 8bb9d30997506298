package replica

import (
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes are the connections of a cluster in memory.
type pipes struct {
	mu   sync.Mutex
	open map[string]*pipe
}

type pipe struct {
	all     *pipes
	address string
	accept  chan net.Conn
	closed  chan struct{}
	conns   []net.Conn // accepted: raft leaves them open
}

func (p *pipes) listen(address string) *pipe {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &pipe{all: p, address: address, accept: make(chan net.Conn), closed: make(chan struct{})}
	p.open[address] = l
	return l
}

func (l *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		l.all.mu.Lock()
		defer l.all.mu.Unlock()
		if l.all.open[l.address] != l { // Close came between: it closed the others
			c.Close()
			return nil, net.ErrClosed
		}
		l.conns = append(l.conns, c)
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipe) Close() error {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	if l.all.open[l.address] != l {
		return nil
	}
	delete(l.all.open, l.address)
	close(l.closed)
	for _, c := range l.conns {
		c.Close()
	}
	return nil
}

func (l *pipe) Addr() net.Addr { return &net.UnixAddr{Name: l.address} }

func (l *pipe) Dial(address string, _ time.Duration) (net.Conn, error) {
	l.all.mu.Lock()
	to := l.all.open[address]
	l.all.mu.Unlock()
	if to == nil {
		return nil, errors.New("nobody is there")
	}
	here, there := net.Pipe()
	select {
	case to.accept <- there:
		return here, nil
	case <-to.closed:
		return nil, errors.New("nobody is there any more")
	}
}

// TestNoLogger: a node without a logger leads on when another does not answer.
func TestNoLogger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &pipes{open: map[string]*pipe{}}
		n := mustOpen(t, t.TempDir(), &list{}, Options{ID: "1", Address: "1:1", Stream: network.listen("1:1")})
		for _, id := range []string{"2", "3"} {
			mustOpen(t, t.TempDir(), &list{}, Options{ID: id, Address: id + ":1", Stream: network.listen(id + ":1"), Join: true})
			must(t, n.Add(t.Context(), id, id+":1"))
		}
		must(t, network.open["3:1"].Close())
		time.Sleep(time.Minute)
		apply(t, n, "entry")
		must(t, n.Close())
	})
}

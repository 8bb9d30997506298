// Package network carries bytes between the parts of a federation in memory: Faulty with delays,
// cuts, partitions and dead hosts, Pipes without. Both run in a testing/synctest bubble.
package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"
)

// Faulty carries bytes between hosts. A host is an IP address; the port is
// the listener's. It behaves as TCP does: what is not delivered is retried until the
// connection ends, and a partition is silence, not an error.
type Faulty struct {
	mu        sync.Mutex
	rng       *rand.Rand
	latency   time.Duration // mean, of one direction
	listeners map[string]*listener
	conns     map[*conn]bool
	blocked   map[[2]string]bool // from, to
	frozen    map[string]bool    // hosts that neither send nor hear
	down      map[string]bool    // hosts whose process is dead
	changed   chan struct{}      // closed and replaced when a block ends
	cuts      int                // connections to cut, each at its next write
	cutAfter  bool               // the write arrives and its sender does not hear
	closed    bool
	pumps     sync.WaitGroup
}

var (
	errRefused = errors.New("network: connection refused")
	errReset   = errors.New("network: connection reset")
)

// NewFaulty makes a quiet one.
func NewFaulty(rng *rand.Rand) *Faulty {
	return &Faulty{
		rng: rng, latency: 2 * time.Millisecond, listeners: map[string]*listener{}, conns: map[*conn]bool{},
		blocked: map[[2]string]bool{}, frozen: map[string]bool{}, down: map[string]bool{}, changed: make(chan struct{}),
	}
}

// wake makes all who wait look again. Called with mu held.
func (n *Faulty) wake() {
	close(n.changed)
	n.changed = make(chan struct{})
}

// Block stops what goes from one host to another, in that direction alone.
func (n *Faulty) Block(from, to string) { n.set(func() { n.blocked[[2]string{from, to}] = true }) }

// Freeze stops a host's network both ways, as a pause of its process does.
func (n *Faulty) Freeze(host string) { n.set(func() { n.frozen[host] = true }) }

// Heal ends every block and freeze.
func (n *Faulty) Heal() { n.set(func() { clear(n.blocked); clear(n.frozen) }) }

// Slow sets the mean latency.
func (n *Faulty) Slow(mean time.Duration) { n.set(func() { n.latency = mean }) }

// Cut resets the next k connections that are written to: before the write arrives, or after.
func (n *Faulty) Cut(k int, after bool) { n.set(func() { n.cuts, n.cutAfter = k, after }) }

func (n *Faulty) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	n.wake()
}

// Kill resets a host's connections and refuses new ones, as a dead process does. What
// it wrote before still arrives.
func (n *Faulty) Kill(host string) {
	n.mu.Lock()
	n.down[host] = true
	var dead []*conn
	for c := range n.conns {
		if c.local == host {
			dead = append(dead, c)
		}
	}
	for address, l := range n.listeners {
		if l.host == host {
			delete(n.listeners, address)
			l.end()
		}
	}
	n.wake()
	n.mu.Unlock()
	for _, c := range dead {
		c.reset()
	}
}

// Start lets a host use the network again.
func (n *Faulty) Start(host string) { n.set(func() { delete(n.down, host) }) }

// Close ends everything; Wait waits until it has ended.
func (n *Faulty) Close() {
	n.mu.Lock()
	n.closed = true
	all := n.conns
	n.conns = map[*conn]bool{}
	for _, l := range n.listeners {
		l.end()
	}
	n.wake()
	n.mu.Unlock()
	for c := range all {
		c.reset()
	}
}

// Wait is called after Close.
func (n *Faulty) Wait() { n.pumps.Wait() }

// Listen returns a host's listener on "host:port".
func (n *Faulty) Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[address] != nil {
		return nil, fmt.Errorf("network: %s is in use", address)
	}
	if n.down[host] || n.closed {
		return nil, errRefused
	}
	l := &listener{n: n, host: host, address: address, conns: make(chan *conn, 128), done: make(chan struct{})}
	n.listeners[address] = l
	return l, nil
}

// Dial connects a host to an address. In a partition it waits, as a SYN does.
func (n *Faulty) Dial(ctx context.Context, from, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	for {
		n.mu.Lock()
		if n.down[from] || n.closed {
			n.mu.Unlock()
			return nil, errRefused
		}
		if n.passes(from, host) && n.passes(host, from) {
			break
		}
		changed := n.changed
		n.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer n.mu.Unlock()
	l := n.listeners[address]
	if l == nil {
		return nil, errRefused
	}
	a, b := newHalf(n, from, host), newHalf(n, host, from)
	client, server := &conn{n: n, local: from, remote: host, in: b, out: a}, &conn{n: n, local: host, remote: from, in: a, out: b}
	client.peer, server.peer = server, client
	select {
	case l.conns <- server:
	default:
		return nil, errRefused
	}
	n.conns[client], n.conns[server] = true, true
	n.pumps.Go(a.pump)
	n.pumps.Go(b.pump)
	return client, nil
}

// passes reports whether bytes go from one host to another now. Called with mu held.
func (n *Faulty) passes(from, to string) bool {
	return !n.blocked[[2]string{from, to}] && !n.frozen[from] && !n.frozen[to]
}

// delay draws one write's latency. Called with mu held.
func (n *Faulty) delay() time.Duration {
	d := time.Duration(n.rng.ExpFloat64() * float64(n.latency))
	return min(d, 20*n.latency)
}

type listener struct {
	n             *Faulty
	host, address string
	conns         chan *conn
	done          chan struct{}
	once          sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) end() { l.once.Do(func() { close(l.done) }) }

func (l *listener) Close() error {
	l.n.mu.Lock()
	if l.n.listeners[l.address] == l {
		delete(l.n.listeners, l.address)
	}
	l.n.mu.Unlock()
	l.end()
	for { // Dial finds it no more
		select {
		case c := <-l.conns: // nobody accepts it: the kernel resets such too
			c.reset()
		default:
			return nil
		}
	}
}

func (l *listener) Addr() net.Addr { return address(l.address) }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// half is one direction of a connection.
type half struct {
	n        *Faulty
	from, to string

	mu      sync.Mutex
	queue   []chunk // written, not delivered
	data    []byte  // delivered, not read
	err     error   // after data
	gone    bool    // nobody reads or writes any more
	changed chan struct{}
}

type chunk struct {
	data []byte
	at   time.Time
	end  error // after data
}

func newHalf(n *Faulty, from, to string) *half {
	return &half{n: n, from: from, to: to, changed: make(chan struct{})}
}

// signal is called with mu held.
func (h *half) signal() {
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *half) put(c chunk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if k := len(h.queue); k > 0 && h.queue[k-1].at.After(c.at) {
		c.at = h.queue[k-1].at // in order
	}
	h.queue = append(h.queue, c)
	h.signal()
}

// drop ends the half at once.
func (h *half) drop(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = err
	}
	h.gone = true
	h.queue = nil
	h.signal()
}

// pump delivers chunks in order, each after its latency and once no partition is
// in the way.
func (h *half) pump() {
	for {
		h.mu.Lock()
		if h.gone {
			h.mu.Unlock()
			return
		}
		changed := h.changed
		if len(h.queue) == 0 {
			h.mu.Unlock()
			<-changed
			continue
		}
		c := h.queue[0]
		h.mu.Unlock()
		if wait := time.Until(c.at); wait > 0 {
			time.Sleep(wait)
		}
		h.n.mu.Lock()
		passes, healed := h.n.passes(h.from, h.to) || h.n.closed, h.n.changed
		h.n.mu.Unlock()
		if !passes {
			select {
			case <-healed:
			case <-changed:
			}
			continue
		}
		h.mu.Lock()
		if !h.gone {
			h.queue = h.queue[1:]
			h.data = append(h.data, c.data...)
			if c.end != nil {
				h.err, h.gone = c.end, true
			}
			h.signal()
		}
		h.mu.Unlock()
	}
}

// conn is one end of a connection.
type conn struct {
	n             *Faulty
	local, remote string
	in, out       *half
	peer          *conn

	mu              sync.Mutex
	readBy, writeBy time.Time
	deadlineChanged chan struct{}
	closed          bool
}

func (c *conn) Read(p []byte) (int, error) {
	for {
		c.mu.Lock()
		closed, by := c.closed, c.readBy
		if c.deadlineChanged == nil {
			c.deadlineChanged = make(chan struct{})
		}
		moved := c.deadlineChanged
		c.mu.Unlock()
		if closed {
			return 0, net.ErrClosed
		}
		c.in.mu.Lock()
		if len(c.in.data) > 0 {
			k := copy(p, c.in.data)
			c.in.data = c.in.data[k:]
			c.in.mu.Unlock()
			return k, nil
		}
		err, changed := c.in.err, c.in.changed
		c.in.mu.Unlock()
		if err != nil {
			return 0, err
		}
		var expired <-chan time.Time
		if !by.IsZero() {
			wait := time.Until(by)
			if wait <= 0 {
				return 0, os.ErrDeadlineExceeded
			}
			t := time.NewTimer(wait)
			defer t.Stop()
			expired = t.C
		}
		select {
		case <-changed:
		case <-moved:
		case <-expired:
			return 0, os.ErrDeadlineExceeded
		}
	}
}

func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	closed, by := c.closed, c.writeBy
	c.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	if !by.IsZero() && !time.Now().Before(by) {
		return 0, os.ErrDeadlineExceeded
	}
	c.n.mu.Lock()
	cut, after := c.n.cuts > 0, c.n.cutAfter
	if cut {
		c.n.cuts--
	}
	at := time.Now().Add(c.n.delay())
	c.n.mu.Unlock()
	if cut && !after {
		c.reset()
		return 0, errReset
	}
	c.out.put(chunk{data: append([]byte(nil), p...), at: at})
	if cut {
		c.reset()
		return 0, errReset
	}
	return len(p), nil
}

// Close ends this end; the other reads what was written and then EOF.
func (c *conn) Close() error {
	c.shut(io.EOF)
	return nil
}

// reset ends both ends: what was written before still arrives.
func (c *conn) reset() { c.shut(errReset) }

func (c *conn) shut(why error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	if c.deadlineChanged != nil {
		close(c.deadlineChanged)
		c.deadlineChanged = nil
	}
	c.mu.Unlock()
	c.n.mu.Lock()
	delete(c.n.conns, c)
	at := time.Now().Add(c.n.delay())
	done := c.n.closed
	c.n.mu.Unlock()
	c.in.drop(net.ErrClosed)
	if done {
		c.out.drop(why)
		return
	}
	c.out.put(chunk{at: at, end: why})
}

func (c *conn) LocalAddr() net.Addr  { return address(c.local + ":0") }
func (c *conn) RemoteAddr() net.Addr { return address(c.remote + ":0") }

func (c *conn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeBy = t
	c.setRead(t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setRead(t)
	return nil
}

func (c *conn) setRead(t time.Time) {
	c.readBy = t
	if c.deadlineChanged != nil {
		close(c.deadlineChanged)
		c.deadlineChanged = nil
	}
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeBy = t
	return nil
}

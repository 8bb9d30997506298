// Package delay is a TCP proxy that makes a link longer: every byte arrives a fixed time after it
// was sent, in order. Bandwidth is not limited, and acknowledgements are the loopback's own, so
// that what it shows is the number of trips and nothing of TCP's slow start.
package delay

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy forwards connections to one target.
type Proxy struct {
	listener net.Listener
	target   string
	oneWay   time.Duration
	up, down atomic.Int64
	work     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool
}

// Listen begins to forward a free loopback port to target, each way taking oneWay longer.
func Listen(target string, oneWay time.Duration) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, oneWay: oneWay, open: map[net.Conn]bool{}}
	p.work.Go(p.accept)
	return p, nil
}

// Address is where to connect instead of to the target.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Bytes are how many went to the target and came from it, TLS and all.
func (p *Proxy) Bytes() (up, down int64) { return p.up.Load(), p.down.Load() }

// Close cuts all connections and waits for what the proxy started.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	p.work.Wait()
	return err
}

// keep reports whether the proxy is still open, and has Close close c.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = true
	}
	return !p.closed
}

func (p *Proxy) forget(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.forward(near) })
	}
}

func (p *Proxy) forward(near net.Conn) {
	defer p.forget(near)
	if !p.keep(near) {
		return
	}
	far, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer p.forget(far)
	if !p.keep(far) {
		return
	}
	var both sync.WaitGroup
	for _, way := range []struct {
		to, from net.Conn
		count    *atomic.Int64
	}{{far, near, &p.up}, {near, far, &p.down}} {
		both.Go(func() {
			pump(way.to, way.from, p.oneWay, way.count)
			if half, ok := way.to.(interface{ CloseWrite() error }); ok {
				half.CloseWrite()
			}
		})
	}
	both.Wait()
}

// piece is some bytes and when they are due.
type piece struct {
	data []byte
	due  time.Time
}

// waiting bounds the pieces of one direction that are on their way: at 32 kB each, 128 MB.
const waiting = 4096

// pump copies from src to dst, each byte later by the given time, until src ends or dst fails.
// count grows with what arrives.
func pump(dst io.Writer, src io.Reader, later time.Duration, count *atomic.Int64) error {
	pieces, stop := make(chan piece, waiting), make(chan struct{})
	defer close(stop)
	read := make(chan error, 1)
	go func() {
		defer close(pieces)
		for {
			b := make([]byte, 32<<10)
			n, err := src.Read(b)
			if n > 0 {
				select {
				case pieces <- piece{b[:n], time.Now().Add(later)}:
				case <-stop:
					return
				}
			}
			if err != nil {
				read <- err
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		n, err := dst.Write(p.data)
		count.Add(int64(n))
		if err != nil {
			return err
		}
	}
	if err := <-read; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

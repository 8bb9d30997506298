package network

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc/test/bufconn"
)

// pipeSize is how much a pipe holds: who writes more waits for the reader.
const pipeSize = 1 << 18

// Pipes is a network in memory without delays or faults.
type Pipes struct {
	mu        sync.Mutex
	listeners map[string]*bufconn.Listener
}

// Listen returns the listener on address.
func (p *Pipes) Listen(address string) (net.Listener, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listeners == nil {
		p.listeners = map[string]*bufconn.Listener{}
	}
	p.listeners[address] = bufconn.Listen(pipeSize)
	return p.listeners[address], nil
}

// Dial connects to address, from wherever.
func (p *Pipes) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	p.mu.Lock()
	l := p.listeners[address]
	p.mu.Unlock()
	if l == nil {
		return nil, errRefused
	}
	return l.DialContext(ctx)
}

// Loopback is this machine's TCP.
type Loopback struct{}

// Listen listens on address.
func (Loopback) Listen(address string) (net.Listener, error) { return net.Listen("tcp", address) }

// Dial connects to address.
func (Loopback) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

// Free returns n addresses of this machine on which nobody listens just now.
func Free(n int) (addresses []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // when all are known, so that they differ
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}

package network

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
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

// given are the ports that Free has returned.
var given sync.Map

// Free returns n addresses of this machine on which nobody listens just now, each once. They are
// below the ports that systems give to who asks for any (32768 and up on Linux): one of those may
// be another program's, or the near end of its connection, by the time that it is used.
func Free(n int) (addresses []string, err error) {
	for tries := 0; len(addresses) < n; tries++ {
		address := "127.0.0.1:" + strconv.Itoa(10_000+rand.IntN(20_000))
		if _, again := given.LoadOrStore(address, true); again {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil && tries < 1000 {
			continue
		}
		if err != nil {
			return nil, err
		}
		l.Close()
		addresses = append(addresses, address)
	}
	return addresses, nil
}

package node

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// from is one end of a pipe that tells where it comes from.
type from struct {
	net.Conn
	host string
}

func (f from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.host), Port: 1000} }

// knock opens a connection to a pipeNet from a host, and says nothing on it.
func (l *pipeNet) knock(host string) net.Conn {
	a, b := net.Pipe()
	l.conns <- from{b, host}
	return a
}

// from dials a pipeNet from a host.
func (l *pipeNet) from(host string) Dialer {
	return func(context.Context, string) (net.Conn, error) { return l.knock(host), nil }
}

// greet lets a port's raft answer everybody with a byte.
func greet(p *port) {
	for {
		c, err := p.raft().Accept()
		if err != nil {
			return
		}
		go func() {
			c.Write([]byte("x"))
			c.Close()
		}()
	}
}

// greeted dials and reads the byte within a second.
func greeted(p *port) error {
	c, err := p.raft().Dial("two", time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(time.Second))
	_, err = io.ReadFull(c, make([]byte, 1))
	return err
}

// TestSilentHandshakesKeepNobodyOut: PEER-5. While one address opens ten connections a second and
// says nothing on them, a coordinator of another address comes in at once, and so does one of that
// same address.
func TestSilentHandshakesKeepNobodyOut(t *testing.T) {
	for _, host := range []string{"192.0.2.1", "203.0.113.9"} {
		synctest.Test(t, func(t *testing.T) {
			a, here, there := authority(t), newPipeNet(), newPipeNet()
			two := open(t, a, "two", there, here)
			one := open(t, a, "one", here, &pipeNet{conns: there.conns, done: there.done})
			one.dial = there.from(host)
			go greet(two)
			var silent []net.Conn
			for i := range 300 {
				silent = append(silent, there.knock("203.0.113.9"))
				time.Sleep(100 * time.Millisecond)
				if n := two.connections(); i == 150 && n > maxStrangers {
					t.Errorf("%d connections are held", n)
				}
				if i > 150 && i%25 == 0 {
					if err := greeted(one); err != nil {
						t.Errorf("from %s: %v", host, err)
					}
				}
			}
			for _, c := range silent {
				c.Close()
			}
		})
	}
}

// TestCoordinatorsHostsHavePlaces: PEER-5. A flood from many addresses ends no handshake of a host
// that a coordinator has come from, however slow it is.
func TestCoordinatorsHostsHavePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, here, there := authority(t), newPipeNet(), newPipeNet()
		one, two := open(t, a, "one", here, there), open(t, a, "two", there, here)
		go greet(two)
		one.dial = there.from("192.0.2.1")
		if err := greeted(one); err != nil {
			t.Fatal(err)
		}
		slow := there.knock("192.0.2.1")
		one.dial = func(context.Context, string) (net.Conn, error) { return slow, nil }
		var silent []net.Conn
		for i := range 3 * maxStrangers {
			silent = append(silent, there.knock(fmt.Sprintf("198.51.100.%d", i)))
			synctest.Wait()
		}
		if err := greeted(one); err != nil {
			t.Errorf("a flood from %d addresses: %v", len(silent), err)
		}
		if n := two.connections(); n > maxStrangers+1 { // and the coordinator's
			t.Errorf("%d connections are held", n)
		}
		for _, c := range silent {
			c.Close()
		}
	})
}

// TestJoinersAreRationed: PEER-8. One address may ask for the keys so often, another's requests are
// its own; a joiner that was let in counts as a stranger until it ends.
func TestJoinersAreRationed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, here := authority(t), newPipeNet()
		p := open(t, a, "one", here, here)
		var in atomic.Int32
		go func() {
			for {
				c, err := p.joiners().Accept()
				if err != nil {
					return
				}
				in.Add(1)
				go func() {
					io.Copy(io.Discard, c)
					c.Close()
				}()
			}
		}()
		ask := func(host string, times int) {
			for range times {
				raw := here.knock(host)
				t.Cleanup(func() { raw.Close() })
				dialJoin(t.Context(), func(context.Context, string) (net.Conn, error) { return raw, nil }, "one", a.Fingerprint())
			}
			synctest.Wait()
		}
		ask("192.0.2.1", 100)
		if got := in.Load(); got != joinBurst {
			t.Errorf("%d joiners of one address at once, want %v", got, joinBurst)
		}
		ask("192.0.2.2", 1)
		time.Sleep(3 * time.Second)
		ask("192.0.2.1", 100)
		if got := in.Load(); got != joinBurst+1+3 {
			t.Errorf("%d joiners, want %v", got, joinBurst+1+3)
		}
		for i := range 3 * maxStrangers {
			ask(fmt.Sprintf("198.51.100.%d", i), 1)
		}
		if n := p.connections(); n > maxStrangers {
			t.Errorf("%d joiners are held", n)
		}
		time.Sleep(handshakeTime)
	})
}

// TestRecheckEndsConnections: PEER-6. A coordinator that is no member any more loses the
// connections that it has, accepted and dialled, and gets no other; the others keep theirs.
func TestRecheckEndsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, here, there := authority(t), authority(t), newPipeNet(), newPipeNet()
		var out atomic.Bool
		one, two := open(t, a, "one", here, there), open(t, a, "two", there, here)
		two.tls.Pin(func(key ed25519.PublicKey) bool {
			return !out.Load() && key.Equal(a.NodeKey()) && !key.Equal(b.NodeKey())
		})
		accepted, dialled := make(chan net.Conn, 2), make(chan net.Conn, 2)
		for _, p := range []*port{one, two} {
			go func() {
				for {
					c, err := p.raft().Accept()
					if err != nil {
						return
					}
					accepted <- c
				}
			}()
		}
		for _, p := range []*port{one, two} {
			c, err := p.raft().Dial("x", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			dialled <- c
		}
		synctest.Wait()
		ended := make(chan error, 4)
		for range 2 {
			for _, c := range []net.Conn{<-accepted, <-dialled} {
				go func() { _, err := c.Read(make([]byte, 1)); c.Close(); ended <- err }()
			}
		}
		two.recheck()
		synctest.Wait()
		if len(ended) != 0 {
			t.Fatalf("%d connections of a member ended", len(ended))
		}
		out.Store(true)
		two.recheck()
		synctest.Wait()
		if len(ended) != 4 {
			t.Errorf("%d of 4 ends noticed", len(ended))
		}
		if _, err := two.raft().Dial("x", time.Second); err == nil {
			t.Error("dialled one that is no member")
		}
		if c, err := one.raft().Dial("x", time.Second); err == nil {
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Error("accepted one that is no member")
			}
			c.Close()
		}
		synctest.Wait() // the refused connection is forgotten by its own goroutine
		if n := two.connections(); n != 0 {
			t.Errorf("%d connections are remembered", n)
		}
	})
}

// TestFloodEndsItsOwn: PEER-5. One more than there are places for ends the oldest of the address
// that has most, and no slow caller of another.
func TestFloodEndsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, here, there := authority(t), newPipeNet(), newPipeNet()
		one, two := open(t, a, "one", here, there), open(t, a, "two", there, here)
		go greet(two)
		slow := there.knock("192.0.2.1")
		synctest.Wait()
		one.dial = func(context.Context, string) (net.Conn, error) { return slow, nil }
		var silent []net.Conn
		for range 3 * maxStrangers {
			silent = append(silent, there.knock("203.0.113.9"))
			synctest.Wait()
		}
		if err := greeted(one); err != nil {
			t.Errorf("a slow coordinator: %v", err)
		}
		for _, c := range silent {
			c.Close()
		}
	})
}

// TestRemovedWhileItShakesHands: PEER-6. recheck cannot end what is not settled, so settling looks
// again.
func TestRemovedWhileItShakesHands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, here, there := authority(t), newPipeNet(), newPipeNet()
		one, two := open(t, a, "one", here, there), open(t, a, "two", there, here)
		var looks atomic.Int32
		// a member when it is looked at first
		two.tls.Pin(func(ed25519.PublicKey) bool { return looks.Add(1)%2 == 1 })
		go greet(two)
		if err := greeted(one); err == nil {
			t.Error("was let in")
		}
		if c, err := two.raft().Dial("one", time.Second); err == nil {
			t.Error("was dialled")
			c.Close()
		}
	})
}

package admission

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/credentials"
)

// handshakes stands in for TLS: a handshake begins, and is over when the other side has said its
// site's name and a zero byte. A caller without a certificate says the zero byte alone.
type handshakes struct {
	credentials.TransportCredentials
	begun atomic.Int32
}

func (h *handshakes) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	h.begun.Add(1)
	var name []byte
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(raw, b); err != nil {
			return nil, nil, err
		}
		if b[0] == 0 {
			break
		}
		name = append(name, b[0])
	}
	info := credentials.TLSInfo{}
	if len(name) > 0 {
		leaf := siteLeaf(string(name))
		info.State = tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}}
	}
	return raw, info, nil
}

// from is one end of a pipe that says where it comes from.
type from struct {
	net.Conn
	host string
}

func (f from) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP(f.host), Port: 1000}
}

// door is a gate and those that came to it.
type door struct {
	t    *testing.T
	gate *Gate
	tls  *handshakes
}

func newDoor(t *testing.T) *door {
	h := &handshakes{}
	// nobody waits any more
	t.Cleanup(func() { time.Sleep(queueTime + strangerTime); synctest.Wait() })
	return &door{t, NewGate(h, slog.New(slog.DiscardHandler)), h}
}

// knock begins a connection; in tells its handshake's end.
func (d *door) knock(host string) (client net.Conn, in chan net.Conn) {
	client, server := net.Pipe()
	d.t.Cleanup(func() { client.Close() })
	in = make(chan net.Conn, 1)
	go func() {
		conn, _, err := d.gate.ServerHandshake(from{server, host})
		if err != nil {
			server.Close() // as gRPC does
			close(in)
			return
		}
		in <- conn
	}()
	synctest.Wait()
	return client, in
}

func ended(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// TestStrangersAreBounded: connections that have shown no certificate take maxStrangers places at
// most. One host that holds them all loses its oldest, and another's gets in (LIM-1).
func TestStrangersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		var silent []net.Conn
		for range maxStrangers {
			c, _ := d.knock("192.0.2.1")
			silent = append(silent, c)
		}
		if d.tls.begun.Load() != maxStrangers {
			t.Fatalf("%d handshakes are under way", d.tls.begun.Load())
		}
		honest, in := d.knock("192.0.2.2")
		if !ended(silent[0]) || ended(silent[1]) || len(d.gate.strangers) != maxStrangers {
			t.Errorf("%d strangers; the oldest ended: %v, the next: %v", len(d.gate.strangers), ended(silent[0]), ended(silent[1]))
		}
		go honest.Write([]byte("north\x00"))
		if conn := <-in; conn == nil {
			t.Error("a site is kept out by another host's silence")
		}
		if len(d.gate.strangers) != maxStrangers-1 || len(d.gate.clients["north"]) != 1 {
			t.Errorf("%d strangers, %d connections of the site", len(d.gate.strangers), len(d.gate.clients["north"]))
		}
		// A host with one loses none to a host with many.
		single, _ := d.knock("192.0.2.3")
		for range 20 {
			d.knock("192.0.2.1")
		}
		if ended(single) {
			t.Error("a host with one connection lost it to one with many")
		}
	})
}

// TestStrangersLeave: a caller that shows no certificate is cut off after strangerTime, handshake
// or not (LIM-1).
func TestStrangersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		silent, _ := d.knock("192.0.2.1")
		stranger, in := d.knock("192.0.2.1")
		go stranger.Write([]byte{0})
		<-in
		site, in := d.knock("192.0.2.1")
		go site.Write([]byte("north\x00"))
		<-in
		time.Sleep(strangerTime - time.Second)
		if ended(silent) || ended(stranger) {
			t.Error("cut off early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !ended(silent) || !ended(stranger) || ended(site) || len(d.gate.strangers) != 0 {
			t.Errorf("ended: %v, %v, a site's %v; %d strangers", ended(silent), ended(stranger), ended(site), len(d.gate.strangers))
		}
	})
}

// TestSitesConnections: a site has maxConnections at a time; one more ends its oldest, and none of
// another's (LIM-2).
func TestSitesConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		enter := func(site string) (net.Conn, net.Conn) {
			c, in := d.knock("192.0.2.1")
			go c.Write([]byte(site + "\x00"))
			return c, <-in
		}
		south, _ := enter("south")
		var north, served []net.Conn
		for range maxConnections {
			c, s := enter("north")
			north, served = append(north, c), append(served, s)
		}
		if ended(north[0]) {
			t.Error("ended too early")
		}
		enter("north")
		if !ended(north[0]) || ended(north[1]) || ended(south) {
			t.Errorf("ended: the oldest %v, the next %v, another site's %v", ended(north[0]), ended(north[1]), ended(south))
		}
		served[1].Close() // makes place
		enter("north")
		if ended(north[2]) || len(d.gate.clients["north"]) != maxConnections {
			t.Errorf("%d connections", len(d.gate.clients["north"]))
		}
	})
}

// TestHandshakesAreRationed: one host has hostBurst handshakes at once and hostRate a second; what
// comes faster waits, or is refused. Another host does not wait for it (LIM-3).
func TestHandshakesAreRationed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		speak := func(host string) chan net.Conn {
			c, in := d.knock(host)
			go c.Write([]byte{0})
			synctest.Wait()
			if len(in) == 1 {
				(<-in).Close()
			}
			return in
		}
		const extra = 50
		for range int(hostBurst) + extra {
			speak("192.0.2.1")
		}
		if got := d.tls.begun.Load(); got != int32(hostBurst) {
			t.Fatalf("%d handshakes at once, want %v", got, hostBurst)
		}
		speak("192.0.2.2")
		if got := d.tls.begun.Load(); got != int32(hostBurst)+1 {
			t.Error("another host waits")
		}
		time.Sleep(time.Duration(extra / hostRate * float64(time.Second)))
		synctest.Wait()
		if got := d.tls.begun.Load(); got != int32(hostBurst)+1+extra {
			t.Errorf("%d handshakes, want all %v", got, hostBurst+1+extra)
		}
		// Beyond queueTime they are refused.
		refused := 0
		for range int(hostRate*queueTime.Seconds()) + 100 {
			if in := speak("192.0.2.1"); len(d.gate.strangers) > maxStrangers {
				t.Fatal("too many wait")
			} else if _, open := tryReceive(in); !open {
				refused++
			}
		}
		if refused < 50 {
			t.Errorf("%d are refused", refused)
		}
	})
}

func tryReceive(in chan net.Conn) (net.Conn, bool) {
	select {
	case c, ok := <-in:
		return c, ok
	default:
		return nil, true
	}
}

// TestAllHandshakesAreRationed: many hosts that each keep within bounds have allBurst handshakes at
// once together, and allRate a second (LIM-3).
func TestAllHandshakesAreRationed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		for i := range int(allBurst) + 100 {
			c, in := d.knock(fmt.Sprintf("192.0.2.%d", i%100))
			go c.Write([]byte{0})
			synctest.Wait()
			if len(in) == 1 {
				(<-in).Close()
			}
		}
		if got := d.tls.begun.Load(); got != int32(allBurst) {
			t.Errorf("%d handshakes at once, want %v", got, allBurst)
		}
		time.Sleep(time.Second)
		if got := d.tls.begun.Load(); got != int32(allBurst)+100 {
			t.Errorf("%d handshakes a second later", got)
		}
	})
}

// TestQueueIsBounded: what all hosts ask for beyond what can begin in queueTime is refused.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		most := int(allBurst + allRate*queueTime.Seconds())
		for i := range most + 10 {
			_, server := net.Pipe()
			_, _, err := d.gate.enter(from{server, fmt.Sprintf("10.0.%d.%d", i/200, i%200)}, time.Now())
			if want := i >= most; (err == errOverloaded) != want || !want && err != nil {
				t.Fatalf("connection %d, of which %d may wait: %v", i+1, most, err)
			}
		}
	})
}

// TestHostsAreForgotten: addresses are kept count of one by one for maxHosts at most; IPv6 by /64.
func TestHostsAreForgotten(t *testing.T) {
	if a, b := hostOf(&net.TCPAddr{IP: net.ParseIP("2001:db8::1")}), hostOf(&net.TCPAddr{IP: net.ParseIP("2001:db8::ffff:2")}); a != b {
		t.Errorf("%s and %s are one network", a, b)
	}
	if a, b := hostOf(&net.TCPAddr{IP: net.ParseIP("192.0.2.1")}), hostOf(&net.TCPAddr{IP: net.ParseIP("::ffff:192.0.2.1")}); a != b {
		t.Errorf("%s and %s are one address", a, b)
	}
	g, now := NewGate(nil, nil), time.Now()
	for i := range 3 * maxHosts {
		g.hostOf(&net.TCPAddr{IP: net.IPv4(10, byte(i>>16), byte(i>>8), byte(i))}, now).bucket.spend(now, 1)
	}
	if len(g.hosts.all) > maxHosts+1 {
		t.Errorf("%d hosts are kept", len(g.hosts.all))
	}
	g.hostOf(&net.TCPAddr{IP: net.IPv4(11, 0, 0, 1)}, now.Add(time.Minute))
	if len(g.hosts.all) > 2 {
		t.Errorf("%d hosts are kept after a minute", len(g.hosts.all))
	}
}

// TestAcceptIsPaced: connections are taken from the system at a bounded rate (LIM-3).
func TestAcceptIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Paced(endless{})
		began := time.Now()
		for range int(acceptBurst + 2*acceptRate) {
			if _, err := l.Accept(); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 1900*time.Millisecond || took > 2100*time.Millisecond {
			t.Errorf("it took %v, want 2 s", took)
		}
	})
}

type endless struct{ net.Listener }

func (endless) Accept() (net.Conn, error) { return nil, nil }

// pour is a connection from which one reads what was put in.
type pour struct {
	net.Conn
	rest []byte
}

func (p *pour) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(len(p.rest), 16<<10)])
	p.rest = p.rest[n:]
	return n, nil
}

func (p *pour) Write(b []byte) (int, error) { return len(b), nil }
func (p *pour) Close() error                { return nil }

// frames are n of one type with a payload of so many bytes, behind the preface.
func frames(n int, kind byte, size int) []byte {
	out := make([]byte, prefaceLength, prefaceLength+n*(frameHead+size))
	for range n {
		out = append(out, byte(size>>16), byte(size>>8), byte(size), kind, 0, 0, 0, 0, 1)
		out = append(out, make([]byte, size)...)
	}
	return out
}

// TestFramesAreMetered: what a connection sends of frames that move no message is read no faster
// than its tokens come back; DATA in full frames passes (LIM-7).
func TestFramesAreMetered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name       string
			n          int
			kind       byte
			size       int
			cost       float64
			write      int
			least, top time.Duration
		}{
			{"pings", 10_000, 6, 8, costFrame, 0, 2900 * time.Millisecond, 3100 * time.Millisecond},
			{"settings", 10_000, 4, 6, costFrame, 0, 2900 * time.Millisecond, 3100 * time.Millisecond},
			{"window updates", 10_000, 8, 4, costFrame, 0, 2900 * time.Millisecond, 3100 * time.Millisecond},
			{"priorities", 10_000, 2, 5, costFrame, 0, 2900 * time.Millisecond, 3100 * time.Millisecond},
			{"a kind of the future", 10_000, 77, 100, costFrame, 0, 2900 * time.Millisecond, 3100 * time.Millisecond},
			{"empty DATA", 10_000, frameData, 0, costFrame, 0, 2900 * time.Millisecond, 3100 * time.Millisecond},
			{"heads", 100, frameHeaders, 50, costStream, 0, 2900 * time.Millisecond, 3100 * time.Millisecond},
			{"continuations", 100, frameContinuation, 0, costStream, 0, 2900 * time.Millisecond, 3100 * time.Millisecond},
			{"resets", 500, frameReset, 4, costReset, 0, 2900 * time.Millisecond, 3100 * time.Millisecond},
			{"an honest upload", 512, frameData, 16 << 10, 0, 0, 0, 0},
			{"more than any message", 2048, frameData, 16 << 10, 0, 0, 900 * time.Millisecond, 1100 * time.Millisecond},
			{"window updates of an honest download", 10_000, 8, 4, costFrame, 11 << 20, 0, 0},
		} {
			m := newMeter(&pour{rest: frames(c.n, c.kind, c.size)}, false, func() {})
			began, b, out := time.Now(), make([]byte, 16<<10), make([]byte, c.write)
			for err := error(nil); err == nil; _, err = m.Read(b) {
				m.Write(out) // what those 16 KiB of updates would be of
			}
			if took := time.Since(began); took < c.least || took > c.top {
				t.Errorf("%s: read in %v, want %v to %v", c.name, took, c.least, c.top)
			}
		}
	})
}

// TestFrameHeadsInPieces: where a frame's head is cut does not matter.
func TestFrameHeadsInPieces(t *testing.T) {
	all := append(frames(3, frameHeaders, 7), frames(4, frameData, 3000)[prefaceLength:]...)
	for step := 1; step < 40; step++ {
		m := newMeter(nil, false, func() {})
		cost, data := 0.0, 0
		for at := 0; at < len(all); at += step {
			c, d := m.count(all[at:min(at+step, len(all))])
			cost, data = cost+c, data+d
		}
		if cost != 3*costStream || data != 4*3000 {
			t.Fatalf("pieces of %d: cost %v, %d bytes", step, cost, data)
		}
	}
}

// TestMeterGivesBack: bytes of messages that changed something are free, and a plan's large
// messages have room (LIM-7).
func TestMeterGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := newMeter(&pour{rest: frames(4096, frameData, 16<<10)}, false, func() {})
		b := make([]byte, 16<<10)
		for {
			n, err := m.Read(b)
			if err != nil {
				break
			}
			m.Accepted(n)
		}
		m = newMeter(&pour{rest: frames(4096, frameData, 16<<10)}, false, func() {})
		m.Expect(32 << 20)
		io.Copy(io.Discard, struct{ io.Reader }{m})
		if took := time.Since(began); took > 0 {
			t.Errorf("an honest site waited %v", took)
		}
	})
}

// TestStrangersSayLittle: a caller without a certificate is cut off after strangerBytes (LIM-1).
func TestStrangersSayLittle(t *testing.T) {
	m := newMeter(&pour{rest: frames(8, frameData, 16<<10)}, true, func() {})
	n, err := io.Copy(io.Discard, struct{ io.Reader }{m})
	if !errors.Is(err, errStranger) || n > strangerBytes {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// siteLeaf is as much of a site's certificate as the gate looks at.
func siteLeaf(name string) *x509.Certificate {
	leaf := &x509.Certificate{URIs: []*url.URL{{Scheme: "covey", Host: "site", Path: "/" + name}}}
	leaf.Subject.CommonName = name
	return leaf
}

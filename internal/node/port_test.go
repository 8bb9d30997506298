package node

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/pki"
	"covey/test/site"
)

// pipeNet is a network of one address, in memory.
type pipeNet struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipeNet() *pipeNet { return &pipeNet{make(chan net.Conn, 1000), make(chan struct{})} }

func (l *pipeNet) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeNet) Close() error {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	return nil
}
func (l *pipeNet) Addr() net.Addr { return &net.TCPAddr{} }

func (l *pipeNet) dial(context.Context, string) (net.Conn, error) {
	a, b := net.Pipe()
	l.conns <- b
	return a, nil
}

func authority(t *testing.T) *pki.Authority {
	t.Helper()
	return site.Authority(t, t.TempDir(), time.Now())
}

func open(t *testing.T, a *pki.Authority, id string, l *pipeNet, to *pipeNet) *port {
	t.Helper()
	tls, err := a.PeerTLS(id, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	p := newPort(l, tls, to.dial)
	t.Cleanup(func() {
		if !p.isClosed() {
			p.Close()
		}
	})
	return p
}

// TestBranches: each protocol reaches its own branch, and HTTP works over one.
func TestBranches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, here, there := authority(t), newPipeNet(), newPipeNet()
		one, two := open(t, a, "one", here, there), open(t, a, "two", there, here)
		echo := func(l net.Listener) {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.Copy(c, c)
			c.Close()
		}
		go echo(two.raft())
		go echo(two.joiners())
		say := func(c net.Conn, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			c.Write([]byte("x"))
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Error(err)
			}
		}
		say(one.raft().Dial("two", time.Second))
		say(dialJoin(t.Context(), there.dial, "two", a.Fingerprint()))
		if _, err := dialJoin(t.Context(), there.dial, "two", authority(t).Fingerprint()); err == nil {
			t.Error("joined a coordinator of another CA")
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "yes") })}
		go server.Serve(two.operators())
		client := http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return one.dialOperator(ctx, address) },
		}}
		answer, err := client.Get("http://two/")
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := io.ReadAll(answer.Body); string(text) != "yes" {
			t.Errorf("%q", text)
		}
		answer.Body.Close()
		client.CloseIdleConnections()
		server.Close()
	})
}

// TestSilentCallersAreDropped: PEER-5. More connections than slots that say nothing
// hold up a good one for no longer than a handshake's time.
func TestSilentCallersAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, here, there := authority(t), newPipeNet(), newPipeNet()
		one, two := open(t, a, "one", here, there), open(t, a, "two", there, here)
		var silent []net.Conn
		for range maxStrangers + 10 {
			c, err := there.dial(t.Context(), "two")
			if err != nil {
				t.Fatal(err)
			}
			silent = append(silent, c)
		}
		synctest.Wait()
		if n := two.connections(); n > maxStrangers {
			t.Errorf("%d handshakes at once", n)
		}
		go func() {
			c, err := two.raft().Accept()
			if err == nil {
				c.Write([]byte("x"))
				c.Close()
			}
		}()
		began := time.Now()
		c, err := one.raft().Dial("two", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Error(err)
		}
		c.Close()
		if n := one.connections(); n != 0 {
			t.Errorf("%d closed connections are remembered", n)
		}
		if took := time.Since(began); took > 2*handshakeTime {
			t.Errorf("a good caller waited %v", took)
		}
		for _, c := range silent {
			c.Close()
		}
	})
}

func (p *port) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// TestCloseEndsConnections: raft keeps some for later, at both ends.
func TestCloseEndsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, here, there := authority(t), newPipeNet(), newPipeNet()
		one, two := open(t, a, "one", here, there), open(t, a, "two", there, here)
		accepted := make(chan net.Conn, 1)
		go func() {
			c, err := two.raft().Accept()
			if err == nil {
				accepted <- c
			}
		}()
		dialled, err := one.raft().Dial("two", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 2)
		for _, c := range []net.Conn{dialled, <-accepted} {
			go func() { _, err := c.Read(make([]byte, 1)); ended <- err }()
		}
		one.Close()
		two.Close()
		for range 2 {
			if <-ended == nil {
				t.Error("a connection outlived its port")
			}
		}
	})
}

// TestCloseEndsEverything: those who wait to accept, and handshakes under way.
func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, here := authority(t), newPipeNet()
		p := open(t, a, "one", here, here)
		ended := make(chan error, 3)
		for _, l := range []net.Listener{p.raft(), p.operators(), p.joiners()} {
			go func() { _, err := l.Accept(); ended <- err }()
		}
		silent, err := here.dial(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		p.Close()
		for range 3 {
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Errorf("%v", err)
			}
		}
		if time.Since(began) > 0 {
			t.Error("a silent caller held the close up")
		}
		silent.Close()
	})
}

// resetting is a connection that the other end resets once something was sent.
type resetting struct {
	net.Conn
	port int
}

func (c resetting) Write(p []byte) (int, error) { return len(p), nil }

func (c resetting) Read([]byte) (int, error) {
	return 0, &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: c.port}, Addr: &net.TCPAddr{Port: 7444}, Err: syscall.ECONNRESET}
}

// TestBrokenConnectionInWords: what is tried every second, and logged where it is new, does not
// change with the port that it is tried from, in the handshake and after it.
func TestBrokenConnectionInWords(t *testing.T) {
	tls, err := authority(t).PeerTLS("one", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for port := range 3 {
		here, there := net.Pipe()
		defer here.Close()
		defer there.Close()
		broken := resetting{here, 40000 + port}
		_, err := secure(t.Context(), func(context.Context, string) (net.Conn, error) { return broken, nil }, "two:7444", tls.Client(operatorProtocol))
		_, later := exchange(t.Context(), broken, "/v1/raft/members", "")
		for _, err := range []error{err, later} {
			if err == nil || !errors.Is(err, syscall.ECONNRESET) {
				t.Fatal(err)
			}
			said[err.Error()] = true
		}
	}
	if len(said) != 1 {
		t.Errorf("%v", said)
	}
}

// TestEndedCAIsSaid: a coordinator that cannot make its certificate, as once the CA has ended, is
// told from one that is not there, with what to do.
func TestEndedCAIsSaid(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	go func() {
		defer there.Close()
		tls.Server(there, &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return nil, errors.New("the CA has ended")
		}}).Handshake()
	}()
	dial := func(context.Context, string) (net.Conn, error) { return here, nil }
	_, err := secure(t.Context(), dial, "two:7444", &tls.Config{MinVersion: tls.VersionTLS13, ServerName: "two"})
	if err == nil || !strings.Contains(err.Error(), "when certificates end") {
		t.Error(err)
	}
}

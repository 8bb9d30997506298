package node

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/pki"
)

// TestQuantumSafeConfig: quantum_safe_links is read and written, and a coordinator that would let
// nobody in does not start.
func TestQuantumSafeConfig(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "one")
	c := config("one")
	c.QuantumSafeLinks = true
	if err := Init(dir, c, time.Now()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, ConfigFile))
	if err != nil || !strings.Contains(string(text), "\nquantum_safe_links = true\n") {
		t.Errorf("%v: %s", err, text)
	}
	t.Setenv("GODEBUG", "tlsmlkem=0")
	n, err := Open(dir, Options{Listen: func(string) (net.Listener, error) { t.Error("it listens"); return nil, net.ErrClosed }})
	if err == nil {
		n.close()
	}
	if _, ok := errors.AsType[*ConfigError](err); !ok || !strings.Contains(err.Error(), "quantum_safe_links") || !strings.Contains(err.Error(), "take tlsmlkem=0 out of GODEBUG here") {
		t.Error(err)
	}
}

// TestQuantumSafePeers: coordinators know the key exchange of the links between them. One that
// demands it takes no other, whoever dials, and is reached by one that does not.
func TestQuantumSafePeers(t *testing.T) {
	pairOver(t, func(t *testing.T, w *wires, one, two *Node) {
		want := pki.KeyExchange{Group: "X25519MLKEM768", QuantumSafe: true}
		until(t, "the links", func() error {
			for _, got := range []pki.KeyExchange{one.port.keyExchanges()["two"], two.port.keyExchanges()["one"]} {
				if got != want {
					return errors.New(got.String())
				}
			}
			return nil
		})
		if c := one.cluster(); len(c.Peers) != 2 || c.Peers[0].KeyExchange == c.Peers[1].KeyExchange {
			t.Errorf("%+v", c.Peers)
		}

		weak, err := two.authority.PeerTLS("two", two.now)
		if err != nil {
			t.Fatal(err)
		}
		weakly := func(protocol string) error {
			c := weak.Client(protocol)
			c.CurvePreferences = []tls.CurveID{tls.X25519}
			conn, err := secure(t.Context(), w.from("two"), one.Config.PeerAddress, c)
			if err != nil {
				return err
			}
			defer conn.Close()
			conn.SetReadDeadline(time.Now().Add(time.Second))
			_, err = conn.Read(make([]byte, 1))
			if at, ok := errors.AsType[net.Error](err); ok && at.Timeout() {
				if got := one.port.keyExchanges()["two"]; !got.Weak() || got.Group != "X25519" {
					t.Errorf("of several the weakest: %+v", got)
				}
				return nil // it waits for a request
			}
			return err
		}
		if err := weakly(operatorProtocol); err != nil {
			t.Errorf("where none is demanded: %v", err)
		}
	})
}

// TestQuantumSafeFederation: a coordinator that demands it is reached by those that offer it, and
// refuses the others.
func TestQuantumSafeFederation(t *testing.T) {
	a := authority(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	own, err := a.PeerTLS("one", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	own.QuantumSafe()
	p := newPort(l, own, nil)
	defer p.Close()
	go func() {
		for {
			c, err := p.operators().Accept()
			if err != nil {
				return
			}
			c.Write([]byte("x"))
			c.Close()
		}
	}()
	other, err := a.PeerTLS("two", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []tls.CurveID{tls.X25519, tls.CurveP256, tls.X25519MLKEM768} {
		c := other.Client(operatorProtocol)
		c.CurvePreferences = []tls.CurveID{id}
		conn, err := tls.Dial("tcp", l.Addr().String(), c)
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		if (err == nil) != (id == tls.X25519MLKEM768) {
			t.Errorf("%v: %v", id, err)
		}
	}
}

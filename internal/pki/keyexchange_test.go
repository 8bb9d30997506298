package pki

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"covey/test/must"
)

// hybrids are the groups that are quantum-safe, classical all others that TLS 1.3 has here.
var hybrids = []tls.CurveID{tls.X25519MLKEM768, tls.SecP256r1MLKEM768, tls.SecP384r1MLKEM1024}

var classical = []tls.CurveID{tls.X25519, tls.CurveP256, tls.CurveP384, tls.CurveP521}

// only restricts a configuration, whatever it changes at each handshake.
func only(c *tls.Config, id tls.CurveID) *tls.Config {
	c.GetConfigForClient, c.CurvePreferences = nil, []tls.CurveID{id}
	return c
}

// recorded notes what is written to a connection.
type recorded struct {
	net.Conn
	wrote bytes.Buffer
}

func (r *recorded) Write(p []byte) (int, error) {
	r.wrote.Write(p)
	return r.Conn.Write(p)
}

// words is what a client would say first.
const words = "what this site has to say"

// speak makes a handshake over TCP and says words if it comes through. It returns what the server
// read of the application, what the client wrote in all, and both ends' errors.
func speak(t *testing.T, server, client *tls.Config) (heard string, wrote []byte, clientErr, serverErr error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		raw, err := l.Accept()
		if err != nil {
			done <- err
			return
		}
		defer raw.Close()
		raw.SetDeadline(time.Now().Add(time.Minute)) // only ends a test that hangs
		c := tls.Server(raw, server)
		err = c.Handshake()
		text, _ := io.ReadAll(c)
		heard = string(text)
		done <- err
	}()
	raw, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	raw.SetDeadline(time.Now().Add(time.Minute))
	r := &recorded{Conn: raw}
	c := tls.Client(r, client)
	if clientErr = c.Handshake(); clientErr == nil {
		io.WriteString(c, words)
		c.CloseWrite()
		if _, err := c.Read(make([]byte, 1)); err != io.EOF { // a refusal by the server comes here
			clientErr = err
		}
	}
	raw.Close()
	serverErr = <-done
	return heard, r.wrote.Bytes(), clientErr, serverErr
}

// TestDemandQuantumSafe: a site that demands it speaks over each hybrid group, and over no other:
// the error names the group, and what has left is the ClientHello and an alert.
func TestDemandQuantumSafe(t *testing.T) {
	a := newAuthority(t)
	s := member(t, a, "north")
	demands := func() *tls.Config {
		c := pin(t, s, "localhost")
		DemandQuantumSafe(c)
		return c
	}
	for _, id := range hybrids {
		heard, _, clientErr, serverErr := speak(t, only(at(a.ServerTLS(), start), id), demands())
		if clientErr != nil || serverErr != nil || heard != words {
			t.Errorf("%v: %v, %v, %q", id, clientErr, serverErr, heard)
		}
	}
	if heard, _, clientErr, serverErr := speak(t, at(a.ServerTLS(), start), demands()); clientErr != nil || serverErr != nil || heard != words {
		t.Errorf("as configured: %v, %v, %q", clientErr, serverErr, heard)
	}
	for _, id := range classical {
		server := only(at(a.ServerTLS(), start), id)
		verify := server.VerifyConnection
		server.VerifyConnection = func(c tls.ConnectionState) error {
			t.Errorf("%v: the client went on, with %d certificates", id, len(c.PeerCertificates))
			return verify(c)
		}
		heard, wrote, clientErr, serverErr := speak(t, server, demands())
		bad := must.As[*KeyExchangeError](t, clientErr)
		if bad.Group != id.String() || !strings.Contains(clientErr.Error(), "GODEBUG there") || serverErr == nil || heard != "" {
			t.Errorf("%v: %v, %v, %q", id, clientErr, serverErr, heard)
		}
		if n := afterHellos(t, wrote); n > 64 {
			t.Errorf("%v: %d bytes left after the ClientHello, which is no alert", id, n)
		}
	}
}

// afterHellos returns how many bytes of records other than ClientHellos a client wrote.
func afterHellos(t *testing.T, wrote []byte) (n int) {
	t.Helper()
	const handshake = 22 // RFC 8446, 5.1: one byte of type, two of version, two of length
	for len(wrote) >= 5 {
		length := 5 + int(wrote[3])<<8 + int(wrote[4])
		if wrote[0] != handshake {
			n += length
		}
		wrote = wrote[length:]
	}
	return n
}

// TestDemandKeepsOthers: what a configuration verified before is verified still.
func TestDemandKeepsOthers(t *testing.T) {
	a, other := newAuthority(t, "covey.example.org"), newAuthority(t, "covey.example.org")
	c := at(JoinTLS(a.Fingerprint(), "covey.example.org"), start)
	DemandQuantumSafe(c)
	_, _, clientErr, _ := speak(t, at(other.ServerTLS(), start), c)
	must.As[*WrongCAError](t, clientErr)
}

// TestServeQuantumSafe: a coordinator that demands it answers nobody who offers no hybrid group, so
// that such a client sends its ClientHello alone, and says what it offered.
func TestServeQuantumSafe(t *testing.T) {
	a := newAuthority(t)
	s := member(t, a, "north")
	var offered [][]tls.CurveID
	server := func() *tls.Config {
		c := at(a.ServerTLS(), start)
		ServeQuantumSafe(c, func(h *tls.ClientHelloInfo) { offered = append(offered, h.SupportedCurves) })
		return c
	}
	for _, id := range hybrids {
		if heard, _, clientErr, serverErr := speak(t, server(), only(pin(t, s, "localhost"), id)); clientErr != nil || serverErr != nil || heard != words {
			t.Errorf("%v: %v, %v, %q", id, clientErr, serverErr, heard)
		}
	}
	if heard, _, clientErr, serverErr := speak(t, server(), pin(t, s, "localhost")); clientErr != nil || serverErr != nil || heard != words {
		t.Errorf("as configured: %v, %v, %q", clientErr, serverErr, heard)
	}
	if len(offered) != 0 {
		t.Errorf("refused %v", offered)
	}
	for i, id := range classical {
		heard, wrote, clientErr, serverErr := speak(t, server(), only(pin(t, s, "localhost"), id))
		if clientErr == nil || serverErr == nil || heard != "" {
			t.Errorf("%v: %v, %v, %q", id, clientErr, serverErr, heard)
		}
		if n := afterHellos(t, wrote); n > 0 {
			t.Errorf("%v: %d bytes left after the ClientHello", id, n)
		}
		if len(offered) != i+1 || !slices.Equal(offered[i], []tls.CurveID{id}) {
			t.Errorf("%v: said to be offered: %v", id, offered)
		}
		// This program offers a hybrid group elsewhere: the alert is not for want of one.
		if _, ok := errors.AsType[*KeyExchangeError](ExplainAlert(clientErr)); ok {
			t.Errorf("%v: explained as %v", id, ExplainAlert(clientErr))
		}
	}
}

// TestTurnedOff: GODEBUG=tlsmlkem=0 is seen and named, by the end where it is set.
func TestTurnedOff(t *testing.T) {
	a := newAuthority(t)
	s := member(t, a, "north")
	if !slices.Contains(offered(), tls.X25519MLKEM768) || CheckQuantumSafe() != nil {
		t.Fatalf("offered: %v", offered())
	}
	t.Setenv("GODEBUG", "tlsmlkem=0")
	if slices.ContainsFunc(offered(), isQuantumSafe) {
		t.Fatalf("offered: %v", offered())
	}
	must.As[*KeyExchangeError](t, CheckQuantumSafe())
	for what, demand := range map[string]func(server, client *tls.Config){
		"of the site":        func(_, c *tls.Config) { DemandQuantumSafe(c) },
		"of the coordinator": func(c, _ *tls.Config) { ServeQuantumSafe(c, nil) },
	} {
		server, client := at(a.ServerTLS(), start), pin(t, s, "localhost")
		demand(server, client)
		heard, _, clientErr, _ := speak(t, server, client)
		err := ExplainAlert(clientErr)
		must.As[*KeyExchangeError](t, err)
		if heard != "" || !strings.Contains(err.Error(), "X25519") || !strings.Contains(err.Error(), "X25519MLKEM768") || !strings.Contains(err.Error(), "take tlsmlkem=0 out of GODEBUG here") {
			t.Errorf("%s: %v, heard %q", what, err, heard)
		}
	}
}

// TestKeyExchange: what is said of a connection is what it has.
func TestKeyExchange(t *testing.T) {
	a := newAuthority(t)
	s := member(t, a, "north")
	for _, id := range slices.Concat(hybrids, classical) {
		var server, client KeyExchange
		c := pin(t, s, "localhost")
		c.VerifyConnection = func(s tls.ConnectionState) error { client = KeyExchangeOf(s); return nil }
		clientErr, serverErr := dial(t, only(at(a.ServerTLS(), start), id), c, func(c *tls.Conn) error {
			server = KeyExchangeOf(c.ConnectionState())
			return hello(c)
		})
		safe := slices.Contains(hybrids, id)
		if want := (KeyExchange{id.String(), safe}); clientErr != nil || serverErr != nil || server != want || client != want || want.Weak() == safe {
			t.Errorf("%v: %+v, %+v, %v, %v", id, server, client, clientErr, serverErr)
		}
		if got := server.String(); strings.HasPrefix(got, "quantum-safe") != safe || !strings.Contains(got, "("+id.String()+")") {
			t.Error(got)
		}
	}
	if k := KeyExchangeOf(tls.ConnectionState{}); k != (KeyExchange{}) || k.String() != "" || k.Weak() {
		t.Errorf("of no connection: %+v", k)
	}
}

// TestPeersQuantumSafe: coordinators that demand it refuse links without, whoever dials; those that
// do not take them; and the federation's keys go over no other link to one that joins, whatever is
// configured.
func TestPeersQuantumSafe(t *testing.T) {
	a := newAuthority(t)
	for _, demanded := range []bool{false, true} {
		p := peerTLS(t, a, "one")
		if demanded {
			p.QuantumSafe()
		}
		other := peerTLS(t, a, "two")
		weak := func(c *tls.Config) *tls.Config {
			c.CurvePreferences = []tls.CurveID{tls.X25519}
			return c
		}
		dialled, _ := shake(p.Client(talking), only(other.Server(joining, talking), tls.X25519))
		if (dialled != nil) != demanded {
			t.Errorf("demanded: %v, dialled: %v", demanded, dialled)
		}
		if demanded {
			must.As[*KeyExchangeError](t, dialled)
		}
		if _, accepted := shake(weak(other.Client(talking)), p.Server(joining, talking)); (accepted != nil) != demanded {
			t.Errorf("demanded: %v, accepted: %v", demanded, accepted)
		}
		if dialled, accepted := shake(p.Client(talking), other.Server(joining, talking)); dialled != nil || accepted != nil {
			t.Errorf("as configured: %v, %v", dialled, accepted)
		}

		join := func() *tls.Config { return at(NodeJoinTLS(a.Fingerprint(), joining), start) }
		if dialled, accepted := shake(join(), p.Server(joining, talking)); dialled != nil || accepted != nil {
			t.Errorf("joining: %v, %v", dialled, accepted)
		}
		lax := join()
		lax.VerifyConnection = nil
		if _, accepted := shake(weak(lax), p.Server(joining, talking)); accepted == nil {
			t.Error("a joining coordinator was let in over X25519")
		}
		stranger := p.Server(joining, talking)
		stranger.ClientAuth, stranger.VerifyConnection = tls.NoClientCert, nil
		stranger.NextProtos = []string{joining}
		dialled, _ = shake(join(), only(stranger, tls.X25519))
		must.As[*KeyExchangeError](t, dialled)
	}
}

package pki

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

const (
	talking = "covey-talk"
	joining = "covey-join"
)

func peerTLS(t testing.TB, a *Authority, id string) *PeerTLS {
	t.Helper()
	p, err := a.PeerTLS(id, func() time.Time { return start })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shake connects client to server over a pipe and reads one byte each way, which
// makes both sides see the other's refusal. It gives the first error of each side.
func shake(client, server *tls.Config) (dialled, accepted error) {
	a, b := net.Pipe()
	done := make(chan error, 1)
	talk := func(c *tls.Conn) error {
		defer c.NetConn().Close() // tls's own Close waits for the other side
		if err := c.Handshake(); err != nil {
			return err
		}
		sent := make(chan error, 1)
		go func() { _, err := c.Write([]byte{1}); sent <- err }()
		if _, err := c.Read(make([]byte, 1)); err != nil {
			return err
		}
		return <-sent
	}
	go func() { done <- talk(tls.Server(b, server)) }()
	dialled = talk(tls.Client(a, client))
	return dialled, <-done
}

// TestPeersKnowEachOther: coordinators of one CA, and nobody else.
func TestPeersKnowEachOther(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	one, two := peerTLS(t, a, "one"), peerTLS(t, a, "two")
	server := one.Server(joining, talking)
	at := func() time.Time { return start }
	if dialled, accepted := shake(two.Client(talking), server); dialled != nil || accepted != nil {
		t.Fatalf("%v, %v", dialled, accepted)
	}
	site := member(t, a, "site")
	asSite, err := site.ClientTLS("localhost")
	if err != nil {
		t.Fatal(err)
	}
	asSite.ServerName, asSite.NextProtos, asSite.Time = nodeHost, []string{talking}, at
	bare := two.Client(talking)
	bare.GetClientCertificate = nil
	late := two.Client(talking)
	late.Time = nil
	twoLater := &PeerTLS{authority: a, id: "two", now: func() time.Time { return start.Add(40 * days) }}
	late.GetClientCertificate = twoLater.Client(talking).GetClientCertificate
	late.Time = at
	for name, c := range map[string]*tls.Config{
		"another CA's coordinator": peerTLS(t, other, "two").Client(talking),
		"a site":                   asSite,
		"nobody":                   bare,
		"of another time":          late,
		"another protocol":         two.Client("covey-other"),
	} {
		if dialled, accepted := shake(c, server); dialled == nil || accepted == nil {
			t.Errorf("%s: dialled %v, accepted %v", name, dialled, accepted)
		}
	}
	// A coordinator's port for sites is not one for coordinators, and the other way.
	public := a.ServerTLS()
	public.Time, public.NextProtos = at, []string{talking}
	if dialled, _ := shake(two.Client(talking), public); dialled == nil {
		t.Error("the sites' port passed for a coordinator's")
	}
	odd := newAuthority(t, nodeHost) // whose sites reach it by the coordinators' name
	public = odd.ServerTLS()
	public.Time, public.NextProtos = at, []string{talking}
	public.ClientAuth, public.VerifyConnection = tls.NoClientCert, nil // it takes anybody
	if dialled, _ := shake(peerTLS(t, odd, "two").Client(talking), public); dialled == nil {
		t.Error("the port of sites that reach it by that name passed for a coordinator's")
	}
	public = a.ServerTLS()
	public.Time, public.NextProtos = at, []string{talking}
	asNode := two.Client(talking)
	asNode.ServerName = "localhost"
	if _, accepted := shake(asNode, public); accepted == nil {
		t.Error("a coordinator's certificate passed for a site's")
	}
}

// TestStrangersOnlyJoin: without a certificate only the protocol of joining is spoken, and
// only by who knows the CA's fingerprint.
func TestStrangersOnlyJoin(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	server := peerTLS(t, a, "one").Server(joining, talking)
	join := func(fingerprint, protocol string) error {
		c := NodeJoinTLS(fingerprint, protocol)
		c.Time = func() time.Time { return start }
		dialled, accepted := shake(c, server)
		return errors.Join(dialled, accepted)
	}
	if err := join(a.Fingerprint(), joining); err != nil {
		t.Fatal(err)
	}
	if err := join(a.Fingerprint(), talking); err == nil {
		t.Error("spoke another protocol without a certificate")
	}
	if _, ok := errors.AsType[*WrongCAError](join(other.Fingerprint(), joining)); !ok {
		t.Error("joined another CA's coordinator")
	}
}

// TestPeerCertificateIsMadeAnew: before its end, without a restart.
func TestPeerCertificateIsMadeAnew(t *testing.T) {
	a := newAuthority(t)
	now := start
	p, err := a.PeerTLS("one", func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	first, _ := p.certificate()
	now = start.Add(nodeValidity/2 - time.Minute)
	if same, _ := p.certificate(); same != first {
		t.Error("made anew too early")
	}
	for _, at := range []time.Time{start.Add(nodeValidity/2 + time.Minute), start.Add(-2 * time.Hour)} {
		now = at
		c, err := p.certificate()
		if err != nil {
			t.Fatal(err)
		}
		if now.Before(c.Leaf.NotBefore) || now.After(c.Leaf.NotAfter) {
			t.Errorf("at %v the certificate is of %v to %v", now, c.Leaf.NotBefore, c.Leaf.NotAfter)
		}
	}
}

// TestInitNode: the estate passes whole, to an empty folder, and is not printed.
func TestInitNode(t *testing.T) {
	a := newAuthority(t)
	raw, err := a.Estate().Bytes()
	if err != nil {
		t.Fatal(err)
	}
	e, err := ParseEstate(raw)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, ok := errors.AsType[*WrongCAError](InitNode(dir, e, newAuthority(t).Fingerprint(), nil, start)); !ok {
		t.Error("another CA's fingerprint was accepted")
	}
	if err := InitNode(dir, e, a.Fingerprint(), []string{"host.example"}, start); err != nil {
		t.Fatal(err)
	}
	b, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b.Fingerprint() != a.Fingerprint() || !b.SigningKey().Equal(a.SigningKey()) || b.ServerCertificate().VerifyHostname("host.example") != nil {
		t.Error("the new coordinator is another")
	}
	if b.serverKey().Equal(a.serverKey()) {
		t.Error("two coordinators serve with one key")
	}
	if _, ok := errors.AsType[*ExistsError](InitNode(dir, e, a.Fingerprint(), nil, start)); !ok {
		t.Error("a folder was overwritten")
	}
	for _, bad := range [][]byte{nil, []byte("{}"), raw[:len(raw)-2], []byte(strings.Replace(string(raw), "ca_key", "signing_key", 1))} {
		if _, err := ParseEstate(bad); err == nil {
			t.Errorf("%d bytes are an estate", len(bad))
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if text := fmt.Sprintf(verb, e); strings.Contains(text, fmt.Sprintf("%x", a.caKey().Seed())[:16]) || strings.Contains(text, "CAKey") {
			t.Errorf("%s prints the estate", verb)
		}
	}
}

// TestJoinFileIsForOne: a site or a coordinator, not both, and each knows its own.
func TestJoinFileIsForOne(t *testing.T) {
	token, err := NewToken()
	if err != nil {
		t.Fatal(err)
	}
	j := Join{Coordinator: []string{"h:1"}, Fingerprint: newAuthority(t).Fingerprint(), Token: token, Node: "two", Expires: start}
	text, err := j.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseJoin(text)
	if err != nil || back.Node != "two" || back.Site != "" {
		t.Errorf("%+v, %v", back, err)
	}
	for _, both := range []Join{{Site: "site", Node: "two"}, {Analyst: "ada", Node: "two"}, {Site: "site", Analyst: "ada"}, {}} {
		j.Site, j.Analyst, j.Node = both.Site, both.Analyst, both.Node
		if _, err := j.Marshal(); err == nil {
			t.Errorf("a file for %+v was made", both)
		}
	}
}

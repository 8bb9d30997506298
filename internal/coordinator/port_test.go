package coordinator

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/wire"
	"covey/test/site"
)

// office is a coordinator's real port: gRPC over TLS on loopback, its log in memory and its clock
// the test's.
type office struct {
	*federation
	server  *grpc.Server
	address string
	clock   atomic.Int64 // Unix nanoseconds
	people  map[string]*person
	speaks  wire.Version // what who dials says of itself
}

// person is whoever calls, with the keys that it shows.
type person struct {
	*pki.Holder
	name string
	dir  string
	conn *grpc.ClientConn
	leaf *x509.Certificate

	shown *tls.Certificate
}

func newOffice(t *testing.T) *office {
	o := &office{federation: newFederation(t, 3, nil), people: map[string]*person{}, speaks: wire.This("covey-test")}
	morning := time.Now().Truncate(24 * time.Hour).Add(10*time.Hour + 3*time.Second)
	if morning.After(time.Now()) { // TLS goes by the system's clock: what is issued must be valid already
		morning = morning.Add(-24 * time.Hour)
	}
	o.clock.Store(morning.UnixNano())
	o.clocked()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o.address = l.Addr().String()
	o.server = o.c.Server()
	go o.server.Serve(l) // until the test ends
	t.Cleanup(func() {
		o.c.Close()
		o.server.Stop()
	})
	return o
}

// clocked sets the coordinator's clock to the test's, which one that takes over needs again.
func (o *office) clocked() {
	o.c.core.now = func() time.Time { return time.Unix(0, o.clock.Load()).UTC() }
}

func (o *office) now() time.Time { return o.c.now() }

// unpaced lets everybody call at once.
func (o *office) unpaced() {
	clear(o.c.machine.lock().paces)
	o.c.machine.unlock()
}

// dial opens a connection that shows a certificate, or none.
func (o *office) dial(certificate *tls.Certificate) *grpc.ClientConn {
	o.t.Helper()
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13} // it is the server that is tested
	if certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate, nil }
	}
	said := metadata.Pairs(o.speaks.Pairs()...)
	conn, err := grpc.NewClient(o.address, grpc.WithTransportCredentials(credentials.NewTLS(config)),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, in, out any, cc *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
			return call(metadata.NewOutgoingContext(ctx, said), method, in, out, cc, options...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, about *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
			return open(metadata.NewOutgoingContext(ctx, said), about, cc, method, options...)
		}))
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { conn.Close() })
	return conn
}

// keys makes a person's keys, who has not joined.
func (o *office) keys(name string) *person {
	o.t.Helper()
	dir := o.t.TempDir()
	h, _ := site.Keys(o.t, dir, name)
	return &person{Holder: h, name: name, dir: dir}
}

func (p *person) public() ed25519.PublicKey { return p.Identity().Public().(ed25519.PublicKey) }

func (p *person) party() proposal.Party {
	return proposal.Party{Name: p.name, Identity: proposal.Key(p.public())}
}

// request returns what joins under a name with a join file.
func (p *person) request(t *testing.T, j pki.Join, name string) wire.JoinRequest {
	t.Helper()
	csr, err := p.CSR(name)
	if err != nil {
		t.Fatal(err)
	}
	return wire.JoinRequest{Token: j.Token.Bytes(), Name: name, CSR: csr, Identity: p.public(), Proof: p.ProveIdentity(name, j.Token.Hash(), csr)}
}

// join lets a person join over the port, and returns it with a connection of its own.
func (o *office) join(role pki.Role, name string) *person {
	o.t.Helper()
	p := o.keys(name)
	j, err := o.c.InviteAs(role, name, []string{o.address}, time.Hour, false)
	if err != nil {
		o.t.Fatal(err)
	}
	certificate, _, err := wire.CallJoin(o.t.Context(), o.dial(nil), p.request(o.t, j, name))
	if err != nil {
		o.t.Fatal(err)
	}
	shown := p.shows(o.t, certificate)
	p.conn, p.leaf, p.shown = o.dial(shown), shown.Leaf, shown
	o.people[name] = p
	return p
}

// shows returns a certificate with the key that it should be of.
func (p *person) shows(t *testing.T, certificate []byte) *tls.Certificate {
	t.Helper()
	leaf := parse(t, certificate)
	text, err := os.ReadFile(filepath.Join(p.dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

// issued is a certificate that the CA makes without a join: whoever holds its key can.
func (o *office) issued(role pki.Role, name string, p *person) *grpc.ClientConn {
	o.t.Helper()
	csr, err := p.CSR(name)
	if err != nil {
		o.t.Fatal(err)
	}
	certificate, err := o.auth.Issue(role, name, csr, o.now())
	if err != nil {
		o.t.Fatal(err)
	}
	return o.dial(p.shows(o.t, certificate))
}

// draft is a proposal before it is written.
type draft struct {
	by       *proposal.Party
	spec     proposal.Spec
	roster   []proposal.Member
	readers  []proposal.Party
	key      ed25519.PublicKey
	nonce    [32]byte
	expires  time.Duration
	signs    ed25519.PrivateKey
	altered  func([]byte) []byte // after it was signed
	rewrites func([]byte) []byte // before
}

// draws fills a draft of a person's in as its program does, from what the coordinator offers.
func (o *office) draws(p *person, name string, readers ...string) draft {
	o.t.Helper()
	var names []string // others may have joined that have no link
	for _, s := range o.sites {
		if h, _ := o.c.machine.holder(pki.RoleSite, s.name); !h.Revoked {
			names = append(names, s.name)
		}
	}
	offer, err := wire.CallOffer(o.t.Context(), p.conn, "rows", names, readers)
	if err != nil {
		o.t.Fatal(err)
	}
	by := p.party()
	d := draft{by: &by, roster: offer.Sites, readers: offer.Readers, key: ed25519.PublicKey(offer.Coordinator), expires: 24 * time.Hour, signs: p.Identity(),
		spec: proposal.Spec{Name: name, Dataset: "rows", Epsilon: 1, Delta: 1e-6, Center: proposal.CenterPublic, Rounds: 2, Readers: readers,
			ExplainedVariance: proposal.VarianceNone, Columns: []proposal.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}},
			Deadlines: proposal.Deadlines{Round: proposal.Duration(2 * time.Second), Tick: proposal.Duration(100 * time.Millisecond)}}}
	rand.Read(d.nonce[:])
	return d
}

// written returns the draft's bytes and its signature.
func (d draft) written(t *testing.T, now time.Time) wire.Proposal {
	t.Helper()
	spec := d.spec
	if d.expires != 0 {
		spec.Expires = proposal.Expiry(now.Add(d.expires).UTC().Truncate(time.Second).Format(time.RFC3339))
	}
	body, err := proposal.ProposeAs(d.by, spec, d.roster, d.readers, d.key, d.nonce)
	if err != nil {
		t.Fatal(err)
	}
	if d.rewrites != nil {
		body = d.rewrites(body)
	}
	out := wire.Proposal{Body: body}
	if d.signs != nil {
		out.Signature = proposal.SignProposal(d.signs, proposal.DigestOf(body))
	}
	if d.altered != nil {
		out.Body = d.altered(out.Body)
	}
	return out
}

// proposes sends a person's draft, changed, and returns its digest.
func (o *office) proposes(p *person, d draft) (proposal.Digest, error) {
	o.t.Helper()
	w := d.written(o.t, o.now())
	return proposal.DigestOf(w.Body), wire.CallPropose(o.t.Context(), p.conn, w)
}

// lineOf is the log's line of a proposal, as a leader writes it.
func lineOf(t *testing.T, w wire.Proposal, at time.Time) []byte {
	t.Helper()
	line, err := json.Marshal(entry{At: at, Round: &round.Entry{Study: proposal.DigestOf(w.Body), Kind: round.EntryProposed, Body: w.Body, Signature: w.Signature}})
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func parsed(t *testing.T, w wire.Proposal) *proposal.Proposal {
	t.Helper()
	p, err := proposal.Parse(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

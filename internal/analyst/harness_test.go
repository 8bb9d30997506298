package analyst

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"covey/internal/pki"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/port"
	"covey/test/site"
)

// hub is a coordinator's port over real TLS, which says what a test has it say.
type hub struct {
	authority *pki.Authority
	address   string
	version   []string
	key       ed25519.PrivateKey // signs results

	mu        sync.Mutex
	vouchers  []pki.Voucher
	token     pki.Token
	renewed   int
	offer     wire.Offer
	proposed  []wire.Proposal
	withdrawn []study.Digest
	told      []wire.Told
	file      []byte
	fails     error // of every call of Analysis
	lose      bool  // takes a proposal and loses the answer
	watches   func(n int, of study.Digest, see func(wire.Told) error) error
	watched   int
}

func newHub(t *testing.T) *hub {
	t.Helper()
	return hubOf(t, site.Authority(t, filepath.Join(t.TempDir(), "coordinator"), time.Now()))
}

// hubOf is another coordinator of an authority.
func hubOf(t *testing.T, a *pki.Authority) *hub {
	t.Helper()
	h := &hub{authority: a, version: wire.This("a stand-in").Pairs(), key: seeded(200)}
	h.vouchers = []pki.Voucher{{Certificate: a.CertificatePEM()}}
	h.offer = wire.Offer{Coordinator: public(h.key), Clock: time.Now()}
	for i, name := range []string{"north", "south", "west"} {
		h.offer.Sites = append(h.offer.Sites, study.Member{Name: name, Identity: public(seeded(byte(i))), Units: 3000})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.address = l.Addr().String()
	port.Serve(t, a, l, func() []string { return h.version }, func(s *grpc.Server) {
		wire.Register(s, h)
		wire.RegisterAnalysis(s, h)
	})
	return h
}

func seeded(b byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))
}

func public(k ed25519.PrivateKey) study.Key { return study.Key(k.Public().(ed25519.PublicKey)) }

// join has an analyst join into a new folder. The hub has a coordinator's address for each of more.
func (h *hub) join(t *testing.T, more ...string) *Client {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ada")
	if err := Newcomer(false).Join(port.Bounded(t), h.invite(t, more...), dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	return opened(t, dir)
}

func opened(t *testing.T, dir string) *Client {
	t.Helper()
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (h *hub) invite(t *testing.T, more ...string) []byte {
	t.Helper()
	token, err := pki.NewToken()
	if err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	h.token = token
	h.mu.Unlock()
	text, err := pki.Join{Coordinator: append([]string{h.address}, more...), Fingerprint: h.authority.Fingerprint(), Token: token,
		Analyst: "ada", Expires: time.Now().Add(time.Hour).Truncate(time.Second)}.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (h *hub) Join(_ context.Context, r wire.JoinRequest) (certificate, authority []byte, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !bytes.Equal(r.Token, h.token.Bytes()) || r.Name != "ada" || pki.CheckIdentityProof(r.Identity, r.Name, h.token.Hash(), r.CSR, r.Proof) != nil {
		return nil, nil, status.Error(codes.PermissionDenied, "the join file was used before")
	}
	h.token = pki.Token{}
	certificate, err = h.authority.Issue(pki.RoleAnalyst, r.Name, r.CSR, time.Now())
	return certificate, h.authority.CertificatePEM(), err
}

// analyst refuses who is none.
func (h *hub) analyst(ctx context.Context) error {
	p, _ := peer.FromContext(ctx)
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return status.Error(codes.Unauthenticated, "no certificate")
	}
	if role, name, err := pki.RoleOf(info.State.VerifiedChains[0][0]); err != nil || role != pki.RoleAnalyst || name != "ada" {
		return status.Error(codes.Unauthenticated, "no analyst")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fails
}

func (h *hub) Renew(_ context.Context, csr []byte) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renewed++
	return h.authority.Renew(pki.RoleAnalyst, "ada", csr, time.Now())
}

func (h *hub) Standing(context.Context, []byte) (wire.Standing, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return wire.Standing{Authorities: h.vouchers, Clock: time.Now(), Software: "a stand-in"}, nil
}

func (h *hub) Link(context.Context, wire.Stream) error {
	return status.Error(codes.PermissionDenied, "no site")
}

func (h *hub) Result(ctx context.Context, _ []byte) ([]byte, error) {
	if err := h.analyst(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file == nil {
		return nil, status.Error(codes.NotFound, "there is no result")
	}
	return h.file, nil
}

func (h *hub) Offer(ctx context.Context, _ string, _, _ []string) (wire.Offer, error) {
	if err := h.analyst(ctx); err != nil {
		return wire.Offer{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.offer, nil
}

func (h *hub) Propose(ctx context.Context, p wire.Proposal) (study.Digest, error) {
	if err := h.analyst(ctx); err != nil {
		return study.Digest{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.proposed = append(h.proposed, p)
	d := study.DigestOf(p.Body)
	h.told = append(h.told, wire.Told{Study: d, Name: "weights", Own: true, Proposer: "ada", Phase: wire.PhaseProposed})
	if h.lose {
		return d, status.Error(codes.Unavailable, "gone")
	}
	return d, nil
}

func (h *hub) List(ctx context.Context) ([]wire.Told, error) {
	if err := h.analyst(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told, nil
}

func (h *hub) Watch(ctx context.Context, of study.Digest, once bool, see func(wire.Told) error) error {
	if err := h.analyst(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	h.watched++
	n, script, told := h.watched, h.watches, h.told
	h.mu.Unlock()
	if script != nil {
		return script(n, of, see)
	}
	for _, t := range told {
		if t.Study == of {
			return see(t)
		}
	}
	return status.Error(codes.NotFound, wire.NoStudy)
}

func (h *hub) Withdraw(ctx context.Context, of study.Digest) error {
	if err := h.analyst(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.withdrawn = append(h.withdrawn, of)
	return nil
}

// set changes what a hub says.
func (h *hub) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

func spec(t testing.TB, more string) study.Spec {
	t.Helper()
	s, err := study.ParseSpec([]byte(more + `name = "weights"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
[[columns]]
name = "height"
offset = 1.0
scale = 10.0
[[columns]]
name = "weight"
offset = 1.0
scale = 10.0
`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantErr[E error](t *testing.T, err error, says ...string) E {
	t.Helper()
	at, ok := errors.AsType[E](err)
	if !ok {
		t.Fatalf("got %v, want a %T", err, at)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v: lacks %q", err, text)
		}
	}
	return at
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

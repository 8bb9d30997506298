package port

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/wire"
	"covey/test/must"
	"covey/test/site"
)

// Hub is a coordinator's port for analysts over real TLS, which says what a test has it say. Its
// fields are set before anyone calls, or by Set.
type Hub struct {
	Authority *pki.Authority
	Address   string
	Version   []string
	Key       ed25519.PrivateKey // signs results

	mu        sync.Mutex
	Vouchers  []pki.Voucher
	token     pki.Token
	Renewed   int
	Offered   wire.Offer
	Proposed  []wire.Proposal
	Withdrawn []proposal.Digest
	Told      []wire.Told
	File      []byte // of every result
	Fails     error  // of every call of Analysis
	Lose      bool   // takes a proposal and loses the answer
	Watches   func(n int, of proposal.Digest, see func(wire.Told) error) error
	Watched   int
}

// NewHub starts a coordinator of a CA of its own, until the test ends.
func NewHub(t *testing.T) *Hub {
	t.Helper()
	return HubOf(t, site.Authority(t, filepath.Join(t.TempDir(), "coordinator"), time.Now()))
}

// HubOf is another coordinator of an authority.
func HubOf(t *testing.T, a *pki.Authority) *Hub {
	t.Helper()
	h := &Hub{Authority: a, Version: wire.This("a stand-in").Pairs(), Key: Seeded(200)}
	h.Vouchers = []pki.Voucher{{Certificate: a.CertificatePEM()}}
	h.Offered = wire.Offer{Coordinator: Public(h.Key), Clock: time.Now()}
	for i, name := range []string{"north", "south", "west"} {
		h.Offered.Sites = append(h.Offered.Sites, proposal.Member{Name: name, Identity: Public(Seeded(byte(i))), Units: 3000})
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	h.Address = l.Addr().String()
	Serve(t, a, l, func() []string { return h.Version }, func(s *grpc.Server) {
		wire.Register(s, h)
		wire.RegisterAnalysis(s, h)
	})
	return h
}

// Seeded is a key of tests.
func Seeded(b byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))
}

// Public is a key's public one.
func Public(k ed25519.PrivateKey) proposal.Key { return proposal.Key(k.Public().(ed25519.PublicKey)) }

// Invite makes the text of a join file for ada. more are further coordinators.
func (h *Hub) Invite(t *testing.T, more ...string) []byte {
	t.Helper()
	token := must.Get(pki.NewToken())(t)
	h.mu.Lock()
	h.token = token
	h.mu.Unlock()
	text, err := pki.Join{Coordinator: append([]string{h.Address}, more...), Fingerprint: h.Authority.Fingerprint(), Token: token,
		Analyst: "ada", Expires: time.Now().Add(time.Hour).Truncate(time.Second)}.Marshal()
	must.Do(t, err)
	return text
}

func (h *Hub) Join(_ context.Context, r wire.JoinRequest) (certificate, authority []byte, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !bytes.Equal(r.Token, h.token.Bytes()) || r.Name != "ada" || pki.CheckIdentityProof(r.Identity, r.Name, h.token.Hash(), r.CSR, r.Proof) != nil {
		return nil, nil, status.Error(codes.PermissionDenied, "the join file was used before")
	}
	h.token = pki.Token{}
	certificate, err = h.Authority.Issue(pki.RoleAnalyst, r.Name, r.CSR, time.Now())
	return certificate, h.Authority.CertificatePEM(), err
}

// analyst refuses who is none.
func (h *Hub) analyst(ctx context.Context) error {
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
	return h.Fails
}

func (h *Hub) Renew(_ context.Context, csr []byte) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Renewed++
	return h.Authority.Renew(pki.RoleAnalyst, "ada", csr, time.Now())
}

func (h *Hub) Standing(context.Context, []byte) (wire.Standing, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return wire.Standing{Authorities: h.Vouchers, Clock: time.Now(), Software: "a stand-in"}, nil
}

func (h *Hub) Link(context.Context, wire.Stream) error {
	return status.Error(codes.PermissionDenied, "no site")
}

func (h *Hub) Result(ctx context.Context, _ []byte) (func(io.Writer) error, error) {
	if err := h.analyst(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.File == nil {
		return nil, status.Error(codes.NotFound, "there is no result")
	}
	file := h.File
	return func(to io.Writer) error {
		_, err := to.Write(file)
		return err
	}, nil
}

func (h *Hub) Offer(ctx context.Context, _ string, _, _ []string) (wire.Offer, error) {
	if err := h.analyst(ctx); err != nil {
		return wire.Offer{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Offered, nil
}

func (h *Hub) Proposing(context.Context) (func(), error) { return func() {}, nil }

func (h *Hub) Propose(ctx context.Context, p wire.Proposal) (proposal.Digest, error) {
	if err := h.analyst(ctx); err != nil {
		return proposal.Digest{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Proposed = append(h.Proposed, p)
	d := proposal.DigestOf(p.Body)
	h.Told = append(h.Told, wire.Told{Study: d, Name: "weights", Own: true, Proposer: "ada", Phase: wire.PhaseProposed})
	if h.Lose {
		return d, status.Error(codes.Unavailable, "gone")
	}
	return d, nil
}

func (h *Hub) List(ctx context.Context) ([]wire.Told, error) {
	if err := h.analyst(ctx); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Told, nil
}

func (h *Hub) Watch(ctx context.Context, of proposal.Digest, once bool, see func(wire.Told) error) error {
	if err := h.analyst(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	h.Watched++
	n, script, told := h.Watched, h.Watches, h.Told
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

func (h *Hub) Withdraw(ctx context.Context, of proposal.Digest) error {
	if err := h.analyst(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Withdrawn = append(h.Withdrawn, of)
	return nil
}

// Set changes what a hub says.
func (h *Hub) Set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

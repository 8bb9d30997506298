// Package port is a coordinator's port for tests of a site's packages: over real TLS it spends join
// files, answers calls and hands each link to the test.
package port

import (
	"context"
	"crypto/tls"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"covey/internal/pki"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/must"
	"covey/test/site"
)

// Server is the coordinator's port over real TLS: it spends tokens, and hands
// each link to the test.
type Server struct {
	covey.UnimplementedEnrollmentServer
	covey.UnimplementedFederationServer
	Authority *pki.Authority
	Issues    *pki.Authority // of site certificates
	Address   string
	Tokens    map[[32]byte]string
	Spent     map[[32]byte]string // the identity key that spent a token: it may again
	Links     chan *ServerLink
	renewed   chan string
	Ahead     time.Duration
	// set before anyone calls
	Stands func(*covey.StandingRequest) (*covey.StandingResponse, error)
	// metadata of its version, set before anyone calls
	Version []string
}

// ServerLink is one open Link, which ends with what End is sent.
type ServerLink struct {
	Stream grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]
	End    chan error
	end    *End
}

// New starts a coordinator of a CA of its own, until the test ends. change is done to its TLS.
func New(t *testing.T, change ...func(*tls.Config)) *Server {
	t.Helper()
	authority := site.Authority(t, filepath.Join(t.TempDir(), "coordinator"), time.Now())
	s := &Server{Authority: authority, Issues: authority, Tokens: map[[32]byte]string{}, Spent: map[[32]byte]string{}, Links: make(chan *ServerLink, 4), renewed: make(chan string, 1)}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s.Address = l.Addr().String()
	s.Version = wire.This("a stand-in").Pairs()
	config := authority.ServerTLS()
	for _, do := range change {
		do(config)
	}
	serve(t, config, l, func() []string { return s.Version }, func(g *grpc.Server) {
		covey.RegisterEnrollmentServer(g, s)
		covey.RegisterFederationServer(g, s)
	})
	return s
}

func (s *Server) Join(_ context.Context, r *covey.JoinRequest) (*covey.JoinResponse, error) {
	token, err := pki.TokenFrom(r.GetToken())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "not a token")
	}
	hash := token.Hash()
	if by, ok := s.Spent[hash]; s.Tokens[hash] != r.GetName() && (!ok || by != string(r.GetIdentity())) {
		return nil, status.Error(codes.PermissionDenied, "the join file was used before")
	}
	if err := pki.CheckIdentityProof(r.GetIdentity(), r.GetName(), hash, r.GetCsr(), r.GetProof()); err != nil {
		return nil, status.Error(codes.PermissionDenied, err.Error())
	}
	delete(s.Tokens, hash)
	s.Spent[hash] = string(r.GetIdentity())
	certificate, err := s.Issues.Issue(pki.RoleSite, r.GetName(), r.GetCsr(), time.Now())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "csr")
	}
	return &covey.JoinResponse{Certificate: certificate, Authority: s.Issues.CertificatePEM()}, nil
}

// Standing says what s.Stands says, of a clock that is s.Ahead.
func (s *Server) Standing(_ context.Context, r *covey.StandingRequest) (*covey.StandingResponse, error) {
	if s.Stands != nil {
		return s.Stands(r)
	}
	return &covey.StandingResponse{UnixNanoseconds: time.Now().Add(s.Ahead).UnixNano(), Software: "a stand-in",
		Authorities: []*covey.Authority{{Certificate: s.Authority.CertificatePEM()}}}, nil
}

func (s *Server) Renew(_ context.Context, r *covey.RenewRequest) (*covey.RenewResponse, error) {
	certificate, err := s.Authority.Issue(pki.RoleSite, "alpha", r.GetCsr(), time.Now().Add(60*24*time.Hour))
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "csr")
	}
	s.renewed <- "alpha"
	return &covey.RenewResponse{Certificate: certificate}, nil
}

func (s *Server) Link(stream grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]) error {
	l := &ServerLink{stream, make(chan error, 1), AtCoordinator(stream)}
	s.Links <- l
	select {
	case err := <-l.End:
		return err
	case <-stream.Context().Done():
		return nil
	}
}

// Receive returns the next message of the site.
func (l *ServerLink) Receive(t *testing.T) *covey.SiteMessage {
	t.Helper()
	raw := must.Get(l.end.Receive())(t)
	var m covey.SiteMessage
	must.Do(t, proto.Unmarshal(raw, &m))
	return &m
}

// Send sends a message to the site.
func (l *ServerLink) Send(t *testing.T, m *covey.CoordinatorMessage) {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err == nil {
		err = l.end.Send(raw)
	}
	must.Do(t, err)
}

// Invite makes the text of a join file.
func (s *Server) Invite(t *testing.T, change func(*pki.Join)) []byte {
	t.Helper()
	token := must.Get(pki.NewToken())(t)
	join := pki.Join{Coordinator: []string{s.Address}, Fingerprint: s.Authority.Fingerprint(), Token: token,
		Site: "alpha", Expires: time.Now().Add(time.Hour).Truncate(time.Second)}
	s.Tokens[token.Hash()] = join.Site
	if change != nil {
		change(&join)
	}
	return must.Get(join.Marshal())(t)
}

// Bounded ends a test that waits for what does not come.
func Bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

package agent

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"covey/internal/egress"
	"covey/internal/frame"
	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	covey "covey/proto/covey/v1"
)

// server is the coordinator's port over real TLS: it spends tokens, and hands
// each link to the test.
type server struct {
	covey.UnimplementedEnrollmentServer
	covey.UnimplementedFederationServer
	authority *pki.Authority
	issues    *pki.Authority // of site certificates
	address   string
	tokens    map[[32]byte]string
	links     chan *serverLink
	renewed   chan string
	grpc      *grpc.Server
	ahead     time.Duration
	stands    func(*covey.StandingRequest) (*covey.StandingResponse, error) // set before anyone calls
	version   []string                                                      // that it says, set before anyone calls; none: it is of before versions were said
}

type serverLink struct {
	stream grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]
	end    chan error
}

func newServer(t *testing.T) *server {
	t.Helper()
	home := filepath.Join(t.TempDir(), "coordinator")
	if err := pki.Init(home, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	authority, err := pki.Load(home)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{authority: authority, issues: authority, tokens: map[[32]byte]string{}, links: make(chan *serverLink, 4), renewed: make(chan string, 1)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	s.version = frame.This("a stand-in").Pairs()
	s.grpc = grpc.NewServer(grpc.Creds(credentials.NewTLS(authority.ServerTLS())),
		grpc.UnaryInterceptor(func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			grpc.SetHeader(ctx, metadata.Pairs(s.version...))
			return handle(ctx, r)
		}),
		grpc.StreamInterceptor(func(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			if len(s.version) > 0 {
				stream.SendHeader(metadata.Pairs(s.version...))
			}
			return handle(server, stream)
		}))
	covey.RegisterEnrollmentServer(s.grpc, s)
	covey.RegisterFederationServer(s.grpc, s)
	go s.grpc.Serve(l) // ends with Stop
	t.Cleanup(s.grpc.Stop)
	return s
}

func (s *server) Join(_ context.Context, r *covey.JoinRequest) (*covey.JoinResponse, error) {
	token, err := pki.TokenFrom(r.GetToken())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "not a token")
	}
	hash := token.Hash()
	if s.tokens[hash] != r.GetSite() {
		return nil, status.Error(codes.PermissionDenied, "the join file was used before")
	}
	if err := pki.CheckIdentityProof(r.GetIdentity(), r.GetSite(), hash, r.GetCsr(), r.GetProof()); err != nil {
		return nil, status.Error(codes.PermissionDenied, err.Error())
	}
	delete(s.tokens, hash)
	certificate, err := s.issues.IssueSite(r.GetSite(), r.GetCsr(), time.Now())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "csr")
	}
	return &covey.JoinResponse{Certificate: certificate, Authority: s.issues.CertificatePEM()}, nil
}

// Standing says what s.stands says, of a clock that is s.ahead.
func (s *server) Standing(_ context.Context, r *covey.StandingRequest) (*covey.StandingResponse, error) {
	if s.stands != nil {
		return s.stands(r)
	}
	return &covey.StandingResponse{UnixNanoseconds: time.Now().Add(s.ahead).UnixNano(), Software: "a stand-in",
		Authorities: []*covey.Authority{{Certificate: s.authority.CertificatePEM()}}}, nil
}

func (s *server) Renew(_ context.Context, r *covey.RenewRequest) (*covey.RenewResponse, error) {
	certificate, err := s.authority.IssueSite("alpha", r.GetCsr(), time.Now().Add(60*24*time.Hour))
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, "csr")
	}
	s.renewed <- "alpha"
	return &covey.RenewResponse{Certificate: certificate}, nil
}

func (s *server) Link(stream grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]) error {
	l := &serverLink{stream, make(chan error, 1)}
	s.links <- l
	select {
	case err := <-l.end:
		return err
	case <-stream.Context().Done():
		return nil
	}
}

func (l *serverLink) receive(t *testing.T) *covey.SiteMessage {
	t.Helper()
	raw, err := frame.Receive(func() ([]byte, bool, error) {
		m, err := l.stream.Recv()
		return m.GetFrame().GetData(), m.GetFrame().GetLast(), err
	}, frame.MaxMessage)
	if err != nil {
		t.Fatal(err)
	}
	var m covey.SiteMessage
	if err := proto.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return &m
}

func (l *serverLink) send(t *testing.T, m *covey.CoordinatorMessage) {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err == nil {
		err = frame.Send(raw, func(data []byte, last bool) error {
			return l.stream.Send(&covey.LinkResponse{Frame: &covey.Frame{Data: data, Last: last}})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// invite gives the text of a join file.
func (s *server) invite(t *testing.T, change func(*pki.Join)) []byte {
	t.Helper()
	token, err := pki.NewToken()
	if err != nil {
		t.Fatal(err)
	}
	join := pki.Join{Coordinator: []string{s.address}, Fingerprint: s.authority.Fingerprint(), Token: token,
		Site: "alpha", Expires: time.Now().Add(time.Hour).Truncate(time.Second)}
	s.tokens[token.Hash()] = join.Site
	if change != nil {
		change(&join)
	}
	text, err := join.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// bounded ends a test that waits for what does not come.
func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestJoin(t *testing.T) {
	s, ctx := newServer(t), bounded(t)
	text, dir := s.invite(t, nil), filepath.Join(t.TempDir(), "alpha")
	if err := Join(ctx, text, dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	config, err := siteconfig.Read(dir)
	if err != nil || config.Site != "alpha" || config.Coordinator[0] != s.address {
		t.Fatalf("config %+v, %v", config, err)
	}
	for _, name := range []string{"identity.key", "tls.key", siteconfig.File} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want mode 0600", name, info, err)
		}
	}
	for _, f := range Check(ctx, config, time.Now()) {
		if f.Err != nil {
			t.Errorf("check: %s: %v", f.Check, f.Err)
		}
	}
	before, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil {
		t.Fatal(err)
	}

	// Used twice: by this site, and by another.
	mustErr[*JoinedError](t, Join(ctx, text, dir, time.Now()))
	other := filepath.Join(t.TempDir(), "other")
	refused := mustErr[*JoinRefusedError](t, Join(ctx, text, other, time.Now()))
	if !strings.Contains(refused.Error(), "used before") {
		t.Errorf("refused with %v", refused)
	}
	if _, err := os.Stat(filepath.Join(other, siteconfig.File)); err == nil {
		t.Error("a refused join left a configuration")
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "tls.crt")); string(after) != string(before) {
		t.Error("a second join changed the certificate")
	}
	// A join that was refused can be done again in its directory, and keeps the
	// configuration that its operator wrote meanwhile.
	own := filepath.Join(other, siteconfig.File)
	if err := os.WriteFile(own, []byte("# mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Join(ctx, s.invite(t, nil), other, time.Now()); err != nil {
		t.Errorf("with a new file: %v", err)
	}
	if kept, _ := os.ReadFile(own); string(kept) != "# mine" {
		t.Errorf("the operator's configuration is now %q", kept)
	}
}

// TestJoinHandsOutAnotherCA has the right coordinator answer with a certificate
// of a CA that the join file does not pin.
func TestJoinHandsOutAnotherCA(t *testing.T) {
	s, stranger, ctx := newServer(t), newServer(t), bounded(t)
	s.issues = stranger.authority
	dir := filepath.Join(t.TempDir(), "alpha")
	mustErr[*pki.WrongCAError](t, Join(ctx, s.invite(t, nil), dir, time.Now()))
	if site, err := pki.LoadSite(dir); err != nil || site.Name() != "" {
		t.Errorf("the site has joined: %v, %v", site.Name(), err)
	}
}

func TestJoinWrongCA(t *testing.T) {
	s, stranger, ctx := newServer(t), newServer(t), bounded(t)
	spent := len(s.tokens)
	text := s.invite(t, func(j *pki.Join) { j.Fingerprint = stranger.authority.Fingerprint() })
	err := Join(ctx, text, filepath.Join(t.TempDir(), "alpha"), time.Now())
	mustErr[*HandshakeError](t, err)
	wrong := mustErr[*pki.WrongCAError](t, err)
	if wrong.Want != stranger.authority.Fingerprint() || wrong.Got != s.authority.Fingerprint() {
		t.Errorf("%v", wrong)
	}
	if len(s.tokens) != spent+1 {
		t.Error("the token was shown to a coordinator of the wrong CA")
	}
	mustErr[*pki.ExpiredError](t, Join(ctx, text, t.TempDir(), time.Now().Add(2*time.Hour)))
}

// joined makes a site with one file, offered as three rows and as two people, ready
// to run.
func (s *server) joined(t *testing.T) (*siteconfig.Config, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "alpha")
	if err := Join(bounded(t), s.invite(t, nil), dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("site = \"alpha\"\ncoordinator = [%q]\n[[population]]\nname = \"p\"\ncap_rho = 1.0\n"+
		"[[dataset]]\nname = \"rows\"\npath = \"rows.csv\"\npopulation = \"p\"\n"+
		"[[dataset]]\nname = \"people\"\npath = \"rows.csv\"\nunit = \"x\"\npopulation = \"p\"\n[[dataset]]\nname = \"absent\"\npath = \"absent.csv\"\npopulation = \"p\"\n", s.address)
	if err := os.WriteFile(filepath.Join(dir, siteconfig.File), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("x,y\n1,2\n3,4\n3,6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := siteconfig.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return config, dir
}

// TestLink runs an agent against a real port: it says hello, answers, comes back
// after its link is cut, and stops when its context ends.
func TestLink(t *testing.T) {
	s := newServer(t)
	config, dir := s.joined(t)
	a, err := New(Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Config: config}); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("a second agent on the directory: %v", err)
	}
	ctx, cancel := context.WithCancel(bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	for range 2 {
		l := <-s.links
		h := l.receive(t).GetHello()
		if h.GetSoftware() != Software || !h.GetAllOpen() || len(h.GetDatasets()) != 2 || h.GetDatasets()[0].GetName() != "rows" || h.GetDatasets()[0].GetUnits() != 3 ||
			h.GetDatasets()[1].GetName() != "people" || h.GetDatasets()[1].GetUnits() != 2 {
			t.Errorf("hello %v, want data sets of 3 and of 2 units: another cannot be read", h)
		}
		l.send(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: wireID[:], Attempt: 5}}})
		r := l.receive(t).GetRefusal()
		if r.GetCode() != covey.Code_CODE_UNKNOWN_STUDY || r.GetAttempt() != 5 {
			t.Errorf("refusal %v", r)
		}
		l.end <- status.Error(codes.Unavailable, "gone")
	}
	l := <-s.links
	l.receive(t)
	// What makes no sense ends the link, and only that.
	if err := l.stream.Send(&covey.LinkResponse{Frame: &covey.Frame{Data: []byte{0xff}, Last: true}}); err != nil {
		t.Fatal(err)
	}
	(<-s.links).receive(t)
	cancel()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v", err)
	}
	egress, err := os.ReadFile(filepath.Join(dir, egress.File))
	if err != nil || strings.Count(string(egress), `"kind":"hello"`) != 4 || strings.Count(string(egress), `"kind":"refusal"`) != 2 {
		t.Errorf("egress log: %v\n%s", err, egress)
	}
	// Run closed it: the directory is free, and counts go on.
	a, err = New(Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got := a.Egress().Link["hello"].Messages; got != 4 {
		t.Errorf("%d hellos counted after a restart, want 4", got)
	}
}

// TestLinkWrongCA checks that an agent talks to no coordinator of another CA, and
// that check says why.
func TestLinkWrongCA(t *testing.T) {
	s, stranger := newServer(t), newServer(t)
	config, _ := s.joined(t)
	config.Coordinator = []string{stranger.address}
	a, err := New(Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	_, err = a.connect(bounded(t), stranger.address)
	mustErr[*HandshakeError](t, err)
	mustErr[x509.UnknownAuthorityError](t, err)
	found := Check(bounded(t), config, time.Now())
	mustErr[*HandshakeError](t, found[len(found)-1].Err)
	select {
	case <-stranger.links:
		t.Error("a link was opened")
	default:
	}
}

// said is a log that tells a test when a line was written.
type said chan string

func (s said) Write(line []byte) (int, error) {
	select {
	case s <- string(line):
	default: // nobody waits for this much
	}
	return len(line), nil
}

// TestRenewal gives the agent a clock at which its certificate has 20 days left.
func TestRenewal(t *testing.T) {
	s, log := newServer(t), make(said, 100)
	config, _ := s.joined(t)
	late := func() time.Time { return time.Now().Add(70 * 24 * time.Hour) }
	a, err := New(Options{Config: config, Now: late, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	before := a.site.Certificate().NotAfter
	ctx, cancel := context.WithCancel(bounded(t))
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	for line := ""; !strings.Contains(line, "certificate renewed"); {
		select {
		case line = <-log:
		case <-ctx.Done():
			t.Fatal("the certificate was not renewed")
		}
	}
	if !a.site.Certificate().NotAfter.After(before) {
		t.Error("the certificate in use is the old one")
	}
	cancel()
	<-ran
}

// TestStoreFailureStops checks that the ledger's end is the agent's: nothing may
// be sent on the strength of a store that failed.
func TestStoreFailureStops(t *testing.T) {
	s := newServer(t)
	config, _ := s.joined(t)
	a, err := New(Options{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- a.Run(bounded(t)) }()
	(<-s.links).receive(t)
	a.failed(fmt.Errorf("somewhere: %w", &ledger.StoreError{Op: "test", Err: errors.New("disk")}))
	mustErr[*ledger.StoreError](t, <-ran)
}

package hostile

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"covey/internal/agent"
	"covey/internal/chain"
	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/siteconfig"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/fed"
	"covey/test/lines"
	"covey/test/must"
	"covey/test/port"
	folder "covey/test/site"
)

const (
	columns = 2
	units   = 6 // rows of each site
)

// federation is a CA, a coordinator's port in memory and the agents that are linked to it.
type federation struct {
	covey.UnimplementedFederationServer
	t         testing.TB
	dir       string
	authority *pki.Authority
	port      *bufconn.Listener

	mu    sync.Mutex
	links map[string]chan *stream // by site
}

// stream is one open link, as the coordinator sees it.
type stream struct{ *port.End }

func newFederation(t testing.TB) *federation {
	t.Helper()
	f := &federation{t: t, dir: fed.InMemory(t), links: map[string]chan *stream{}}
	f.authority = folder.Authority(t, filepath.Join(f.dir, "coordinator"), time.Now())
	f.port = f.serve(f.authority, f)
	return f
}

// serve opens a port that shows the authority's server certificate.
func (f *federation) serve(a *pki.Authority, link covey.FederationServer) *bufconn.Listener {
	l := bufconn.Listen(1 << 16)
	port.Serve(f.t, a, l, wire.This("hostile").Pairs, func(s *grpc.Server) { covey.RegisterFederationServer(s, link) })
	return l
}

// Link hands a site's stream to the test.
func (f *federation) Link(s grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]) error {
	name, err := caller(s.Context())
	if err != nil {
		return err
	}
	f.mu.Lock()
	links := f.links[name]
	f.mu.Unlock()
	select {
	case links <- &stream{port.AtCoordinator(s)}:
	case <-s.Context().Done():
	}
	<-s.Context().Done()
	return nil
}

func caller(ctx context.Context) (string, error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "", status.Error(codes.Internal, "no peer")
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.PeerCertificates) == 0 {
		return "", status.Error(codes.Unauthenticated, "no certificate")
	}
	_, name, err := pki.RoleOf(info.State.PeerCertificates[0])
	return name, err
}

func (s *stream) send(m *covey.CoordinatorMessage) error {
	raw, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	return s.Send(raw)
}

func (s *stream) receive() (*covey.SiteMessage, error) {
	raw, err := s.Receive()
	if err != nil {
		return nil, err
	}
	m := &covey.SiteMessage{}
	return m, proto.Unmarshal(raw, m)
}

// site is a member that keeps to the protocol, or should.
type site interface {
	// ask delivers one message and gives all that is said until the next.
	ask(*covey.CoordinatorMessage) []*covey.SiteMessage
}

// realSite is an agent of its own, on its own folder, behind TLS.
type realSite struct {
	f      *federation
	name   string
	dir    string
	values []float64 // its rows
	public ed25519.PublicKey
	config siteconfig.Config
	dial   func(context.Context, string) (net.Conn, error)
	log    lines.Log

	stream *stream
	marks  uint32
	chain  chain.Log // made up for this site: the chain alone stops no attack
	shown  uint64    // of it, on this link
	cancel context.CancelFunc
	ran    chan error
	runs   *agent.Agent
}

// agent is the site's, also where it is part of one that dies.
func (s *realSite) agent() *realSite { return s }

// newSite makes a joined site with rows of its own, of so many columns; it does not run yet.
func (f *federation) newSite(name string, rows, columns int) *realSite {
	f.t.Helper()
	s := &realSite{f: f, name: name, dir: filepath.Join(f.dir, name)}
	must := func(err error) {
		f.t.Helper()
		must.Do(f.t, err)
	}
	keys := folder.Issue(f.t, s.dir, name, f.authority, time.Now())
	s.public = keys.Identity().Public().(ed25519.PublicKey)
	rng := rand.New(rand.NewPCG(uint64(len(f.links)), 3)) // of rows, not of keys
	var text string
	text, s.values = folder.CSV(folder.Names(columns), rows, func(_, j int) float64 { return float64(j+1) * rng.NormFloat64() })
	must(os.WriteFile(filepath.Join(s.dir, "rows.csv"), []byte(text), 0o600))
	s.config = folder.Config(name, "rows.csv")
	s.config.Coordinator = []string{"127.0.0.1:7443"}
	s.config.Populations[0].CapRho = 1000
	s.config.Policy.MaxEpsilon, s.config.Policy.MaxDelta = 1, 1e-6
	must(folder.Write(s.dir, s.config))
	f.mu.Lock()
	f.links[name] = make(chan *stream)
	f.mu.Unlock()
	s.dial = func(ctx context.Context, _ string) (net.Conn, error) { return f.port.DialContext(ctx) }
	return s
}

// pin lists a roster as the peers of the site's policy.
func (s *realSite) pin(roster []proposal.Member) {
	s.f.t.Helper()
	if s.config.Policy.Peers != nil {
		return
	}
	s.config.Policy.Peers = map[string]string{}
	for _, m := range roster {
		s.config.Policy.Peers[m.Name] = pki.Fingerprint([]byte(m.Identity))
	}
	must.Do(s.f.t, folder.Write(s.dir, s.config))
}

// address changes where the agent finds its coordinator.
func (s *realSite) address(host string) {
	s.f.t.Helper()
	s.config.Coordinator = []string{host}
	must.Do(s.f.t, folder.Write(s.dir, s.config))
}

// run opens the agent on its folder and runs it, as a process would.
func (s *realSite) run() {
	s.f.t.Helper()
	config := must.Get(siteconfig.Read(s.dir))(s.f.t)
	a, err := agent.New(agent.Options{Config: config, Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(s.dial)}})
	must.Do(s.f.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.ran, s.runs = cancel, make(chan error, 1), a
	go func() { s.ran <- a.Run(ctx) }()
}

// approve is the operator's word on a study that waits for it.
func (s *realSite) approve(id proposal.Digest) {
	s.f.t.Helper()
	must.Do(s.f.t, s.runs.Decisions.Approve(id))
	if m, err := s.stream.receive(); err != nil || m.GetDecision().GetVerdict() != covey.Verdict_VERDICT_APPROVED {
		s.f.t.Fatalf("%s says %v, %v, want its decision", s.name, m, err)
	}
}

// start runs the agent and waits for its link.
func (s *realSite) start() {
	s.f.t.Helper()
	s.run()
	select {
	case s.stream = <-s.f.links[s.name]:
	case err := <-s.ran:
		s.f.t.Fatalf("%s: the agent ended: %v\n%s", s.name, err, s.log.String())
	}
	m, err := s.stream.receive()
	if err != nil || m.GetHello() == nil {
		s.f.t.Fatalf("%s says %v, %v, want its hello", s.name, m, err)
	}
	s.shown = m.GetHello().GetChain()
}

// kill ends the agent as a crash would: nothing but its folder is left.
func (s *realSite) kill() {
	if s.cancel == nil {
		return
	}
	s.cancel()
	<-s.ran
	s.cancel = nil
}

// restart is a crash and what the service manager does then.
func (s *realSite) restart() {
	s.f.t.Helper()
	s.kill()
	s.start()
}

// errGone is a site whose process ended while it was asked.
var errGone = errors.New("the site's process is gone")

// ask sends a message, and behind it, on the same study, one that is always refused at
// once: what comes before that refusal is all that the first was answered with.
func (s *realSite) ask(m *covey.CoordinatorMessage) []*covey.SiteMessage {
	s.f.t.Helper()
	out, err := s.try(m)
	if err != nil {
		s.f.t.Fatalf("%s: %v\n%s", s.name, err, s.log.String())
	}
	return out
}

func (s *realSite) try(m *covey.CoordinatorMessage) (out []*covey.SiteMessage, err error) {
	s.marks++
	mark := s.marks | 1<<30
	id := studyOf(m)
	if m.GetQuery() != nil {
		if err := s.stream.send(s.head(s.f.authority.SigningKey())); err != nil {
			return nil, errGone
		}
	}
	if err := s.stream.send(m); err != nil {
		return nil, errGone
	}
	switch {
	case m.GetProposal() != nil:
		s.extend(chain.Proposed([32]byte(id)))
	case m.GetFinal() != nil:
		s.extend(chain.Released([32]byte(id), m.GetFinal().GetReleased()))
	}
	if err := s.stream.send(prove(proposal.Digest(id), int(mark), 0, nil, 0)); err != nil {
		return nil, errGone
	}
	for {
		got, err := s.stream.receive()
		if err != nil {
			return out, errGone
		}
		if got.GetRefusal().GetQuery() == mark {
			return out, nil
		}
		out = append(out, got)
	}
}

// extend adds an entry to the site's chain, if it is not there.
func (s *realSite) extend(step chain.Step) {
	if !slices.Contains(s.chain.Since(0), step) {
		s.chain.Append(step)
	}
}

// head shows the site all of its chain that it was not shown on this link.
func (s *realSite) head(key ed25519.PrivateKey) *covey.CoordinatorMessage {
	base, now := s.chain.At(s.shown), s.chain.Head()
	steps := s.chain.Since(s.shown)
	s.shown = now.Number
	return &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Head{Head: &covey.Head{
		Base: base.Number, BaseHead: base.Link[:], Steps: chain.Join(steps), Signature: ed25519.Sign(key, chain.Signed{Head: now, Base: base}.SigningInput())}}}
}

// secrets reads what the site made its setup of from its folder, which the agent has left: the
// checker's ground truth, which no coordinator has.
func (s *realSite) secrets(id proposal.Digest) secagg.Secrets {
	s.f.t.Helper()
	l := must.Get(ledger.Open(filepath.Join(s.dir, "ledger")))(s.f.t)
	defer l.Close()
	raw, ok, err := l.Journal(id).Setup(ledger.SetupSecrets)
	if err != nil || !ok {
		s.f.t.Fatalf("%s: no secrets: %v", s.name, err)
	}
	return must.Get(secagg.UnmarshalSecrets(raw))(s.f.t)
}

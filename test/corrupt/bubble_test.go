package corrupt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"covey/internal/agent"
	"covey/internal/coordinator"
	"covey/internal/enroll"
	"covey/internal/node"
	"covey/internal/pki"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// bubble is a coordinator and honest agents in one synctest bubble, over pipes in memory. The last
// site is corrupt: its agent is an honest one's, behind a proxy with the site's keys that may say
// anything in its place.
type bubble struct {
	t     *testing.T
	dir   string
	node  *node.Node
	port  *bufconn.Listener
	sites []string
	proxy *proxy
	ctx   context.Context
	work  sync.WaitGroup
}

const (
	// address has no DNS name, so that nobody asks for one.
	address = "10.0.0.1:7443"
	honest  = 4
	mallory = honest // index of the corrupt site in the roster
)

// inBubble runs a test with a federation of five sites: η = 1, q = U_min = 4.
func inBubble(t *testing.T, test func(f *bubble)) {
	t.Parallel()
	dir := folder(t)
	synctest.Test(t, func(t *testing.T) {
		f := &bubble{t: t, dir: dir, port: bufconn.Listen(1 << 18)}
		ctx, stop := context.WithCancel(context.Background())
		f.ctx = ctx
		defer f.work.Wait()
		defer stop()
		f.start()
		test(f)
	})
}

// folder is in memory where there is one: none of these tests is about what a disk keeps.
func folder(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "covey-corrupt-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (f *bubble) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *bubble) start() {
	home := filepath.Join(f.dir, "coordinator")
	f.must(node.Init(home, node.Config{Listen: address, Addresses: []string{address}}, time.Now()))
	n, err := node.Open(home, node.Options{Logger: slog.New(slog.DiscardHandler), Listen: func(string) (net.Listener, error) { return f.port, nil }})
	f.must(err)
	f.node = n
	f.work.Go(func() {
		if err := n.Run(f.ctx); err != nil {
			f.t.Error(err)
		}
	})
	for i := range honest + 1 {
		f.sites = append(f.sites, fmt.Sprintf("site-%d", i))
		f.join(f.sites[i])
		if i == mallory {
			f.proxy = f.newProxy(f.sites[i])
		}
		f.agent(f.sites[i], i)
	}
	f.connected(f.spec("probe"))
}

// join makes a site's folder.
func (f *bubble) join(name string) {
	f.t.Helper()
	join, err := f.node.Invite(name, []string{address}, time.Hour)
	f.must(err)
	text, err := join.Marshal()
	f.must(err)
	f.must(enroll.Join(f.ctx, text, filepath.Join(f.dir, name), time.Now(), f.dialer(f.port)))
}

// agent runs one; the corrupt site's through the proxy.
func (f *bubble) agent(name string, i int) {
	port := f.port
	if i == mallory {
		port = f.proxy.port
	}
	a, err := agentOf(filepath.Join(f.dir, name), name, i, address, func(o *agent.Options) { o.DialOptions = []grpc.DialOption{f.dialer(port)} })
	f.must(err)
	f.work.Go(func() {
		if err := a.Run(f.ctx); err != nil && f.ctx.Err() == nil {
			f.t.Errorf("%s: %v", name, err)
		}
	})
}

func (f *bubble) dialer(port *bufconn.Listener) grpc.DialOption {
	return grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return port.DialContext(ctx) })
}

func (f *bubble) connected(spec study.Spec) {
	f.t.Helper()
	for range 600 {
		if _, err := f.node.Roster(spec); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond) // of the bubble's clock, as all in this file
	}
	f.t.Fatal("not all sites connect")
}

// spec has so little noise that the right result shows.
func (f *bubble) spec(name string) study.Spec {
	s := specOf(name, f.sites)
	s.Epsilon, s.Rounds = 20, 8
	s.Deadlines.Round = study.Duration(2 * time.Second)
	return s
}

// study proposes one.
func (f *bubble) study(name string, change func(*study.Spec)) study.Digest {
	f.t.Helper()
	spec := f.spec(name)
	if change != nil {
		change(&spec)
	}
	f.connected(spec)
	plan, err := f.node.Create(spec)
	f.must(err)
	return plan.Digest
}

// until lets time pass until something is so of the study.
func (f *bubble) until(d study.Digest, what func(coordinator.View) bool) coordinator.View {
	f.t.Helper()
	for range 6000 {
		if v := f.node.View(d); what(v) {
			return v
		}
		time.Sleep(20 * time.Millisecond)
	}
	f.t.Fatalf("it does not come to that: %+v", f.node.View(d))
	return coordinator.View{}
}

func over(v coordinator.View) bool {
	return v.Status == round.StatusCompleted || v.Status == round.StatusEnded
}

// completed wants a study's end with a result that verifies, within its budget (P3), and is right:
// the rows of all sites have one strong column, and eight rounds make a start within 10^-9 of the
// plane across it right. Below 0.9 noise of 0.002 of the signal is not seen.
func (f *bubble) completed(d study.Digest) (coordinator.View, []study.Release) {
	f.t.Helper()
	v, releases, r := f.private(d)
	if x := r.Components[0]; math.Abs(x[0]) < 0.9 {
		f.t.Errorf("%s: the first column has %.3f of the component", v.Name, x[0])
	}
	return v, releases
}

// private is completed for a study whose values a corrupt site has spoilt.
func (f *bubble) private(d study.Digest) (coordinator.View, []study.Release, *study.Result) {
	f.t.Helper()
	v := f.until(d, over)
	if v.Status != round.StatusCompleted {
		f.t.Fatalf("%s: %s %s %s, waiting for %v", v.Name, v.Status, v.Code, v.Culprit, v.Waiting)
	}
	r, err := f.node.Result(d)
	f.must(err)
	text, err := json.Marshal(r)
	f.must(err)
	if _, err := study.Verify(text); err != nil {
		f.t.Errorf("%s: %v", v.Name, err)
	}
	if v.Rho > v.RhoPlanned {
		f.t.Errorf("%s: ρ = %g is charged, %g was planned", v.Name, v.Rho, v.RhoPlanned)
	}
	for _, one := range r.Releases {
		if !slices.IsSorted(one.Survivors) || len(slices.Compact(slices.Clone(one.Survivors))) != len(one.Survivors) || len(one.Survivors) < honest {
			f.t.Errorf("%s: a sum over %v", v.Name, one.Survivors)
		}
	}
	return v, r.Releases, r
}

// ended wants a study to end for a reason that names the corrupt site.
func (f *bubble) ended(d study.Digest, code study.Code) {
	f.t.Helper()
	v := f.until(d, over)
	if v.Status != round.StatusEnded || v.Code != code || v.Culprit != f.sites[mallory] {
		f.t.Errorf("%s: %s %q of %q, want the end with %q of %s", v.Name, v.Status, v.Code, v.Culprit, code, f.sites[mallory])
	}
}

// faults are the codes of what the corrupt site was caught at, each once; any other site's is an
// error.
func (f *bubble) faults(v coordinator.View) []study.Code {
	f.t.Helper()
	var out []study.Code
	for _, fault := range v.Faults {
		if fault.Site != f.sites[mallory] {
			f.t.Errorf("%s: %s is named for %s", v.Name, fault.Site, fault.Code)
		}
		if !slices.Contains(out, fault.Code) {
			out = append(out, fault.Code)
		}
	}
	return out
}

// lie changes what the corrupt site's agent says: none, one or several messages instead of one.
type lie func(m *covey.SiteMessage) []*covey.SiteMessage

func truth(m *covey.SiteMessage) []*covey.SiteMessage { return []*covey.SiteMessage{m} }

// proxy is the corrupt site's end of the wire. It takes its agent's link, and opens one of its own.
type proxy struct {
	covey.UnimplementedFederationServer
	f    *bubble
	port *bufconn.Listener
	site *pki.Site

	mu   sync.Mutex
	lie  lie
	hear func(*covey.CoordinatorMessage) bool // false keeps a message from the agent; nil for none
	away bool                                 // the agent has no link
	ends []error                              // of its links, as the coordinator put it
	out  *siteLink                            // the latest link
}

func (f *bubble) newProxy(name string) *proxy {
	site, err := pki.LoadSite(filepath.Join(f.dir, name))
	f.must(err)
	authority, err := pki.Load(filepath.Join(f.dir, "coordinator"))
	f.must(err)
	p := &proxy{f: f, port: bufconn.Listen(1 << 18), site: site, lie: truth}
	s := grpc.NewServer(grpc.Creds(credentials.NewTLS(authority.ServerTLS())),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: wire.KeepaliveTime / 2, PermitWithoutStream: true}))
	covey.RegisterFederationServer(s, p)
	f.work.Go(func() { s.Serve(p.port) })
	f.work.Go(func() {
		<-f.ctx.Done()
		s.Stop()
	})
	return p
}

// tell makes the site say this from now on.
func (p *proxy) tell(l lie) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lie = l
}

// leave takes the site's agent off the coordinator, so that a test can speak for the site.
func (p *proxy) leave() {
	p.mu.Lock()
	p.away = true
	p.mu.Unlock()
	p.cut()
	time.Sleep(time.Second)
}

// act has something answer the coordinator before the agent can, from now on.
func (p *proxy) act(hear func(*covey.CoordinatorMessage) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hear = hear
}

// siteLink is an open link to the coordinator with the corrupt site's certificate.
type siteLink struct {
	conn *grpc.ClientConn
	mu   sync.Mutex
	grpc.BidiStreamingClient[covey.LinkRequest, covey.LinkResponse]
}

func (p *proxy) dial(ctx context.Context) (*siteLink, error) {
	tls, err := p.site.ClientTLS("10.0.0.1")
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(tls)), grpc.WithDisableServiceConfig(), p.f.dialer(p.f.port))
	if err != nil {
		return nil, err
	}
	s, err := covey.NewFederationClient(conn).Link(versioned(ctx))
	if err != nil {
		conn.Close()
		return nil, err
	}
	context.AfterFunc(p.f.ctx, func() { conn.Close() })
	return &siteLink{conn: conn, BidiStreamingClient: s}, nil
}

// send puts bytes on the link as one message.
func (w *siteLink) send(raw []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return wire.Send(raw, func(data []byte, last bool) error {
		return w.Send(&covey.LinkRequest{Frame: &covey.Frame{Data: data, Last: last}})
	})
}

// receive returns the coordinator's next message, or how it ended the link.
func (w *siteLink) receive() ([]byte, error) {
	return wire.Receive(func() ([]byte, bool, error) {
		m, err := w.Recv()
		return m.GetFrame().GetData(), m.GetFrame().GetLast(), err
	}, wire.MaxMessage)
}

// Link carries what the coordinator says to the agent, and what the lie makes of the agent's words
// back.
func (p *proxy) Link(in grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]) error {
	p.mu.Lock()
	away := p.away
	p.mu.Unlock()
	if away {
		return status.Error(codes.Unavailable, "away")
	}
	if err := in.SendHeader(metadata.Pairs(wire.This("covey-coordinator").Pairs()...)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(in.Context())
	defer cancel()
	out, err := p.dial(ctx)
	if err != nil {
		return err
	}
	defer out.conn.Close()
	p.mu.Lock()
	p.out = out
	p.mu.Unlock()
	done := make(chan error, 2)
	go func() {
		for {
			raw, err := out.receive()
			var m covey.CoordinatorMessage
			if err == nil {
				err = proto.Unmarshal(raw, &m)
			}
			p.mu.Lock()
			hear := p.hear
			p.mu.Unlock()
			if err == nil && hear != nil && !hear(&m) {
				continue
			}
			if err == nil {
				err = wire.Send(raw, func(data []byte, last bool) error {
					return in.Send(&covey.LinkResponse{Frame: &covey.Frame{Data: data, Last: last}})
				})
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	go func() {
		for {
			raw, err := wire.Receive(func() ([]byte, bool, error) {
				m, err := in.Recv()
				return m.GetFrame().GetData(), m.GetFrame().GetLast(), err
			}, wire.MaxMessage)
			var m covey.SiteMessage
			if err == nil {
				err = proto.Unmarshal(raw, &m)
			}
			if err != nil {
				done <- err
				return
			}
			p.mu.Lock()
			l := p.lie
			p.mu.Unlock()
			for _, said := range l(&m) {
				if err := out.send(siteMessage(said)); err != nil {
					break // why, the reader hears
				}
			}
		}
	}()
	select {
	case err = <-done:
	case <-p.f.ctx.Done():
		err = p.f.ctx.Err()
	}
	p.mu.Lock()
	p.ends = append(p.ends, err)
	p.mu.Unlock()
	return err
}

// say sends bytes on the site's present link.
func (p *proxy) say(raw []byte) {
	p.mu.Lock()
	out := p.out
	p.mu.Unlock()
	if err := out.send(raw); err != nil {
		p.f.t.Log(err)
	}
}

// lastEnd is how the coordinator ended the latest link that ended.
func (p *proxy) lastEnd() string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ends) == 0 {
		return ""
	}
	return strings.Join(strings.Fields(errors.Join(p.ends[len(p.ends)-1]).Error()), " ")
}

// cut ends the site's present link.
func (p *proxy) cut() {
	p.mu.Lock()
	out := p.out
	p.mu.Unlock()
	out.conn.Close()
}

func (f *bubble) siteOf(i int) *pki.Site {
	site, err := pki.LoadSite(filepath.Join(f.dir, f.sites[i]))
	f.must(err)
	return site
}

// dialing has an agent reach the coordinator itself.
func dialing(f *bubble) func(*agent.Options) {
	return func(o *agent.Options) { o.DialOptions = []grpc.DialOption{f.dialer(f.port)} }
}

// keysOf are a site's folder without its ledger.
func keysOf(dir string) fs.FS {
	out := fstest.MapFS{}
	for _, name := range []string{"identity.key", "tls.key", "tls.crt", "ca.crt"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			out[name] = &fstest.MapFile{Data: text, Mode: 0o600}
		}
	}
	return out
}

package corrupt

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"covey/internal/pki"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/must"
	"covey/test/port"
)

// lie changes what the corrupt site's agent says: none, one or several messages instead of one.
type lie func(m *covey.SiteMessage) []*covey.SiteMessage

func truth(m *covey.SiteMessage) []*covey.SiteMessage { return []*covey.SiteMessage{m} }

// proxy is the corrupt site's end of the wire. It takes its agent's link, and opens one of its own.
type proxy struct {
	covey.UnimplementedFederationServer
	f    *bubble
	port *bufconn.Listener
	site *pki.Holder

	mu   sync.Mutex
	lie  lie
	hear func(*covey.CoordinatorMessage) bool // false keeps a message from the agent; nil for none
	away bool                                 // the agent has no link
	ends []error                              // of its links, as the coordinator put it
	out  *siteLink                            // the latest link
}

func newProxy(t *testing.T, f *bubble, dir string) *proxy {
	site := must.Get(pki.LoadHolder(pki.RoleSite, filepath.Join(dir, f.sites[mallory])))(t)
	authority := must.Get(pki.Load(filepath.Join(dir, "coordinator-1")))(t)
	p := &proxy{f: f, port: bufconn.Listen(1 << 18), site: site, lie: truth}
	port.Serve(t, authority, p.port, wire.This("covey-coordinator").Pairs, func(s *grpc.Server) { covey.RegisterFederationServer(s, p) },
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: wire.KeepaliveTime / 2, PermitWithoutStream: true}))
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
	end  *port.End
	grpc.BidiStreamingClient[covey.LinkRequest, covey.LinkResponse]
}

func (p *proxy) dial(ctx context.Context) (*siteLink, error) {
	tls, err := p.site.ClientTLS("10.0.0.1")
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(tls)), grpc.WithDisableServiceConfig(), grpc.WithContextDialer(p.f.dial))
	if err != nil {
		return nil, err
	}
	s, err := covey.NewFederationClient(conn).Link(versioned(ctx))
	if err != nil {
		conn.Close()
		return nil, err
	}
	context.AfterFunc(p.f.ctx, func() { conn.Close() })
	return &siteLink{conn, port.AtSite(s), s}, nil
}

func (w *siteLink) send(raw []byte) error    { return w.end.Send(raw) }
func (w *siteLink) receive() ([]byte, error) { return w.end.Receive() }

// Link carries what the coordinator says to the agent, and what the lie makes of the agent's words
// back.
func (p *proxy) Link(in grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]) error {
	p.mu.Lock()
	away := p.away
	p.mu.Unlock()
	if away {
		return status.Error(codes.Unavailable, "away")
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
	agent, done := port.AtCoordinator(in), make(chan error, 2)
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
				err = agent.Send(raw)
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	go func() {
		for {
			raw, err := agent.Receive()
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
		p.f.T.Log(err)
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

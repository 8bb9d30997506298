package fed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"google.golang.org/grpc"

	"covey/internal/agent"
	"covey/internal/node"
	"covey/internal/siteconfig"
)

// Part is a coordinator or an agent with its folder; started again, it is the same one.
type Part struct {
	Name, Dir string
	Index     int    // among the coordinators, or among the sites
	Host      string // on a network in memory
	Address   string // a coordinator's, where sites connect

	f    *Federation
	site bool

	mu    sync.Mutex
	node  *node.Node // of a coordinator that runs
	agent *agent.Agent
	stop  context.CancelFunc
	ended chan struct{} // closed with the end of the latest run
	err   error         // of that end
}

func (f *Federation) part(name, host string, i int, site bool) *Part {
	return &Part{Name: name, Dir: filepath.Join(f.Dir, name), Index: i, Host: host, f: f, site: site}
}

func writeFile(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

// IsSite reports whether the part is an agent.
func (p *Part) IsSite() bool { return p.site }

func (p *Part) dial(ctx context.Context, address string) (net.Conn, error) {
	return p.f.o.Network.Dial(ctx, p.Host, address)
}

// DialOption has gRPC connect over the federation's network from the part's host.
func (p *Part) DialOption() grpc.DialOption { return grpc.WithContextDialer(p.dial) }

// Start runs the part from its folder. A part that ends by itself ends the federation's waiting.
func (p *Part) Start() error {
	return p.StartWith(func() {}, func(err error) {
		if err != nil {
			p.f.Failed(fmt.Errorf("%s: %w", p.Name, err))
		}
	})
}

// StartWith is Start that tells when the part has opened its folder and is about to run, and how it
// ended: with nil where it was canceled and nothing went wrong.
func (p *Part) StartWith(begin func(), end func(err error)) error {
	n, run, err := p.open()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	p.mu.Lock()
	p.node, p.stop, p.ended = n, stop, ended
	p.mu.Unlock()
	begin()
	go func() {
		err := run(ctx)
		if errors.Is(err, context.Canceled) || p.site && ctx.Err() != nil {
			err = nil
		}
		stop()
		p.mu.Lock()
		p.node, p.err = nil, err
		p.mu.Unlock()
		end(err)
		close(ended)
	}()
	return nil
}

func (p *Part) open() (*node.Node, func(context.Context) error, error) {
	if !p.site {
		o := node.Options{Listen: p.f.o.Network.Listen, Dial: p.dial}
		if p.f.o.Node != nil {
			p.f.o.Node(p, &o)
		}
		n, err := node.Open(p.Dir, o)
		if err != nil {
			return nil, nil, err
		}
		return n, n.Run, nil
	}
	a, err := p.f.AgentIn(p, p.Dir)
	if err != nil {
		return nil, nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.agent = a
	return nil, a.Run, nil
}

// Agent returns the site's agent of the latest start.
func (p *Part) Agent() *agent.Agent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.agent
}

// AgentIn makes the site's agent on a folder, which is its own or a copy.
func (f *Federation) AgentIn(p *Part, dir string) (*agent.Agent, error) {
	c, err := siteconfig.Read(dir)
	if err != nil {
		return nil, err
	}
	o := agent.Options{Config: c, DialOptions: []grpc.DialOption{p.DialOption()}}
	if f.o.Agent != nil {
		f.o.Agent(p, &o)
	}
	return agent.New(o)
}

// Node returns the coordinator, nil while it does not run.
func (p *Part) Node() *node.Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.node
}

// Cancel has the part end. Nobody is sent to it from then on.
func (p *Part) Cancel() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.node = nil
	if p.stop != nil {
		p.stop()
	}
}

// Ended is closed when the part's latest run has ended; nil for one that was never started.
func (p *Part) Ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// Wait waits for the end of the part's latest run and returns its error.
func (p *Part) Wait() error {
	ended := p.Ended()
	if ended == nil {
		return nil
	}
	<-ended
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Stop ends the part and waits.
func (p *Part) Stop() error {
	p.Cancel()
	return p.Wait()
}

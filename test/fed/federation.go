// Package fed builds whole federations for tests and measurements: New's run in this process,
// coordinators and agents as their operators would start them, each with its own folder, keys and
// ledger; NewFleet's are processes of the two commands.
package fed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"covey/internal/agent"
	"covey/internal/enroll"
	"covey/internal/node"
	"covey/internal/siteconfig"
	"covey/test/network"
	"covey/test/site"
)

// Network carries the bytes of a federation's parts.
type Network interface {
	Listen(address string) (net.Listener, error)
	Dial(ctx context.Context, from, address string) (net.Conn, error)
}

// Federation is coordinators and agents in one process.
type Federation struct {
	Dir          string  // all folders are below
	Nodes, Sites []*Part // coordinators and agents

	network  Network
	peers    map[string]string // of all sites, which each site's policy lists
	rows     func(i int) string
	file     string
	node     func(*Part, *node.Options)
	agent    func(*Part, *agent.Options)
	config   func(*Part, *siteconfig.Config)
	reach    func(site string, addresses []string) ([]string, error)
	invite   func(site string) ([]byte, error)
	run      func(*Part) error
	patience time.Duration
	every    time.Duration
	alone    bool

	ctx  context.Context
	stop context.CancelCauseFunc
}

// Option is what a federation is made of.
type Option func(*Federation)

// Coordinators is how many there are; one without it.
func Coordinators(n int) Option {
	return func(f *Federation) {
		f.alone = n == 1
		f.Nodes = nil
		for i := range n {
			f.Nodes = append(f.Nodes, f.part(fmt.Sprintf("coordinator-%d", i+1), fmt.Sprintf("10.0.0.%d", i+1), i))
		}
	}
}

// Sites are the agents' names.
func Sites(names ...string) Option {
	return func(f *Federation) {
		for i, name := range names {
			p := f.part(name, fmt.Sprintf("10.0.1.%d", i+1), i)
			p.site = true
			f.Sites = append(f.Sites, p)
		}
	}
}

// Names returns n names of sites in the order of a roster.
func Names(n int) (names []string) {
	digits := len(strconv.Itoa(n - 1))
	for i := range n {
		names = append(names, fmt.Sprintf("site-%0*d", digits, i))
	}
	return names
}

// Through carries everything through a network in memory; without it all is on loopback.
func Through(n Network) Option { return func(f *Federation) { f.network = n } }

// Rows is the CSV text of each site's rows, for which a file is written beside its folder.
func Rows(rows func(i int) string) Option { return func(f *Federation) { f.rows = rows } }

// File is one file that all sites offer.
func File(path string) Option { return func(f *Federation) { f.file = path } }

// Node changes how a coordinator is opened, each time.
func Node(change func(*Part, *node.Options)) Option { return func(f *Federation) { f.node = change } }

// Agent changes how an agent is made, each time.
func Agent(change func(*Part, *agent.Options)) Option {
	return func(f *Federation) { f.agent = change }
}

// Config changes a site's configuration before it is written.
func Config(change func(*Part, *siteconfig.Config)) Option {
	return func(f *Federation) { f.config = change }
}

// Reach returns where a site connects in place of the coordinators' own addresses, as a proxy does.
func Reach(reach func(site string, addresses []string) ([]string, error)) Option {
	return func(f *Federation) { f.reach = reach }
}

// Invited has join files come from elsewhere: the coordinators run in no part of this federation.
func Invited(invite func(site string) ([]byte, error)) Option {
	return func(f *Federation) { f.invite, f.Nodes = invite, nil }
}

// Run starts a part in place of its own Start.
func Run(start func(*Part) error) Option { return func(f *Federation) { f.run = start } }

// Patience is how long what has to come by itself may take, and how often one looks.
func Patience(limit, every time.Duration) Option {
	return func(f *Federation) { f.patience, f.every = limit, every }
}

// New returns a federation in dir of which nothing is made yet: one coordinator and no site, if the
// options do not say otherwise.
func New(dir string, options ...Option) *Federation {
	f := &Federation{
		Dir: dir, network: network.Loopback{}, run: (*Part).Start, patience: time.Minute, every: 20 * time.Millisecond,
		reach: func(_ string, addresses []string) ([]string, error) { return addresses, nil },
		node:  func(*Part, *node.Options) {}, agent: func(*Part, *agent.Options) {}, config: func(*Part, *siteconfig.Config) {},
	}
	f.ctx, f.stop = context.WithCancelCause(context.Background())
	Coordinators(1)(f)
	for _, option := range options {
		option(f)
	}
	if f.invite == nil {
		f.invite = f.Invite
	}
	return f
}

// Form makes every folder and starts every part, coordinators first, each as soon as it can. After
// an error the parts that run still do.
func (f *Federation) Form() error {
	for i, p := range f.Nodes {
		if err := f.found(i, p); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	for _, p := range f.Sites {
		err := f.Join(p)
		if err == nil {
			err = f.run(p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// found makes coordinator i's folder, starts it and waits until it is in.
func (f *Federation) found(i int, p *Part) error {
	c := node.Config{Listen: p.Host + ":7443", Name: strconv.Itoa(i + 1)}
	if !f.alone {
		c.PeerListen = p.Host + ":7444"
	}
	c.Addresses = []string{c.Listen}
	if _, here := f.network.(network.Loopback); here {
		free, err := network.Free(2)
		if err != nil {
			return err
		}
		if c.Listen, c.Addresses = free[0], free[:1]; f.alone { // nobody else can have its port meanwhile
			c.Listen = "127.0.0.1:0"
		} else {
			c.PeerListen = free[1]
		}
	}
	c.PeerAddress = c.PeerListen
	p.Address = c.Addresses[0]
	err := error(nil)
	if i == 0 {
		err = node.Init(p.Dir, c, time.Now())
	} else {
		var file []byte
		if file, err = Retry(f, func() ([]byte, error) { return f.Leader().AddNode(c.Name, time.Hour) }); err != nil {
			return err
		}
		c.Name = "" // the file's
		err = node.Join(f.ctx, p.Dir, file, c, p.dial, time.Now())
	}
	if err == nil {
		err = f.run(p)
	}
	if err != nil {
		return err
	}
	if f.alone {
		if _, here := f.network.(network.Loopback); here {
			p.Address = p.Node().Listening().String()
		}
		return nil
	}
	_, err = Retry(f, func() (bool, error) {
		peers, err := f.Leader().Peers()
		if err == nil && len(peers) != i+1 {
			err = errNotYet
		}
		return true, err
	})
	return err
}

// Invite makes a site's join file. The addresses are the coordinators' where none is given.
func (f *Federation) Invite(name string) ([]byte, error) {
	var addresses []string
	for _, p := range f.Nodes {
		addresses = append(addresses, p.Address)
	}
	addresses, err := f.reach(name, addresses)
	if err != nil {
		return nil, err
	}
	join, err := f.Leader().Invite(name, addresses, time.Hour)
	if err != nil {
		return nil, err
	}
	return join.Marshal()
}

// Join makes a site's folder.
func (f *Federation) Join(p *Part) error {
	_, err := Retry(f, func() (bool, error) {
		text, err := f.invite(p.Name)
		if err == nil {
			err = enroll.Join(f.ctx, text, p.Dir, time.Now(), p.DialOption())
		}
		return true, err
	})
	if err != nil {
		return err
	}
	return f.Configure(p)
}

// Configure writes a joined site's rows and its agent.toml.
func (f *Federation) Configure(p *Part) error {
	path := p.Dir + ".csv"
	if f.rows != nil {
		if err := writeFile(path, f.rows(p.Index)); err != nil {
			return err
		}
	}
	if f.file != "" {
		path = f.file
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	joined, err := siteconfig.Read(p.Dir)
	if err != nil {
		return err
	}
	if f.peers == nil {
		var names []string
		for _, s := range f.Sites {
			names = append(names, s.Name)
		}
		if f.peers, err = siteconfig.PeersIn(f.Dir, names...); err != nil {
			return err
		}
	}
	c := site.Config(p.Name, path)
	c.Coordinator, c.Policy.Peers = joined.Coordinator, f.peers
	f.config(p, &c)
	return site.Write(p.Dir, c)
}

var errNotYet = errors.New("fed: not yet")

// Retry tries until there is no error, for as long as the federation's patience.
func Retry[T any](f *Federation, try func() (T, error)) (out T, err error) {
	return RetryFor(f, f.patience, try)
}

// RetryFor tries until there is no error, for at most limit.
func RetryFor[T any](f *Federation, limit time.Duration, try func() (T, error)) (out T, err error) {
	for end := time.Now().Add(limit); ; {
		if out, err = try(); err == nil || time.Now().After(end) {
			return out, err
		}
		select {
		case <-time.After(f.every):
		case <-f.ctx.Done():
			return out, errors.Join(err, context.Cause(f.ctx))
		}
	}
}

// Stop ends all parts, agents first, and returns why one ended by itself.
func (f *Federation) Stop() error {
	for _, parts := range [][]*Part{f.Sites, f.Nodes} {
		for _, p := range parts {
			p.Cancel()
		}
		for _, p := range parts {
			p.Wait()
		}
	}
	f.stop(errStopped)
	if err := context.Cause(f.ctx); !errors.Is(err, errStopped) {
		return err
	}
	return nil
}

var errStopped = errors.New("fed: the federation was stopped")

// Failed ends the federation's waiting with an error, which Stop returns.
func (f *Federation) Failed(err error) { f.stop(err) }

// Leading returns the coordinator that leads, nil for none.
func (f *Federation) Leading() *Part {
	for _, p := range f.Nodes {
		if n := p.Node(); n != nil && n.Leading() {
			return p
		}
	}
	return nil
}

// Leader returns the node that leads, waiting for one as long as it takes.
func (f *Federation) Leader() *node.Node {
	for {
		if p := f.Leading(); p != nil {
			if n := p.Node(); n != nil {
				return n
			}
		}
		time.Sleep(f.every)
	}
}

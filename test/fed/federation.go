// Package fed builds whole federations for tests and measurements, with coordinators and agents as
// their operators would start them, each with its own folder, keys and ledger. Those of New run in
// this process; those of NewFleet are processes of the two commands.
package fed

import (
	"cmp"
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
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/test/network"
	"covey/test/site"
)

// Network carries the bytes of a federation's parts.
type Network interface {
	Listen(address string) (net.Listener, error)
	Dial(ctx context.Context, from, address string) (net.Conn, error)
}

// Options are what a federation is made of. The functions are called each time, and may be nil.
type Options struct {
	Coordinators int      // 0 is one
	Sites        []string // the agents' names
	// Network carries everything; nil is loopback.
	Network Network
	// Rows is the CSV text of each site's rows, which is written beside its folder. File is one
	// file that all offer in its place.
	Rows func(i int) string
	File string
	// Node and Agent change how a part is opened, Config what is written into a site's folder.
	Node   func(*Part, *node.Options)
	Agent  func(*Part, *agent.Options)
	Config func(*Part, *siteconfig.Config)
	// Reach returns where sites connect in place of the coordinator's own address, as a proxy does.
	Reach func(address string) (string, error)
	// Invite makes join files in place of the coordinators, which run elsewhere.
	Invite func(site string) ([]byte, error)
	// Start starts a part in place of its own Start.
	Start func(*Part) error
	// Patience is how long what has to come by itself may take; a minute. Every is how often one
	// looks.
	Patience, Every time.Duration
}

// Federation is coordinators and agents in one process.
type Federation struct {
	Dir          string  // all folders are below
	Nodes, Sites []*Part // coordinators and agents

	o        Options
	loopback bool
	peers    map[string]string // of all sites, which each site's policy lists

	ctx  context.Context
	stop context.CancelCauseFunc
}

// Names returns n names of sites in the order of a roster.
func Names(n int) (names []string) {
	digits := len(strconv.Itoa(n - 1))
	for i := range n {
		names = append(names, fmt.Sprintf("site-%0*d", digits, i))
	}
	return names
}

// New returns a federation in dir of which nothing is made yet.
func New(dir string, o Options) *Federation {
	f := &Federation{Dir: dir, o: o, loopback: o.Network == nil}
	f.ctx, f.stop = context.WithCancelCause(context.Background())
	if f.loopback {
		f.o.Network = network.Loopback{}
	}
	f.o.Coordinators = max(1, o.Coordinators)
	f.o.Patience, f.o.Every = cmp.Or(o.Patience, time.Minute), cmp.Or(o.Every, 20*time.Millisecond)
	if o.Start == nil {
		f.o.Start = (*Part).Start
	}
	if o.Invite == nil {
		f.o.Invite = f.Invite
		for i := range f.o.Coordinators {
			f.Nodes = append(f.Nodes, f.part(fmt.Sprintf("coordinator-%d", i+1), fmt.Sprintf("10.0.0.%d", i+1), i, false))
		}
	}
	for i, name := range o.Sites {
		f.Sites = append(f.Sites, f.part(name, fmt.Sprintf("10.0.1.%d", i+1), i, true))
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
			err = f.o.Start(p)
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
	if f.o.Coordinators > 1 {
		c.PeerListen = p.Host + ":7444"
	}
	c.Addresses = []string{c.Listen}
	if f.loopback {
		free, err := network.Free(2)
		if err != nil {
			return err
		}
		// nobody else can have its port meanwhile
		if c.Listen, c.Addresses = free[0], free[:1]; f.o.Coordinators == 1 {
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
		if file, err = Retry(f, func() ([]byte, error) {
			leader, err := f.lead()
			if err != nil {
				return nil, err
			}
			return leader.AddNode(c.Name, time.Hour)
		}); err != nil {
			return err
		}
		c.Name = "" // the file's
		err = node.Join(f.ctx, p.Dir, file, c, p.dial, time.Now())
	}
	if err == nil {
		err = f.o.Start(p)
	}
	if err != nil {
		return err
	}
	if f.o.Coordinators == 1 {
		if f.loopback {
			p.Address = p.Node().Listening().String()
		}
		return nil
	}
	_, err = Retry(f, func() (bool, error) {
		leader, err := f.lead()
		if err != nil {
			return false, err
		}
		peers, err := leader.Peers()
		if err == nil && len(peers) != i+1 {
			err = errNotYet
		}
		return true, err
	})
	return err
}

// Invite makes a site's join file.
func (f *Federation) Invite(name string) (_ []byte, err error) {
	var addresses []string
	for _, p := range f.Nodes {
		at := p.Address
		if f.o.Reach != nil {
			if at, err = f.o.Reach(at); err != nil {
				return nil, err
			}
		}
		addresses = append(addresses, at)
	}
	leader, err := f.lead()
	if err != nil {
		return nil, err
	}
	join, err := leader.Coordinator.Invite(name, addresses, time.Hour)
	if err != nil {
		return nil, err
	}
	return join.Marshal()
}

// Join makes a site's folder.
func (f *Federation) Join(p *Part) error {
	_, err := Retry(f, func() (bool, error) {
		text, err := f.o.Invite(p.Name)
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
	if f.o.Rows != nil {
		if err := writeFile(path, f.o.Rows(p.Index)); err != nil {
			return err
		}
	}
	if f.o.File != "" {
		path = f.o.File
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
		if f.peers, err = siteconfig.PeersIn(f.Dir, f.o.Sites...); err != nil {
			return err
		}
	}
	c := site.Config(p.Name, path)
	c.Coordinator, c.Policy.Peers = joined.Coordinator, f.peers
	c.Policy.MinCorrupt = min(1, proposal.UsualCorrupt(len(f.o.Sites))) // any but none, where none is not usual
	if f.o.Config != nil {
		f.o.Config(p, &c)
	}
	return site.Write(p.Dir, c)
}

var errNotYet = errors.New("fed: not yet")

// Retry tries until there is no error, for as long as the federation's patience.
func Retry[T any](f *Federation, try func() (T, error)) (out T, err error) {
	return RetryFor(f, f.o.Patience, try)
}

// RetryFor tries until there is no error, for at most limit.
func RetryFor[T any](f *Federation, limit time.Duration, try func() (T, error)) (out T, err error) {
	for end := time.Now().Add(limit); ; {
		if out, err = try(); err == nil || time.Now().After(end) {
			return out, err
		}
		select {
		case <-time.After(f.o.Every):
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
		if n := p.Node(); n != nil && n.Coordinator.Leading() {
			return p
		}
	}
	return nil
}

// lead returns the node that leads now.
func (f *Federation) lead() (*node.Node, error) {
	if p := f.Leading(); p != nil {
		if n := p.Node(); n != nil {
			return n, nil
		}
	}
	return nil, errNotYet
}

// Leader returns the node that leads, waiting for one as long as it takes.
func (f *Federation) Leader() *node.Node {
	for {
		if n, err := f.lead(); err == nil {
			return n
		}
		time.Sleep(f.o.Every)
	}
}

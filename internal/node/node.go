// Package node puts one coordinator together: its folder's keys (internal/pki),
// its log (internal/replica), its port among coordinators, and the
// coordinator itself. It says who may do what where: agents come to the sites' port,
// operators to a unix socket of any coordinator, which passes on to the leader what only
// the leader can do.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - PEER-1: A connection for raft or an operator's request MUST show a coordinator's certificate
//     of the same CA, good now, and the dialer MUST check the same. A site's does not pass, nor a
//     coordinator's at the sites' port.
//   - PEER-2, PEER-3: Without a certificate only the call of joining is answered, on a token that
//     is good once, for one name, until it expires. The token MUST be spent in the log before the
//     answer, the CA's and the signing key, leaves; the caller MUST have checked the CA's
//     fingerprint.
//   - PEER-4: A node is made a voter only when it runs and asks.
//   - PEER-5: A port MUST hold at most 64 connections without a coordinator's certificate,
//     joiners' included, each handshake for at most 10 s, and cut off a joiner silent for 10 s
//     more. One more ends the oldest of the address that has most. An address that a coordinator
//     has come from MUST have 64 places of its own.
//   - PEER-6: A coordinator MUST talk to no key that its list does not have, dialed or accepted,
//     whatever its name and certificate. On a removal it MUST end that key's connections.
//   - PEER-7: A request that came from another coordinator MUST NOT be passed on again.
//   - PEER-8: A call of joining MUST be checked (name, and the token's hash among those given out)
//     before anything is logged: at most 4 KiB, one a connection, 20 at once, one a second from
//     one address.
//   - PEER-9: A coordinator that knows no leader MUST ask those on its list for theirs. What it
//     hears MUST only let keys in next to its own list, MUST NOT be passed on, and MUST be
//     forgotten once a leader of its own list is known. Lists outlive a restart.
//   - PEER-10: `raft remove` MUST shut out one that has the keys and has not entered, and withdraw
//     the name's unused join files, of which only the newest is good.
//   - PEER-11: The CA's key MUST go to a joining coordinator over such a key exchange alone,
//     whatever is configured.
package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"covey/internal/admission"
	"covey/internal/coordinator"
	"covey/internal/dashboard"
	"covey/internal/notify"
	"covey/internal/pki"
	"covey/internal/replica"
)

// Options of a node.
type Options struct {
	Logger *slog.Logger
	// Listen and Dial are TCP's if nil.
	Listen func(address string) (net.Listener, error)
	Dial   Dialer
	// Now is the wall clock; time.Now if nil.
	Now func() time.Time
	// HandOver makes Run hand the lead to another coordinator before it ends, if this one leads
	// then: a restart costs no election.
	HandOver bool
	// Control serves the operator's socket while Run runs.
	Control bool
	// Dashboard replaces the configuration's, if it is not nil.
	Dashboard *Dashboard
	// Election and PeerTimeout are internal/replica's.
	Election, PeerTimeout time.Duration
	// SnapshotThreshold is internal/replica's.
	SnapshotThreshold uint64
}

// Node is one coordinator, running from Open to the end of Run.
type Node struct {
	Coordinator *coordinator.Coordinator
	Config      Config

	authority *pki.Authority
	replica   *replica.Node
	port      *port // nil for a coordinator that is alone
	sites     net.Listener
	operator  net.Listener // nil without Control
	watchers  net.Listener // nil without a dashboard, as the next
	board     *dashboard.Dashboard
	boardTLS  *tls.Config // nil for plain HTTP
	reached   reached
	rotation  rotation
	members   members
	notifier  *notify.Notifier
	grouping  sync.Mutex // one coordinator is admitted or removed here at a time
	options   Options
	log       *slog.Logger
	now       func() time.Time
}

func (o *Options) setDefaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Listen == nil {
		o.Listen = func(address string) (net.Listener, error) { return net.Listen("tcp", address) }
	}
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
}

// LostLogError is of a log that only people can bring back.
type LostLogError = replica.LostError

// Open opens a data folder's log; it listens already. A coordinator that is alone
// leads when Open returns; others lead when they are elected, while Run runs.
// Errors: *ConfigError, internal/pki's, replica.ErrLocked, *replica.StoreError and within it
// *LostLogError, or of listening.
func Open(dir string, o Options) (_ *Node, err error) {
	o.setDefaults()
	n := &Node{options: o, log: o.Logger, now: o.Now}
	if err := n.configure(dir); err != nil {
		return nil, err
	}
	if n.authority, err = pki.Load(dir); err != nil {
		return nil, err
	}
	if err := n.readDashboard(dir); err != nil {
		return nil, err
	}
	if err := n.renew(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	if n.sites, err = n.options.Listen(n.Config.Listen); err != nil {
		return nil, err
	}
	machine, err := coordinator.NewMachineIn(dir)
	if err != nil {
		return nil, err
	}
	n.members.dir, n.members.n, n.rotation.n = dir, n, n
	if n.members.kept, err = pki.LoadMembers(dir); err != nil {
		return nil, err
	}
	n.Coordinator = coordinator.New(coordinator.Options{Authority: n.authority, Machine: machine, Logger: n.log, QuantumSafe: n.Config.QuantumSafeLinks, Now: n.now})
	replicated := replica.Options{
		Logger: n.log, ID: n.Config.Name, Election: o.Election, PeerTimeout: o.PeerTimeout, SnapshotThreshold: o.SnapshotThreshold,
	}
	if n.Config.PeerListen != "" {
		if err := n.listenPeers(); err != nil {
			return nil, err
		}
		replicated.Stream, replicated.Address, replicated.Join = n.port.raft(), n.Config.PeerAddress, len(n.Config.Peers) > 0
	}
	_, before := os.Stat(filepath.Join(dir, "raft", "raft.db"))
	if n.replica, err = replica.Open(dir, machine, replicated); err != nil {
		return nil, err
	}
	if errors.Is(before, os.ErrNotExist) { // a part of a backup starts as empty as a new federation
		n.log.Info("raft/ was empty, and a new log is begun: if this coordinator was in use before, stop it, and restore its whole data folder")
	}
	if n.port != nil {
		owner := n.at
		n.port.owner.Store(&owner)
	}
	if o.Control {
		if n.operator, err = listenUnix(filepath.Join(dir, SocketFile)); err != nil {
			return nil, err
		}
	}
	if n.notifier, err = n.notifies(dir); err != nil {
		return nil, err
	}
	if err := n.openDashboard(); err != nil {
		return nil, err
	}
	if n.replica.Leader() {
		return n, n.Coordinator.Lead(entries{n.replica})
	}
	return n, nil
}

// configure reads coordinator.toml, and puts a dashboard of the options in place of its own.
func (n *Node) configure(dir string) (err error) {
	if n.Config, err = ReadConfig(dir); err != nil {
		return err
	}
	if n.options.Dashboard != nil {
		n.Config.Dashboard = *n.options.Dashboard
		if err := n.Config.check(); err != nil {
			return err
		}
	}
	if n.Config.QuantumSafeLinks {
		if err := pki.CheckQuantumSafe(); err != nil {
			return bad("%s: quantum_safe_links would let nobody in: %v", filepath.Join(dir, ConfigFile), err)
		}
	}
	return nil
}

// entries is the log as the coordinator knows it.
type entries struct{ *replica.Node }

// Apply says coordinator.ErrNotLeader of an entry that was not proposed, as in the moments when a
// lead is given away: the caller may ask again, or elsewhere.
func (e entries) Apply(ctx context.Context, entry []byte) (any, error) {
	answer, err := e.Node.Apply(ctx, entry)
	if errors.Is(err, replica.ErrNotLeader) {
		err = coordinator.ErrNotLeader
	}
	return answer, err
}

func (n *Node) listenPeers() error {
	tls, err := n.authority.PeerTLS(n.Config.Name, n.now)
	if err != nil {
		return err
	}
	tls.Pin(n.members.has)
	if n.Config.QuantumSafeLinks {
		tls.QuantumSafe()
	}
	l, err := n.options.Listen(n.Config.PeerListen)
	if err != nil {
		return err
	}
	n.port = newPort(admission.Paced(l), tls, n.options.Dial)
	return nil
}

// Listening returns the address of the sites' port.
func (n *Node) Listening() net.Addr { return n.sites.Addr() }

// Peers returns the coordinators as this one knows them.
func (n *Node) Peers() ([]replica.Peer, error) { return n.replica.Peers() }

// listenUnix listens on a socket that only this user can open. The log's lock
// already says that no other process serves this folder, so a socket that is
// there is a crash's.
func listenUnix(path string) (net.Listener, error) {
	if len(path) > 100 {
		return nil, bad("the path of the operator's socket is %d bytes long, unix sockets allow about 100: use a shorter --data", len(path))
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(path, 0o600)
}

// renew replaces the server's certificate when it is within 30 days of its end.
// New connections get the new one at once.
func (n *Node) renew() error {
	hosts, err := n.Config.hosts()
	if err != nil {
		return err
	}
	renewed, err := n.authority.RenewServer(hosts, n.now())
	if renewed {
		n.log.Info("the server certificate is renewed")
	}
	return err
}

// renewDaily looks once a day. A failure is said, every day until it is mended: there are 30 of
// them. So is the end of the CA.
func (n *Node) renewDaily(ctx context.Context) {
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	for {
		if ca := n.authority.CA(); pki.Expiry(ca, n.now()) < soonCA {
			n.log.Warn("the federation's CA ends soon, and all certificates with it: run `coordinator ca new` before, and later `coordinator ca retire`", "ends", ca.NotAfter.UTC())
		}
		select {
		case <-day.C:
			if err := n.renew(); err != nil {
				n.log.Error("the server certificate is not renewed", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// requestTime bounds how long a caller may take to say what it wants; one that has shown no
// certificate is then cut off.
const requestTime = 10 * time.Second

// Run serves until ctx ends or the store fails, and closes the node. A store's first
// I/O error ends the process: a retry could report success for data that is lost.
func (n *Node) Run(ctx context.Context) error {
	sites := n.Coordinator.Server()
	g, ctx := errgroup.WithContext(ctx)
	var servers []*http.Server
	serve := func(h http.Handler, l net.Listener) { // a watch is long
		s := &http.Server{
			Handler: h, ReadHeaderTimeout: requestTime,
			BaseContext: func(net.Listener) context.Context { return ctx },
		}
		servers = append(servers, s)
		g.Go(func() error { return ignoreClosed(s.Serve(l)) })
	}
	forward := n.forwarder()
	if n.operator != nil {
		serve(n.operatorHandler(forward), n.operator)
	}
	if n.port != nil {
		serve(n.peerHandler(), n.port.operators())
		s := joinServer(ctx, n.joinerHandler())
		servers = append(servers, s)
		g.Go(func() error { return ignoreClosed(s.Serve(n.port.joiners())) })
		g.Go(func() error { n.enter(ctx); return nil })
		g.Go(func() error { n.members.ask(ctx); return nil })
	}
	if n.board != nil {
		s := n.boardServer(ctx)
		servers = append(servers, s)
		g.Go(func() error {
			if n.boardTLS != nil {
				return ignoreClosed(s.ServeTLS(n.watchers, "", ""))
			}
			return ignoreClosed(s.Serve(n.watchers))
		})
		if n.port != nil {
			g.Go(func() error { n.probe(ctx); return nil })
		}
	}
	g.Go(func() error { return ignoreClosed(sites.Serve(admission.Paced(n.sites))) })
	g.Go(func() error { n.renewDaily(ctx); return nil })
	g.Go(func() error { n.rotation.follow(ctx); return nil })
	g.Go(func() error { n.members.follow(ctx); return nil })
	g.Go(func() error { n.notifier.Run(ctx); return nil })
	g.Go(func() error { return n.Coordinator.Serve(ctx, entries{n.replica}) })
	g.Go(func() error {
		var failed error
		select {
		case <-ctx.Done():
			n.handOver()
		case err := <-n.replica.Failed():
			failed = fmt.Errorf("the coordinator's log failed and the process ends: %w", err)
		}
		n.Coordinator.Close()
		if n.board != nil {
			n.board.Close()
		}
		for _, s := range servers {
			s.Close()
		}
		forward.close()
		sites.Stop()
		return failed
	})
	err := g.Wait()
	return errors.Join(err, n.close())
}

// handOverTime bounds the wait for another coordinator to take the lead.
const handOverTime = 3 * time.Second

func (n *Node) handOver() {
	if !n.options.HandOver || n.port == nil || !n.replica.Leader() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), handOverTime)
	defer cancel()
	if err := n.replica.Transfer(ctx, ""); err != nil {
		n.log.Info("no other coordinator took the lead", "error", err)
		return
	}
	n.log.Info("the lead was handed over to another coordinator") // which may not yet be known here
}

// close releases what Open took.
func (n *Node) close() error {
	var err error
	if n.replica != nil {
		err = n.replica.Close()
	}
	if n.port != nil {
		err = errors.Join(err, ignoreClosed(n.port.Close()))
	}
	for _, l := range []net.Listener{n.sites, n.operator, n.watchers} {
		if l != nil {
			err = errors.Join(err, ignoreClosed(l.Close()))
		}
	}
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) || errors.Is(err, grpc.ErrServerStopped) {
		return nil
	}
	return err
}

// Transfer hands the lead to any other coordinator that has caught up.
func (n *Node) Transfer(ctx context.Context) error { return n.replica.Transfer(ctx, "") }

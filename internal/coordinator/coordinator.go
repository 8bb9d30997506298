package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	"covey/internal/admission"
	"covey/internal/pki"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
)

// Options of a coordinator.
type Options struct {
	Authority *pki.Authority
	Machine   *Machine
	Logger    *slog.Logger
	// Now is the wall clock; time.Now if nil.
	Now func() time.Time
}

// Coordinator leads studies: it holds links and sessions, and runs effects.
type Coordinator struct {
	authority *pki.Authority
	machine   *Machine
	raft      Log     // of the last lead
	replica   Replica // nil before Serve
	log       *slog.Logger
	now       func() time.Time

	// Guarded by machine.mu, as the states are that they belong to.
	leading  bool
	term     int                // counts Lead and Follow: what began in another one is dropped
	links    map[string]*link   // by site name
	opened   map[string][]*link // all open streams, by site name, oldest first
	paces    map[string]*pace   // by site name
	sessions map[study.Digest]*session
	changed  chan struct{} // closed and replaced at every change
	seen     journal       // what this coordinator alone has seen
	// sightings are of sites, while this coordinator led.
	sightings map[string]Sighting
	lasts     map[study.Digest]lastRelease
	rounds    roundCache // has its own lock

	ctx      context.Context // ends with Close: bounds proposals under way
	cancel   context.CancelFunc
	large    chan struct{} // places of messages of many frames that are being read
	late     chan struct{} // places of messages that are serialized late
	stopping chan struct{}
	work     sync.WaitGroup // effects under way
}

// New makes a coordinator over a machine whose log is not open yet.
func New(o Options) *Coordinator {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Coordinator{
		authority: o.Authority, machine: o.Machine, log: o.Logger, now: o.Now,
		links: map[string]*link{}, opened: map[string][]*link{}, paces: map[string]*pace{}, sessions: map[study.Digest]*session{}, sightings: map[string]Sighting{}, lasts: map[study.Digest]lastRelease{}, changed: make(chan struct{}),
		ctx: ctx, cancel: cancel, large: make(chan struct{}, maxLarge), late: make(chan struct{}, maxLate), stopping: make(chan struct{}),
	}
	if c.now == nil {
		c.now = time.Now
	}
	c.machine.leader = c
	return c
}

// Lead begins to lead: everything committed is applied on this node, and every
// open study goes on where its durable state stands (docs/protocol.md).
func (c *Coordinator) Lead(log Log) error {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	c.raft, c.leading = log, true
	c.term++
	c.happened(Happening{Kind: HappenedLeads})
	for _, digest := range c.machine.order {
		state := c.machine.studies[digest]
		if state.Terminal() {
			state.Step(round.Led{}) // of no link: whoever connects can be told the end
			continue
		}
		s := c.session(digest, state)
		if err := s.restore(); err != nil {
			return fmt.Errorf("study %s: the committed setup: %w", digest, err)
		}
		c.step(digest, state, c.led(s))
	}
	return nil
}

func (c *Coordinator) led(s *session) round.Led {
	var connected []int
	for i, m := range s.plan.Proposal.Roster {
		if c.links[m.Name] != nil {
			connected = append(connected, i)
		}
	}
	return round.Led{Connected: connected, Graph: s.graph()}
}

// Follow stops leading: links end, so that agents look for the leader, and what
// this node remembers of open slots is forgotten; effects under way come to nothing.
func (c *Coordinator) Follow() {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	if !c.leading {
		return
	}
	c.leading = false
	c.term++
	c.happened(Happening{Kind: HappenedFollows})
	for _, digest := range c.machine.order {
		c.machine.studies[digest].Step(round.Followed{})
	}
	for _, s := range c.sessions {
		s.leave()
		s.wipe()
	}
	clear(c.sessions)
	for _, l := range c.links {
		l.close(errNotLeader)
	}
	clear(c.links)
	c.notify()
}

// Leading reports whether this node leads.
func (c *Coordinator) Leading() bool {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	return c.leading
}

// Close ends links and waits for effects under way.
func (c *Coordinator) Close() {
	close(c.stopping)
	c.cancel()
	c.work.Wait()
}

// Server makes the gRPC server of the sites' port.
func (c *Coordinator) Server() *grpc.Server {
	s := grpc.NewServer(append((&versions{c: c}).options(),
		grpc.Creds(admission.NewGate(credentials.NewTLS(c.authority.ServerTLS()))),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: wire.KeepaliveTime / 2, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: wire.KeepaliveTime, Timeout: wire.KeepaliveTimeout}),
		grpc.MaxRecvMsgSize(wire.Max+frameOverhead),
		grpc.ConnectionTimeout(admission.HandshakeTime),
		// Without it a connection has as many handlers as it likes (CVE-2023-44487, grpc-go 6703).
		grpc.MaxConcurrentStreams(admission.MaxStreams),
		grpc.MaxHeaderListSize(admission.MaxHeaders),
		// gRPC would let a window grow to 16 MiB, read or not.
		grpc.StaticStreamWindowSize(admission.StreamWindow),
		grpc.StaticConnWindowSize(admission.ConnWindow),
	)...)
	wire.Register(s, server{c})
	healthv1.RegisterHealthServer(s, health{c: c})
	return s
}

// session returns a study's leader memory. Called with the machine's lock held.
func (c *Coordinator) session(digest study.Digest, state *round.State) *session {
	s := c.sessions[digest]
	if s == nil {
		s = &session{c: c, plan: state.Plan(), sites: map[string]int{}}
		for i, m := range s.plan.Proposal.Roster {
			s.sites[m.Name] = i
		}
		c.sessions[digest] = s
	}
	s.state = state
	return s
}

// step returns an event to a study and runs what follows. Called with the lock held.
func (c *Coordinator) step(digest study.Digest, state *round.State, e round.Event) {
	effects, err := state.Step(e)
	if err != nil {
		c.log.Debug("stale", "study", digest, "error", err)
	}
	c.run(digest, state, effects)
}

// fromSite lets handle look at a site's message and gives its event to the study. A stream that has
// not said hello, or was replaced since, speaks for nobody.
func (c *Coordinator) fromSite(digest study.Digest, l *link, handle func(*session, int) round.Event) error {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	if !c.leading {
		return nil
	}
	if c.links[l.site] != l {
		return errNotCurrent
	}
	state := c.machine.studies[digest]
	if state == nil {
		return nil
	}
	for i, m := range state.Plan().Proposal.Roster {
		if m.Name == l.site {
			c.sighted(l.site, nil)
			if e := handle(c.session(digest, state), i); e != nil {
				l.changed = true
				c.step(digest, state, e)
			}
			c.tellEnd(l, digest, state, i)
			return nil
		}
	}
	return errors.New("link: a message about a study that the site is not in")
}

// linked registers a site's link; an older one of the same site ends.
func (c *Coordinator) linked(l *link, units map[string]int) {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	if !c.leading {
		l.close(errNotLeader)
		return
	}
	if old := c.links[l.site]; old != nil && old != l {
		old.close(errReplaced)
		c.log.Warn("a site opened another link; if this goes on, two agents run with its keys", "site", l.site)
	}
	l.units = units
	again := c.links[l.site] == l
	c.links[l.site] = l
	c.sighted(l.site, l)
	if !again {
		c.log.Info("site connected", "site", l.site)
		c.happened(Happening{Kind: HappenedConnected, Site: l.site})
		c.greet(l)
	}
	l.known = known{}
	c.notify()
}

func (c *Coordinator) dropped(l *link) {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	c.ended(l)
	if c.links[l.site] != l {
		return
	}
	delete(c.links, l.site)
	c.log.Info("site disconnected", "site", l.site)
	c.happened(Happening{Kind: HappenedDisconnected, Site: l.site})
	c.each(l.site, func(_ int, digest study.Digest, state *round.State, site int) {
		if !state.Terminal() { // of one that is over no link is remembered
			c.step(digest, state, round.Disconnected{Site: site})
		}
	})
	c.notify()
}

// each goes over the studies that a site is in: at is the place in the machine's order, site the
// roster index.
func (c *Coordinator) each(name string, do func(at int, digest study.Digest, state *round.State, site int)) {
	if !c.leading {
		return
	}
	for at, digest := range c.machine.order {
		state := c.machine.studies[digest]
		for i, m := range state.Plan().Proposal.Roster {
			if m.Name == name {
				do(at, digest, state, i)
			}
		}
	}
}

// notify wakes everyone who watches. Called with the lock held.
func (c *Coordinator) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// proposed tells a new study that this node leads.
func (c *Coordinator) proposed(digest study.Digest, state *round.State) {
	if c.leading {
		c.step(digest, state, c.led(c.session(digest, state)))
	}
}

// run does effects. It never blocks: what takes time goes on in a goroutine
// of its own and comes back as an event. Called with the machine's lock held, by
// step and by Machine.Apply.
func (c *Coordinator) run(digest study.Digest, state *round.State, effects []round.Effect) {
	if !c.leading {
		return
	}
	s := c.session(digest, state)
	s.turn()
	for _, e := range effects {
		switch e := e.(type) {
		case round.Send:
			c.send(digest, s, e)
		case round.Propose:
			c.propose(e.Entry)
		case round.VerifySetup:
			c.verify(digest, s, e.Announcements)
		case round.DrawGraph:
			c.draw(digest, s, e.Nonces)
		case round.Open:
			c.open(digest, s, e)
		case round.SetDeadline:
			c.deadline(digest, s, e)
		case round.Doubt:
			s.fault(e.Site, e.Code)
		case round.SetExpiry:
			c.expiry(digest, s, e)
		}
	}
	for _, e := range s.settle() {
		c.step(digest, state, e)
	}
	if state.Terminal() {
		c.over(state, s)
	}
	c.notify()
}

// over forgets what only a study under way needs, here and in the leader's part of its state: keys,
// shares and sums are much, and studies are many. Every site with a link was told the end just now;
// one that comes later is told if it misses it (greet).
func (c *Coordinator) over(state *round.State, s *session) {
	s.leave()
	s.wipe()
	*s = session{c: c, state: state, plan: s.plan, sites: s.sites, faults: s.faults}
	state.Step(round.Led{}) // of no link: nothing follows
}

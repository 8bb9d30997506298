package coordinator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"covey/internal/admission"
	"covey/internal/chain"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/stream"
	"covey/internal/wire"
)

// Software names this coordinator to agents.
var Software = wire.This(program).Software

const program = "covey-coordinator"

// Options of a coordinator.
type Options struct {
	Authority *pki.Authority
	Machine   *Machine
	Logger    *slog.Logger
	// QuantumSafe refuses the links of sites and analysts whose key exchange is not quantum-safe.
	QuantumSafe bool
	// Now is the wall clock; time.Now if nil.
	Now func() time.Time
}

// Coordinator leads studies: it holds links and sessions, and runs effects.
type Coordinator struct {
	*core
	registry
	log    *slog.Logger // core's
	rounds round.Views  // has its own lock

	quantumSafe bool
	refused     admission.Refused
	door        *admission.Door

	reading  chan struct{} // the place of the one result at a time that is put together for a client
	large    chan struct{} // places of messages of many frames that are being read
	late     chan struct{} // places of messages that are serialized late
	stopping chan struct{}
}

// New makes a coordinator over a machine whose log is not open yet.
func New(o Options) *Coordinator {
	all := &core{authority: o.Authority, machine: o.Machine, log: o.Logger, now: o.Now}
	all.ctx, all.cancel = context.WithCancel(context.Background())
	if all.now == nil {
		all.now = time.Now
	}
	m := all.machine.lock()
	defer all.machine.unlock()
	*m = leader{
		core: all, replicated: m.replicated, term: m.term, links: map[string]*link{}, opened: map[string][]*link{}, paces: map[string]*admission.Pace{}, places: map[string]chan struct{}{},
		sessions: map[proposal.Digest]*memory{}, changed: make(chan struct{}), sightings: map[string]outline.Sighting{}, lasts: map[proposal.Digest]outline.Last{}, shown: map[proposal.Digest]shown{}, proposing: map[string]int{},
	}
	c := &Coordinator{
		core: all, registry: registry{all}, log: all.log, quantumSafe: o.QuantumSafe, refused: admission.Refused{Log: all.log},
		reading: make(chan struct{}, 1), large: make(chan struct{}, stream.MaxLarge), late: make(chan struct{}, stream.MaxLate), stopping: make(chan struct{}),
	}
	c.door = &admission.Door{Program: program, Log: c.log, Admit: c.admit}
	return c
}

// Lead begins to lead: everything committed is applied on this node, and every
// open study goes on where its durable state stands (docs/protocol.md).
func (c *Coordinator) Lead(log Log) error {
	m := c.machine.lock()
	defer c.machine.unlock()
	m.raft, m.leading = log, true
	m.term++
	m.happened(outline.Happening{Kind: outline.HappenedLeads})
	for _, digest := range m.order {
		state := m.studies[digest]
		if state == nil {
			continue // it is over: sites that connect are told so
		}
		s := m.remember(digest, state)
		if own, its := m.signingKey(), s.Plan.Proposal.Coordinator; !bytes.Equal(own, its) {
			m.log.Error("this coordinator's signing.key is not that of the study, which cannot go on with another: put the signing.key from the time of its proposal into every coordinator's folder",
				"study", digest, "name", s.Plan.Proposal.Spec.Name, "here", pki.Fingerprint(ed25519.PublicKey(own)), "of_the_study", pki.Fingerprint(ed25519.PublicKey(its)))
		}
		if err := s.Restore(); err != nil {
			return fmt.Errorf("study %s: the committed setup: %w", digest, err)
		}
		m.step(digest, state, m.led(s))
	}
	return nil
}

// Follow stops leading: links end, so that agents look for the leader, and what
// this node remembers of open slots is forgotten; effects under way come to nothing.
func (c *Coordinator) Follow() {
	m := c.machine.lock()
	defer c.machine.unlock()
	if !m.leading {
		return
	}
	m.leading = false
	m.term++
	m.happened(outline.Happening{Kind: outline.HappenedFollows})
	for _, state := range m.studies {
		state.Step(round.Followed{})
	}
	for _, s := range m.sessions {
		s.Leave()
	}
	clear(m.sessions)
	for _, l := range m.links {
		l.Close(errNotLeader)
	}
	clear(m.links)
	m.notify()
}

// Close ends links and waits for effects under way.
func (c *Coordinator) Close() {
	close(c.stopping)
	c.cancel()
	c.work.Wait()
}

// Server makes the gRPC server of the sites' port.
func (c *Coordinator) Server() *grpc.Server {
	gate := admission.NewGate(credentials.NewTLS(c.sitesTLS()), c.log)
	gate.Refused = func(leaf *x509.Certificate) bool {
		_, err := c.admit(leaf)
		return status.Code(err) == codes.PermissionDenied // not where another node may know more
	}
	gate.Issued, gate.Ended = c.authority.Issued, c.ended
	s := admission.Server(gate, c.door)
	wire.Register(s, server{c})
	wire.RegisterAnalysis(s, analysts{server{c}})
	healthv1.RegisterHealthServer(s, admission.Health{Leading: c.Leading})
	return s
}

// fromSite lets handle look at a site's message and gives its event to the study. A stream that has
// not said hello, or was replaced since, speaks for nobody.
func (c *Coordinator) fromSite(digest proposal.Digest, l *link, handle func(*memory, int) round.Event) error {
	m := c.machine.lock()
	defer c.machine.unlock()
	if !m.leading {
		return nil
	}
	if m.links[l.site] != l {
		return errNotCurrent
	}
	r, ok := m.find(digest)
	if !ok {
		return nil
	}
	site := r.Site(l.site)
	if site < 0 {
		return errors.New("link: a message about a study that the site is not in")
	}
	m.sighted(l.site, nil)
	if r.Closed != nil {
		m.tellEnd(l, r, site)
		return nil
	}
	if e := handle(m.remember(digest, r.State), site); e != nil {
		before := r.State.Heard(site)
		l.changed = m.step(digest, r.State, e) || r.State.Heard(site) != before
	}
	return nil
}

// linked registers a site's link; an older one of the same site ends.
func (c *Coordinator) linked(l *link, units map[string]int, kept chain.Head) {
	m := c.machine.lock()
	defer c.machine.unlock()
	if !m.leading {
		l.Close(errNotLeader)
		return
	}
	old := m.links[l.site]
	if old != nil && old != l {
		old.Close(errReplaced)
		c.log.Warn("a site opened another link; if this continues, two agents run with its keys", "site", l.site)
	}
	l.units = units
	m.links[l.site] = l
	m.sighted(l.site, l)
	if old != l {
		m.follow(l, kept)
		c.log.Info("site connected", "site", l.site)
		m.happened(outline.Happening{Kind: outline.HappenedConnected, Site: l.site})
		m.greet(l)
	}
	l.known = known{}
	m.notify()
}

func (c *Coordinator) dropped(l *link) {
	m := c.machine.lock()
	defer c.machine.unlock()
	m.ended(l)
	if m.links[l.site] != l {
		return
	}
	delete(m.links, l.site)
	c.log.Info("site disconnected", "site", l.site)
	m.happened(outline.Happening{Kind: outline.HappenedDisconnected, Site: l.site})
	m.tell(l.site, func(site int) round.Event { return round.Disconnected{Site: site} })
	m.notify()
}

package admission

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"

	"covey/internal/pki"
)

// Limits of the sites' port (docs/operations.md, "What one caller can take").
const (
	// handshakeTime bounds a TLS handshake and the first words of HTTP/2 after it.
	handshakeTime = 10 * time.Second
	// maxStrangers is how many connections there are at a time that have not shown a client
	// certificate, those in the handshake among them. One more ends the oldest of the host that has
	// most.
	maxStrangers = 256
	// strangerTime bounds such a connection: a join is answered within an agent's 20 s.
	strangerTime = 30 * time.Second
	// maxConnections is how many a client has at a time; one more ends its oldest. An agent has
	// one, and where it lost its network without a word others are left until their pings fail.
	maxConnections = 4
	// maxStreams is how many calls a connection has at a time. An agent has its link, and now and
	// then another.
	maxStreams = 8
	// maxHeaders bounds the head of a call, in bytes.
	maxHeaders = 8 << 10
	// streamWindow is how far a stream's sender may be ahead of its reader, in bytes.
	streamWindow = 1 << 20
	// connWindow bounds the bytes under way on a connection: gRPC returns them as soon as they have
	// arrived.
	connWindow = 2 * streamWindow

	// Handshakes: hostRate a second and hostBurst at once from one host, allRate and allBurst from
	// all. What comes faster waits, for queueTime at most: hundreds of sites behind one address are
	// let in.
	hostRate, hostBurst = 100.0, 300.0
	allRate, allBurst   = 500.0, 1000.0
	queueTime           = 5 * time.Second
	// acceptRate and acceptBurst bound the connections accepted from the system; the others wait
	// there.
	acceptRate, acceptBurst = 500.0, 1000.0
)

var (
	errTooFast    = errors.New("admission: too many connections from this host")
	errOverloaded = errors.New("admission: too many connections")
)

// Gate is the sites' port's TLS, with bounds on what can be held or done by connections that have
// shown no certificate, and by those of one client. It is around the handshake because gRPC bounds
// no connections.
type Gate struct {
	credentials.TransportCredentials
	// Refused reports whether calls with a verified certificate would be refused for good: its
	// holder is revoked, or had the name before today's holder, whose connections must not end
	// for it. A caller that shows it stays a stranger. If Refused is nil, nobody is refused.
	Refused func(leaf *x509.Certificate) bool
	// Issued reports whether the federation's CA made a certificate, which may have ended. Nobody's
	// is, if it is nil.
	Issued func(leaf *x509.Certificate) bool
	// Ended is told of each such certificate that is not good now, unless it is nil. Whether the
	// caller has its key was not looked at.
	Ended func(leaf *x509.Certificate)

	log   *slog.Logger
	ended refusedHosts // whose certificate had ended

	mu        sync.Mutex
	all       Bucket
	hosts     *Hosts[host]
	strangers []*entrant            // oldest first
	clients   map[string][]*entrant // by name of a site or an analyst, oldest first
}

// host is where connections come from: an IPv4 address, or a /64 of IPv6.
type host struct {
	bucket    Bucket
	strangers int
}

func newHost() *host { return &host{bucket: NewBucket(hostRate, hostBurst)} }

func (h *host) idle(now time.Time) bool { return h.strangers == 0 && h.bucket.Full(now) }

// entrant is one connection, from accept on.
type entrant struct {
	raw   net.Conn
	host  *host
	name  string // of its certificate; "" for a stranger
	timer *time.Timer
	left  bool
	gone  chan struct{} // closed with left
}

// Caller is what a handshake found out.
type Caller struct {
	credentials.TLSInfo
	Meter *Meter
}

// NewGate puts the bounds around a port's TLS.
func NewGate(tls credentials.TransportCredentials, log *slog.Logger) *Gate {
	return &Gate{TransportCredentials: tls, log: log, all: NewBucket(allRate, allBurst), hosts: NewHosts(newHost, (*host).idle), clients: map[string][]*entrant{}}
}

// Clone returns the same gate: one port has one count.
func (g *Gate) Clone() credentials.TransportCredentials { return g }

// ServerHandshake is credentials.TransportCredentials': the embedded one's, between bounds.
func (g *Gate) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	e, wait, err := g.enter(raw, time.Now())
	if err != nil {
		return nil, nil, err
	}
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-e.gone:
			return nil, nil, errOverloaded
		}
	}
	conn, info, err := g.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		g.leave(e)
		g.tell(raw.RemoteAddr(), err)
		return nil, nil, err
	}
	tls, ok := info.(credentials.TLSInfo)
	if ok && len(tls.State.VerifiedChains) > 0 {
		leaf := tls.State.VerifiedChains[0][0]
		if _, name, err := pki.RoleOf(leaf); err == nil && (g.Refused == nil || !g.Refused(leaf)) {
			g.known(e, name)
		}
	}
	m := newMeter(conn, e.name == "", func() { g.leave(e) })
	return m, Caller{tls, m}, nil
}

// tell logs that a caller's certificate is not good now, once a day for a name and host: a site
// that is away for this, or all sites where this machine's clock is wrong, do not know more than
// that they are refused. What another CA made has no name here: who calls could choose it, and fill
// the log. Whether the caller has the certificate's key was not looked at.
func (g *Gate) tell(from net.Addr, why error) {
	invalid, ok := errors.AsType[x509.CertificateInvalidError](why)
	if !ok || invalid.Reason != x509.Expired || invalid.Cert == nil {
		return
	}
	name := ""
	if g.Issued != nil && g.Issued(invalid.Cert) {
		_, name, _ = pki.RoleOf(invalid.Cert) // empty of a certificate that names nobody
		if g.Ended != nil {
			g.Ended(invalid.Cert)
		}
	}
	if host, first := g.ended.first(from, name); first {
		g.log.Warn("a caller was refused: by this machine's clock its certificate is not valid now. If the clock is right, the caller must join again: coordinator site invite SITE --again, or analyst invite",
			"host", host, "says_it_is", name, "from", invalid.Cert.NotBefore.UTC(), "to", invalid.Cert.NotAfter.UTC())
	}
}

// enter counts a connection and says how long it has to wait until its handshake may begin.
func (g *Gate) enter(raw net.Conn, now time.Time) (*entrant, time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hostOf(raw.RemoteAddr(), now)
	// The host's own first: one that is over its share takes nothing of the others'.
	wait, ok := h.bucket.Queue(now, queueTime)
	if !ok {
		return nil, 0, errTooFast
	}
	all, ok := g.all.Queue(now, queueTime)
	if !ok {
		return nil, 0, errOverloaded
	}
	if len(g.strangers) >= maxStrangers {
		most := h
		for _, s := range g.strangers {
			if s.host.strangers > most.strangers {
				most = s.host
			}
		}
		for _, s := range g.strangers {
			if s.host == most {
				g.drop(s)
				s.raw.Close()
				break
			}
		}
	}
	e := &entrant{raw: raw, host: h, gone: make(chan struct{})}
	h.strangers++
	g.strangers = append(g.strangers, e)
	// gRPC closes raw alone where its own first words fail.
	e.timer = time.AfterFunc(strangerTime, func() { g.leave(e); raw.Close() })
	return e, max(wait, all), nil
}

// known moves a connection to its client's.
func (g *Gate) known(e *entrant, name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.left {
		return
	}
	g.drop(e)
	e.left, e.gone, e.name = false, make(chan struct{}), name
	if its := g.clients[name]; len(its) >= maxConnections {
		oldest := its[0]
		g.drop(oldest)
		oldest.raw.Close()
	}
	g.clients[name] = append(g.clients[name], e)
}

func (g *Gate) leave(e *entrant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(e)
}

// drop takes a connection out of the count. Called with the lock held.
func (g *Gate) drop(e *entrant) {
	if e.left {
		return
	}
	e.left = true
	close(e.gone)
	if e.name != "" {
		if g.clients[e.name] = without(g.clients[e.name], e); len(g.clients[e.name]) == 0 {
			delete(g.clients, e.name)
		}
		return
	}
	e.timer.Stop()
	e.host.strangers--
	g.strangers = without(g.strangers, e)
}

func without(all []*entrant, e *entrant) []*entrant {
	for i, other := range all {
		if other == e {
			return append(all[:i], all[i+1:]...)
		}
	}
	return all
}

// hostOf returns the host that is counted for an address. Called with the lock held.
func (g *Gate) hostOf(address net.Addr, now time.Time) *host { return g.hosts.Of(address, now) }

// Paced takes connections from a listener no faster than what a server can look at: refusing one
// costs, too.
func Paced(l net.Listener) net.Listener {
	return &paced{Listener: l, bucket: NewBucket(acceptRate, acceptBurst)}
}

type paced struct {
	net.Listener
	bucket Bucket // of the one that accepts
}

// Accept is net.Listener's.
func (p *paced) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if err == nil {
		if wait := p.bucket.spend(time.Now(), 1); wait > 0 {
			time.Sleep(wait)
		}
	}
	return c, err
}

package node

import (
	"net"
	"sync"
	"time"

	"covey/internal/admission"
)

const (
	// maxStrangers is how many connections there are at a time that have shown no coordinator's
	// certificate: those in the handshake, and joiners' until they end. One more ends the oldest of
	// the host that has most.
	maxStrangers = 64
	// Joiners: joinRate a second and joinBurst at once from one host; what comes faster is cut off.
	// Each makes one request.
	joinRate, joinBurst = 1.0, 20.0
)

// gate counts connections that have shown no coordinator's certificate. A host that a coordinator
// has come from has places of its own, so that a flood from anywhere else takes none of them.
type gate struct {
	mu    sync.Mutex
	hosts *admission.Hosts[host]
	rest  crowd // of all hosts that no coordinator has come from
}

// crowd are connections that share maxStrangers places, oldest first.
type crowd struct{ all []*entrant }

// host is where connections come from: an IPv4 address, or a /64 of IPv6.
type host struct {
	strangers int
	join      admission.Bucket
	own       *crowd // nil until a coordinator has come from here
}

type entrant struct {
	raw   net.Conn
	host  *host
	crowd *crowd // nil once it is counted no longer
}

func newGate() *gate {
	fresh := func() *host { return &host{join: admission.NewBucket(joinRate, joinBurst)} }
	idle := func(h *host, now time.Time) bool { return h.own == nil && h.strangers == 0 && h.join.Full(now) }
	return &gate{hosts: admission.NewHosts(fresh, idle)}
}

// enter counts a connection, and ends another one where there is no place for both.
func (g *gate) enter(raw net.Conn) *entrant {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.hosts.Of(raw.RemoteAddr(), time.Now())
	in := &g.rest
	if h.own != nil {
		in = h.own
	}
	if len(in.all) >= maxStrangers {
		most := h
		for _, e := range in.all {
			if e.host.strangers > most.strangers {
				most = e.host
			}
		}
		for _, e := range in.all {
			if e.host == most {
				g.drop(e)
				e.raw.Close()
				break
			}
		}
	}
	e := &entrant{raw, h, in}
	in.all = append(in.all, e)
	h.strangers++
	return e
}

// known takes a connection out of the count whose coordinator has shown its certificate.
func (g *gate) known(e *entrant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(e)
	if e.host.own == nil {
		e.host.own = &crowd{}
	}
}

// joins reports whether a host may make one more request for the keys now.
func (g *gate) joins(e *entrant) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := e.host.join.Queue(time.Now(), 0)
	return ok
}

func (g *gate) leave(e *entrant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(e)
}

// drop takes a connection out of the count. Called with the lock held.
func (g *gate) drop(e *entrant) {
	if e.crowd == nil {
		return
	}
	for i, other := range e.crowd.all {
		if other == e {
			e.crowd.all = append(e.crowd.all[:i], e.crowd.all[i+1:]...)
			break
		}
	}
	e.crowd = nil
	e.host.strangers--
}

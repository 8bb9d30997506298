package admission

import (
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// maxRefusedHosts bounds the callers whose refusal is logged in a day: those without a certificate
// could fill the log.
const maxRefusedHosts = 100

// refusedHosts are those whose refusal was logged today.
type refusedHosts struct {
	mu    sync.Mutex
	since time.Time
	hosts map[string]bool
}

// first returns an address's host, and reports whether a caller of that name there, which may be
// empty, is to be logged: a day later it is new again.
func (r *refusedHosts) first(from net.Addr, name string) (host string, ok bool) {
	host = from.String()
	if part, _, err := net.SplitHostPort(host); err == nil {
		host = part
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.since) >= 24*time.Hour {
		r.since, r.hosts = time.Now(), map[string]bool{}
	}
	who := host + " " + name
	if r.hosts[who] || len(r.hosts) >= maxRefusedHosts {
		return host, false
	}
	r.hosts[who] = true
	return host, true
}

// Refused counts the callers that offered no quantum-safe key exchange where one is demanded.
// They are refused before they show a certificate, so only the host is known.
type Refused struct {
	Log   *slog.Logger
	n     atomic.Int64
	hosts refusedHosts
}

// Refuse notes a caller, and logs its host, once a day.
func (r *Refused) Refuse(h *tls.ClientHelloInfo) {
	r.n.Add(1)
	host, first := r.hosts.first(h.Conn.RemoteAddr(), "")
	if !first {
		return
	}
	r.Log.Warn("a caller was refused: it offers no quantum-safe key exchange, which quantum_safe_links demands; take tlsmlkem=0 out of its GODEBUG, or upgrade it",
		"host", host, "offers", h.SupportedCurves)
}

// Count returns how many there were.
func (r *Refused) Count() int { return int(r.n.Load()) }

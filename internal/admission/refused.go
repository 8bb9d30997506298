package admission

import (
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
)

// maxRefusedHosts bounds the hosts whose refusal is logged: callers without a certificate could
// fill the log.
const maxRefusedHosts = 100

// refusedHosts are those whose refusal was logged.
type refusedHosts struct {
	mu    sync.Mutex
	hosts map[string]bool
}

// first returns an address's host, and reports whether it is a new one, to be logged.
func (r *refusedHosts) first(from net.Addr) (host string, ok bool) {
	host = from.String()
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts[host] || len(r.hosts) >= maxRefusedHosts {
		return host, false
	}
	if r.hosts == nil {
		r.hosts = map[string]bool{}
	}
	r.hosts[host] = true
	return host, true
}

// Refused counts the callers that offered no quantum-safe key exchange where one is demanded.
// They are refused before they show a certificate, so only the host is known.
type Refused struct {
	Log   *slog.Logger
	n     atomic.Int64
	hosts refusedHosts
}

// Refuse notes a caller, and logs its host the first time.
func (r *Refused) Refuse(h *tls.ClientHelloInfo) {
	r.n.Add(1)
	host, first := r.hosts.first(h.Conn.RemoteAddr())
	if !first {
		return
	}
	r.Log.Warn("a caller was refused: it offers no quantum-safe key exchange, which quantum_safe_links demands; take tlsmlkem=0 out of its GODEBUG, or upgrade it",
		"host", host, "offers", h.SupportedCurves)
}

// Count returns how many there were.
func (r *Refused) Count() int { return int(r.n.Load()) }

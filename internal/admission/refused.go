package admission

import (
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
)

// maxRefusedHosts bounds the hosts whose refusal is logged: callers without a certificate could
// fill the log.
const maxRefusedHosts = 100

// Refused counts the callers that offered no quantum-safe key exchange where one is demanded.
// They are refused before they show a certificate, so only the host is known.
type Refused struct {
	Log   *slog.Logger
	mu    sync.Mutex
	n     int
	hosts map[string]bool
}

// Refuse notes a caller, and logs its host the first time.
func (r *Refused) Refuse(h *tls.ClientHelloInfo) {
	host := h.Conn.RemoteAddr().String()
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	if r.hosts[host] || len(r.hosts) >= maxRefusedHosts {
		return
	}
	if r.hosts == nil {
		r.hosts = map[string]bool{}
	}
	r.hosts[host] = true
	r.Log.Warn("a caller was refused: it offers no quantum-safe key exchange, which quantum_safe_links demands; take tlsmlkem=0 out of its GODEBUG, or upgrade it",
		"host", host, "offers", h.SupportedCurves)
}

// Count returns how many there were.
func (r *Refused) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

package coordinator

import (
	"crypto/tls"
	"log/slog"
	"net"
	"sync"

	"covey/internal/pki"
)

// maxRefusedHosts bounds the hosts whose refusal is logged: who shows no certificate could fill the
// log.
const maxRefusedHosts = 100

// refusedLinks counts the callers that offered no quantum-safe key exchange where one is demanded.
// None has shown a certificate by then, so that its host is all that is known.
type refusedLinks struct {
	log   *slog.Logger
	mu    sync.Mutex
	n     int
	hosts map[string]bool
}

func (r *refusedLinks) refuse(h *tls.ClientHelloInfo) {
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
	r.log.Warn("a caller was refused: it offers no quantum-safe key exchange, which quantum_safe_links demands; take tlsmlkem=0 out of its GODEBUG, or upgrade it",
		"host", host, "offers", h.SupportedCurves)
}

func (r *refusedLinks) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// sitesTLS is the configuration of the sites' port.
func (c *Coordinator) sitesTLS() *tls.Config {
	config := c.authority.ServerTLS()
	if c.quantumSafe {
		pki.ServeQuantumSafe(config, c.refused.refuse)
	}
	return config
}

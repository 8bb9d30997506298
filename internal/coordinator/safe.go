package coordinator

import (
	"crypto/tls"

	"covey/internal/pki"
)

// sitesTLS is the configuration of the sites' port.
func (c *Coordinator) sitesTLS() *tls.Config {
	config := c.authority.ServerTLS()
	if c.quantumSafe {
		pki.ServeQuantumSafe(config, c.refused.Refuse)
	}
	return config
}

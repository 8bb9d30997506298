package coordinator

import (
	"crypto/x509"
	"encoding/pem"
	"errors"

	"covey/internal/admission"
	"covey/internal/frame"
	"covey/internal/pki"
)

// sighted notes a message of a site, and what its link knows.
func (m *leader) sighted(site string, l *link) {
	s := m.sightings[site]
	s.At = m.now().UTC()
	if l != nil {
		s.Software, s.KeyExchange = frame.Clean(l.software), l.exchange
		if l.leaf != nil {
			s.Expires = l.leaf.NotAfter
		}
	}
	m.sightings[site] = s
}

// ended notes the certificate that a site was refused with: a coordinator that was started since
// the site's last link would not know that the site must join again. Another caller can show a copy
// of an old one, which changes nothing where a later one is known.
func (c *Coordinator) ended(leaf *x509.Certificate) {
	role, site, err := pki.RoleOf(leaf)
	if err != nil || role != pki.RoleSite {
		return
	}
	if _, err := c.admit(leaf); !errors.Is(err, admission.ErrExpired) {
		return // of one who has not joined, or had the name before
	}
	m := c.machine.lock()
	defer c.machine.unlock()
	s := m.sightings[site]
	if leaf.NotAfter.After(s.Expires) {
		s.Expires = leaf.NotAfter
		m.sightings[site] = s
	}
}

// called notes an analyst's connection: each command makes one, and none is there between them.
func (c *Coordinator) called(analyst string, exchange pki.KeyExchange) {
	m := c.machine.lock()
	defer c.machine.unlock()
	s := m.sightings[analyst]
	s.At, s.KeyExchange = m.now().UTC(), exchange
	m.sightings[analyst] = s
}

// renewed notes the certificate that a site was given: its link goes on under the one before, for
// longer than that is good.
func (c *Coordinator) renewed(site string, certificate []byte) {
	block, _ := pem.Decode(certificate)
	if block == nil {
		return
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return // we made it
	}
	m := c.machine.lock()
	defer c.machine.unlock()
	s := m.sightings[site]
	s.Expires = leaf.NotAfter
	m.sightings[site] = s
}

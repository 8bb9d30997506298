package coordinator

import (
	"crypto/x509"
	"encoding/pem"
	"time"

	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/study"
)

// Sighting is what a site or an analyst last showed this coordinator; it outlives the link.
type Sighting struct {
	At       time.Time `json:"at,omitzero"` // of its last message
	Software string    `json:"software,omitempty"`
	// end of the certificate that it showed, or was given since
	Expires time.Time `json:"expires,omitzero"`
	// Authority is the CA that its certificate is of, by fingerprint, as it last told.
	Authority string `json:"authority,omitempty"`
	// KeyExchange is of the last link, or of an analyst's last connection.
	KeyExchange pki.KeyExchange `json:"key_exchange,omitzero"`
	// Faults are its messages that failed a check, since this coordinator was started.
	Faults map[study.Code]int `json:"faults,omitempty"`
}

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

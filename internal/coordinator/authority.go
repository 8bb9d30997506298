package coordinator

import (
	"encoding/hex"
	"errors"

	"covey/internal/membership"
	"covey/internal/pki"
)

// Authorities returns the federation's CAs as this node's log has them.
func (c registry) Authorities() membership.Authorities {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.who.CAs
}

// StartCA makes a next CA here and puts it into the log: everybody trusts it from then on. A start
// that failed half-way goes on with the same one.
func (c registry) StartCA() (fingerprint string, err error) {
	if !c.Leading() {
		return "", ErrNotLeader
	}
	if a := c.Authorities(); membership.Has(a.Next) || membership.Has(a.Old) {
		return "", &membership.CAError{Reason: "a change of CAs is under way: `coordinator ca list` shows it, `coordinator ca retire` ends it"}
	}
	next, err := c.authority.NewNext(c.now())
	if err != nil {
		return "", err
	}
	return next.Fingerprint(), c.apply(entry{CA: &membership.CAEntry{Step: membership.CANext, Present: pki.Voucher{Certificate: c.authority.CertificatePEM()}, Next: next}})
}

// StepCA puts CAPromote or CARetire into the log.
func (c registry) StepCA(step string) error {
	return c.apply(entry{CA: &membership.CAEntry{Step: step}})
}

// standing notes of which CA a site's certificate is, and gives those in force.
func (c registry) standing(site string, issuer []byte) []pki.Voucher {
	m := c.machine.lock()
	defer c.machine.unlock()
	all := m.who.CAs.All()
	if len(all) == 0 {
		all = []pki.Voucher{{Certificate: c.authority.CertificatePEM()}}
	}
	if _, next, _ := c.authority.Rotation(); membership.Has(m.who.CAs.Next) && next != m.who.CAs.Next.Fingerprint() {
		// This coordinator has no key of it yet: renewing here would give the present one's.
		all = append(all[1:len(all):len(all)], all[0])
	}
	for _, v := range all {
		if hex.EncodeToString(issuer) == v.Hash() {
			seen := m.sightings[site]
			seen.Authority = v.Fingerprint()
			m.sightings[site] = seen
		}
	}
	return all
}

// Stragglers are the sites or the analysts that a CA's coming into force would cut off: their
// certificates, as far as this leader was told, are of another.
func (c registry) Stragglers(role pki.Role, fingerprint string) []string {
	holders, _ := c.machine.holders(role)
	m := c.machine.lock()
	defer c.machine.unlock()
	var out []string
	for _, s := range holders {
		if !s.Revoked && m.sightings[s.Name].Authority != fingerprint {
			out = append(out, s.Name)
		}
	}
	return out
}

var errRetired = errors.New("link: the certificate's CA is no longer trusted")

// EndRetired ends the links whose certificates are of no CA that is trusted: those sites come back
// with their new ones.
func (c registry) EndRetired() {
	m := c.machine.lock()
	defer c.machine.unlock()
	for _, l := range m.links {
		if l.leaf != nil && c.authority.IssuerOf(l.leaf) == "" {
			l.Close(errRetired)
		}
	}
}

package coordinator

import (
	"encoding/hex"
	"errors"

	"covey/internal/pki"
)

// The steps of a change of CAs, in their order (internal/pki).
const (
	CANext    = "next"    // both are trusted from here on
	CAPromote = "promote" // the next one signs
	CARetire  = "retire"  // the old one is trusted no more
)

// caEntry is one step. Keys are never in the log.
type caEntry struct {
	Step    string      `json:"step"`
	Present pki.Voucher `json:"present,omitzero"` // with CANext: the CA that is to be replaced
	Next    pki.Voucher `json:"next,omitzero"`    // with CANext
}

// Authorities are the federation's CAs as the log has them; without a Present it never changed one.
type Authorities struct {
	Present pki.Voucher `json:"present,omitzero"`
	Next    pki.Voucher `json:"next,omitzero"`
	Old     pki.Voucher `json:"old,omitzero"`
}

// CAError is a step that does not follow.
type CAError struct{ Reason string }

func (e *CAError) Error() string { return e.Reason }

func has(v pki.Voucher) bool { return len(v.Certificate) > 0 }

func (a *Authorities) step(e caEntry) error {
	switch {
	case e.Step == CANext && !has(a.Next) && !has(a.Old):
		a.Present, a.Next = e.Present, e.Next
	case e.Step == CAPromote && has(a.Next):
		a.Present, a.Next, a.Old = a.Next, pki.Voucher{}, a.Present
	case e.Step == CARetire && has(a.Old):
		a.Old = pki.Voucher{}
	default:
		return &CAError{"the change of CAs is not at that step"}
	}
	return nil
}

// All returns those that are in force, the one that certificates are renewed under first.
func (a Authorities) All() []pki.Voucher {
	var out []pki.Voucher
	for _, v := range []pki.Voucher{a.Next, a.Present, a.Old} {
		if has(v) {
			out = append(out, v)
		}
	}
	return out
}

// Authorities returns the federation's CAs as this node's log has them.
func (c registry) Authorities() Authorities {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.cas
}

// StartCA makes a next CA here and puts it into the log: everybody trusts it from then on. A start
// that failed half-way goes on with the same one.
func (c registry) StartCA() (fingerprint string, err error) {
	if !c.Leading() {
		return "", ErrNotLeader
	}
	if a := c.Authorities(); has(a.Next) || has(a.Old) {
		return "", &CAError{"a change of CAs is under way: `coordinator ca list` shows it, `coordinator ca retire` ends it"}
	}
	next, err := c.authority.NewNext(c.now())
	if err != nil {
		return "", err
	}
	return next.Fingerprint(), c.apply(entry{CA: &caEntry{Step: CANext, Present: pki.Voucher{Certificate: c.authority.CertificatePEM()}, Next: next}})
}

// StepCA puts CAPromote or CARetire into the log.
func (c registry) StepCA(step string) error { return c.apply(entry{CA: &caEntry{Step: step}}) }

// standing notes of which CA a site's certificate is, and gives those in force.
func (c registry) standing(site string, issuer []byte) []pki.Voucher {
	m := c.machine.lock()
	defer c.machine.unlock()
	all := m.cas.All()
	if len(all) == 0 {
		all = []pki.Voucher{{Certificate: c.authority.CertificatePEM()}}
	}
	if _, next, _ := c.authority.Rotation(); has(m.cas.Next) && next != m.cas.Next.Fingerprint() {
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

// Stragglers are the sites that a CA's coming into force would cut off: their certificates, as far
// as this leader was told, are of another.
func (c registry) Stragglers(fingerprint string) []string {
	sites, _ := c.machine.Holders(pki.RoleSite)
	m := c.machine.lock()
	defer c.machine.unlock()
	var out []string
	for _, s := range sites {
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
			l.close(errRetired)
		}
	}
}

package secagg

import "crypto/ed25519"

// Certificate is release signatures on one U, by site, nil where absent. q valid
// ones are enough on the complete graph, T of the committee's on the sparse one.
type Certificate [][]byte

// releaseBytes is RELEASE(ctx, H(U)), bound to the setup and the slot.
func (s *Setup) releaseBytes(q Query, u Survivors) []byte {
	out := append([]byte("covey secagg release v2\x00"), s.transcript[:]...)
	out = append(out, u32(q.Slot)...)
	out = append(out, q.Context[:]...)
	hash := u.Hash()
	return append(out, hash[:]...)
}

func (s *Setup) lawful(q Query, u Survivors) error {
	if err := s.Validate(q); err != nil {
		return err
	}
	return ofGraph(s.graph.Acceptable(u))
}

// SignRelease signs U for a query; it refuses a U that is not acceptable (Graph.Acceptable): fewer
// than U_min, or sites that could be cut off. A site MUST sign at most one U a slot: the caller's
// journal says so.
func (s *Setup) SignRelease(self int, key ed25519.PrivateKey, q Query, u Survivors) ([]byte, error) {
	if err := s.lawful(q, u); err != nil {
		return nil, err
	}
	if self < 0 || self >= s.cfg.sites() {
		return nil, configError("site %d of %d", self, s.cfg.sites())
	}
	return ed25519.Sign(key, s.releaseBytes(q, u)), nil
}

// CheckRelease checks one site's signature on U.
func (s *Setup) CheckRelease(site int, q Query, u Survivors, signature []byte) error {
	r, err := s.Releasing(q, u)
	if err != nil {
		return err
	}
	return r.Check(site, signature)
}

// Releasing is one acceptable U of a query, to check many signatures on.
type Releasing struct {
	s       *Setup
	message []byte
}

// Releasing checks that U is acceptable.
func (s *Setup) Releasing(q Query, u Survivors) (*Releasing, error) {
	if err := s.lawful(q, u); err != nil {
		return nil, err
	}
	return &Releasing{s, s.releaseBytes(q, u)}, nil
}

// Check checks one site's signature.
func (r *Releasing) Check(site int, signature []byte) error {
	if site < 0 || site >= r.s.cfg.sites() || !ed25519.Verify(r.s.cfg.Identity[site], r.message, signature) {
		return siteError(site, "the release signature is wrong")
	}
	return nil
}

// CheckCertificate checks that enough distinct sites of the committee signed U. Signatures that do
// not hold count for nothing.
func (s *Setup) CheckCertificate(q Query, u Survivors, cert Certificate) error {
	if err := s.lawful(q, u); err != nil {
		return err
	}
	if len(cert) != s.cfg.sites() {
		return configError("a certificate of %d places for %d sites", len(cert), s.cfg.sites())
	}
	valid, message := 0, s.releaseBytes(q, u)
	for _, i := range s.graph.Committee() {
		if len(cert[i]) > 0 && ed25519.Verify(s.cfg.Identity[i], message, cert[i]) {
			valid++
			if valid == s.cfg.threshold() {
				return nil
			}
		}
	}
	return &CertificateError{valid, s.cfg.threshold()}
}

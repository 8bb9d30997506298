package secagg

import "crypto/ed25519"

// Certificate is release signatures on one U, by site, nil where absent. q valid
// ones are enough.
type Certificate [][]byte

// releaseBytes is RELEASE(ctx, H(U)), bound to the setup and the slot.
func (s *Setup) releaseBytes(q Query, u Survivors) []byte {
	out := append([]byte("covey secagg release v1\x00"), s.transcript[:]...)
	out = append(out, u32(q.Slot)...)
	out = append(out, q.Context[:]...)
	hash := u.Hash()
	return append(out, hash[:]...)
}

func (s *Setup) lawful(q Query, u Survivors) error {
	if err := s.Validate(q); err != nil {
		return err
	}
	return u.Validate(s.cfg.sites(), s.cfg.MinSurvivors)
}

// SignRelease signs U for a query; it refuses fewer than U_min. A site MUST sign
// at most one U a slot: the caller's journal says so.
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
	if err := s.lawful(q, u); err != nil {
		return err
	}
	if site < 0 || site >= s.cfg.sites() || !ed25519.Verify(s.cfg.Identity[site], s.releaseBytes(q, u), signature) {
		return siteError(site, "the release signature is wrong")
	}
	return nil
}

// CheckCertificate checks that q distinct sites signed U. Signatures that do not
// hold count for nothing.
func (s *Setup) CheckCertificate(q Query, u Survivors, cert Certificate) error {
	if err := s.lawful(q, u); err != nil {
		return err
	}
	if len(cert) != s.cfg.sites() {
		return configError("a certificate of %d places for %d sites", len(cert), s.cfg.sites())
	}
	valid := 0
	for i, signature := range cert {
		if len(signature) > 0 && s.CheckRelease(i, q, u, signature) == nil {
			valid++
		}
	}
	if valid < s.cfg.Quorum {
		return &CertificateError{valid, s.cfg.Quorum}
	}
	return nil
}

package secagg

import "crypto/ed25519"

// Certificate is release signatures on one U, by site, nil where absent. q valid
// ones are enough on the complete graph, T of the committee's on the sparse one.
type Certificate [][]byte

// releaseBytes is RELEASE(ctx, H(U)), bound to the setup and the slot.
func (w *Witness) releaseBytes(q Query, u Survivors) []byte {
	out := append([]byte("covey secagg release v2\x00"), w.transcript[:]...)
	out = append(out, u32(q.Slot)...)
	out = append(out, q.Context[:]...)
	hash := u.Hash()
	return append(out, hash[:]...)
}

func (w *Witness) lawful(q Query, u Survivors) error {
	if err := w.validate(q); err != nil {
		return err
	}
	return ofGraph(w.graph.Acceptable(u))
}

// SignRelease signs U for a query; it refuses a U that is not acceptable (Graph.Acceptable): fewer
// than U_min, or sites that could be cut off. A site MUST sign at most one U a slot: the caller's
// journal says so.
func (w *Witness) SignRelease(self int, key ed25519.PrivateKey, q Query, u Survivors) ([]byte, error) {
	if err := w.lawful(q, u); err != nil {
		return nil, err
	}
	if self < 0 || self >= w.cfg.sites() {
		return nil, configError("site %d of %d", self, w.cfg.sites())
	}
	return ed25519.Sign(key, w.releaseBytes(q, u)), nil
}

// CheckRelease checks one site's signature on U.
func (w *Witness) CheckRelease(site int, q Query, u Survivors, signature []byte) error {
	r, err := w.Releasing(q, u)
	if err != nil {
		return err
	}
	return r.Check(site, signature)
}

// Releasing is one acceptable U of a query, to check many signatures on.
type Releasing struct {
	w       *Witness
	message []byte
}

// Releasing checks that U is acceptable.
func (w *Witness) Releasing(q Query, u Survivors) (*Releasing, error) {
	if err := w.lawful(q, u); err != nil {
		return nil, err
	}
	return &Releasing{w, w.releaseBytes(q, u)}, nil
}

// Check checks one site's signature.
func (r *Releasing) Check(site int, signature []byte) error {
	if site < 0 || site >= r.w.cfg.sites() || !ed25519.Verify(r.w.cfg.Identity[site], r.message, signature) {
		return siteError(site, "the release signature is wrong")
	}
	return nil
}

// CheckCertificate checks that enough distinct sites of the committee signed U. Signatures that do
// not hold count for nothing.
func (w *Witness) CheckCertificate(q Query, u Survivors, cert Certificate) error {
	if err := w.lawful(q, u); err != nil {
		return err
	}
	if len(cert) != w.cfg.sites() {
		return configError("a certificate of %d places for %d sites", len(cert), w.cfg.sites())
	}
	valid, message := 0, w.releaseBytes(q, u)
	for _, i := range w.graph.Committee() {
		if len(cert[i]) > 0 && ed25519.Verify(w.cfg.Identity[i], message, cert[i]) {
			valid++
			if valid == w.cfg.threshold() {
				return nil
			}
		}
	}
	return &CertificateError{valid, w.cfg.threshold()}
}

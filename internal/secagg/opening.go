package secagg

import (
	"bytes"
	"errors"

	"filippo.io/edwards25519"
)

// A shares message is label ‖ transcript ‖ slot ‖ ctx ‖ H(U) ‖ helper ‖ for each site j one
// share of 32 bytes: of b_j for j in U, of m_j for j outside U.

func (s *Setup) sharesHeader(helper int, q Query, u Survivors) []byte {
	return append(append([]byte("covey secagg shares v1\x00"), s.releaseBytes(q, u)...), u16(helper)...)
}

// OpenShares gives site self's shares for a certified U: of b_j for the survivors,
// of m_j for the others, never both for one j. Sending them reveals; a site MUST send
// shares for at most one (slot, U) of a query, and the caller's journal says so.
func (s *Setup) OpenShares(self int, held SlotHeld, q Query, u Survivors, cert Certificate) ([]byte, error) {
	if err := s.CheckCertificate(q, u, cert); err != nil {
		return nil, err
	}
	if self < 0 || self >= s.cfg.sites() || len(held.m) != s.cfg.sites() {
		return nil, configError("site %d holds shares of %d sites, the setup has %d", self, len(held.m), s.cfg.sites())
	}
	out := s.sharesHeader(self, q, u)
	for j := range s.cfg.sites() {
		share := held.m[j]
		if u.Contains(j) {
			share = held.b[j]
		}
		out = append(out, share.Bytes()...)
	}
	return out, nil
}

// Opening collects shares for one certified sum and removes its masks. It is
// not safe for concurrent use.
type Opening struct {
	s      *Setup
	q      Query
	u      Survivors
	shares map[int][]*edwards25519.Scalar // by helper, then dealer
	check  *combination                   // of the secrets to open, made for the first helper
}

// NewOpening begins the opening of U's sum.
func (s *Setup) NewOpening(q Query, u Survivors) (*Opening, error) {
	if err := s.lawful(q, u); err != nil {
		return nil, err
	}
	return &Opening{s: s, q: q, u: append(Survivors(nil), u...), shares: map[int][]*edwards25519.Scalar{}}, nil
}

// secretOf is the commitment to the one of j's secrets that this opening reveals.
func (o *Opening) secretOf(j int) commitment {
	if o.u.Contains(j) {
		return o.s.sites[j].b[o.q.Slot]
	}
	return o.s.sites[j].m[o.q.Slot]
}

// Add takes one helper's shares, checked against the dealers' commitments by a random
// combination of all of them. A *SiteError names a helper whose are wrong; nothing is changed
// then. A helper's second message counts for nothing.
func (o *Opening) Add(from int, message []byte) error {
	n := o.s.cfg.sites()
	if from < 0 || from >= n {
		return siteError(from, "no such site")
	}
	if o.shares[from] != nil {
		return nil
	}
	shares, err := parseShares(message, o.s.sharesHeader(from, o.q, o.u), n)
	if err != nil {
		return &SiteError{from, err}
	}
	if o.check == nil {
		dealers := make([]commitment, n)
		for j := range dealers {
			dealers[j] = o.secretOf(j)
		}
		o.check = combine(dealers)
	}
	if !o.check.fits(from, shares) {
		return siteError(from, "a share does not fit its dealer's commitment")
	}
	o.shares[from] = shares
	return nil
}

func parseShares(message, header []byte, n int) ([]*edwards25519.Scalar, error) {
	if len(message) != len(header)+32*n || !bytes.Equal(message[:len(header)], header) {
		return nil, errors.New("shares of another query, survivor set or setup")
	}
	out := make([]*edwards25519.Scalar, n)
	for j := range out {
		var err error
		if out[j], err = decodeScalar(message[len(header)+32*j:][:32]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Helpers is how many sites' shares are in.
func (o *Opening) Helpers() int { return len(o.shares) }

// Ready says that q sites' shares are in.
func (o *Opening) Ready() bool { return len(o.shares) >= o.s.cfg.Quorum }

// Unmask removes, in place, all masks from the sum over U of the uploads: the self
// masks of U, and the pair masks between U and the sites outside. Each opened secret is
// compared with its commitment, exactly, so that no sum is opened wrongly whatever passed
// Add; a *SiteError then names the helper, whose shares are forgotten, and the sum is as it was.
func (o *Opening) Unmask(sum []uint64) error {
	s := o.s
	if !o.Ready() {
		return &NotReadyError{len(o.shares), s.cfg.Quorum}
	}
	if len(sum) != o.q.Lanes {
		return configError("a sum of %d lanes, the query has %d", len(sum), o.q.Lanes)
	}
	var helpers []int
	for i := range s.cfg.sites() {
		if o.shares[i] != nil && len(helpers) < s.cfg.Quorum {
			helpers = append(helpers, i)
		}
	}
	secrets, err := o.secrets(helpers)
	if err != nil {
		return err
	}
	var streams []keystream
	var outside []int
	for j, secret := range secrets {
		if o.u.Contains(j) {
			streams = append(streams, newKeystream(s.selfKey(secret, j, o.q), true))
		} else {
			outside = append(outside, j)
		}
	}
	if len(outside) > 0 {
		for _, i := range o.u {
			table := newMultiples(s.cleared(i, o.q.Slot))
			for _, j := range outside {
				// Site i added PRG(k_ij) for j < i and subtracted it for j > i.
				key := s.pairKey(table.mult(secrets[j]).Bytes(), j, i, o.q)
				streams = append(streams, newKeystream(key, j < i))
			}
		}
	}
	addKeystreams(sum, o.q.Bits, streams)
	return nil
}

// secrets interpolates what the helpers' shares open, by site. The Lagrange coefficients are
// the same for all.
func (o *Opening) secrets(helpers []int) ([]*edwards25519.Scalar, error) {
	coefficients := lagrange(helpers)
	secrets := make([]*edwards25519.Scalar, o.s.cfg.sites())
	for j := range secrets {
		secret := edwards25519.NewScalar()
		for a, i := range helpers {
			secret.MultiplyAdd(coefficients[a], o.shares[i][j], secret)
		}
		if new(edwards25519.Point).ScalarBaseMult(secret).Equal(&o.secretOf(j)[0]) != 1 {
			// Add lets a wrong share pass with probability 2^-66: look at each.
			for _, i := range helpers {
				if !o.secretOf(j).fits(i, o.shares[i][j]) {
					delete(o.shares, i)
					return nil, siteError(i, "a share does not fit its dealer's commitment")
				}
			}
			return nil, siteError(j, "the opened secret does not fit its commitment")
		}
		secrets[j] = secret
	}
	return secrets, nil
}

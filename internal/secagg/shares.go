package secagg

import (
	"bytes"
	"errors"
	"slices"

	"filippo.io/edwards25519"

	"covey/internal/graph"
)

// What a site sends to open one certified sum, and only for a U that it may open:
//
//   - shares: label ‖ what the release signature signs ‖ helper ‖ for each site j whose shares the
//     helper holds (Graph.Held, in order) one share (32): of b_j for j in U, of e_j for j outside;
//     and, if the helper is in U and the query has a chain, the chain's key of |U| (32), of which
//     there is none at |U| = U_min.
//   - a proof, if an opened secret does not fit: label ‖ the same ‖ helper ‖ dealer ‖ the other
//     leaves of the dealer's place, the mask's first, then by slot (32 each); on the sparse graph
//     the dealer's body.
//   - keys, if a deposit is wrong or lost: label ‖ the same ‖ helper ‖ for each mask neighbor
//     outside U, ascending, the pair's key (32).
//
// Proofs and keys tell nothing that shares of the same slot, ctx and U do not open.

// helper is a site that helps to open one certified sum, or is said to.
type helper struct {
	s    *Setup
	site int
	q    Query
	u    Survivors
}

// header begins each of its messages.
func (h helper) header(label string) []byte {
	return slices.Concat([]byte("covey secagg "+label+" v2\x00"), h.s.releaseBytes(h.q, h.u), u16(h.site))
}

// chained reports whether its shares end with a key of the chain.
func (h helper) chained() bool {
	return h.q.Chain && len(h.u) > h.s.cfg.MinSurvivors && h.u.Contains(h.site)
}

// helper returns site self as a helper of U's sum, and whose shares it holds, if it may help.
func (s *Setup) helper(self int, q Query, u Survivors) (helper, []graph.Share, error) {
	if err := s.lawful(q, u); err != nil {
		return helper{}, nil, err
	}
	if self < 0 || self >= s.cfg.sites() {
		return helper{}, nil, configError("site %d of %d", self, s.cfg.sites())
	}
	return helper{s, self, q, u}, s.graph.Held(self), nil
}

// OpenShares returns site self's shares for a certified U: of b_j for the survivors,
// of e_j for the others, never both for one j. own and held are the site's of the slot; own is
// needed where the query has a chain. Sending them reveals; a site MUST send
// shares for at most one (slot, U) of a query, and the caller's journal says so.
func (s *Setup) OpenShares(self int, own SlotSecret, held SlotHeld, q Query, u Survivors, cert Certificate) ([]byte, error) {
	if err := s.CheckCertificate(q, u, cert); err != nil {
		return nil, err
	}
	return s.CertifiedShares(self, own, held, q, u)
}

// CertifiedShares is OpenShares for a caller that checks the certificate for this U and query by
// itself (CheckCertificate): the shares MUST NOT leave the site before. Where the query has a chain
// and self is in U, the caller has made its upload of this very query.
func (s *Setup) CertifiedShares(self int, own SlotSecret, held SlotHeld, q Query, u Survivors) ([]byte, error) {
	h, places, err := s.helper(self, q, u)
	if err != nil {
		return nil, err
	}
	if len(held.b) != len(places) || !s.cfg.Whole() && len(held.e) != len(places) {
		return nil, configError("site %d holds shares of %d sites, the setup gives it %d", self, len(held.b), len(places))
	}
	out := slices.Grow(h.header("shares"), scalarSize*len(places)+chainKeySize)
	for k, at := range places {
		share := held.b[k]
		if !u.Contains(at.Dealer) {
			share = held.e[k]
		}
		out = append(out, share.Bytes()...)
	}
	if h.chained() {
		key := NoiseChain(own, q.Context, s.cfg.sites(), len(u))
		out = append(out, key[:]...)
	}
	return out, nil
}

// Proof shows that self's share of a dealer's secret is the one that the dealer committed to.
// public is Received.Public. It MUST be sent only for a U that shares were sent for in this slot.
func (s *Setup) Proof(self, dealer int, q Query, u Survivors, public []byte) ([]byte, error) {
	h, places, err := s.helper(self, q, u)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(places, func(p graph.Share) bool { return p.Dealer == dealer })
	size := 32 * (1 + s.cfg.shared())
	bodies := size * len(places)
	if at < 0 || len(public) < bodies {
		return nil, configError("site %d holds no share of site %d", self, dealer)
	}
	leaves := public[size*at : size*(at+1)]
	own := 32 * (1 + s.cfg.nth(q.Slot, which(u.Contains(dealer))))
	out := slices.Concat(h.header("proof"), u16(dealer), leaves[:own], leaves[own+32:])
	if s.cfg.sparse() {
		n := s.cfg.bodySize()
		if len(public) < bodies+n*len(places) {
			return nil, configError("the commitments of site %d are not on record", dealer)
		}
		out = append(out, public[bodies+n*at:bodies+n*(at+1)]...)
	}
	return out, nil
}

// which secret of a site an opening takes: b of a survivor, e of another.
func which(in bool) int {
	if in {
		return ofB
	}
	return ofE
}

// Keys are the keys of self's pairs with all its mask neighbors outside of U. self is in U. They
// MUST be sent only for a U that shares were sent for in this slot.
func (s *Setup) Keys(self int, own SlotSecret, held SlotHeld, q Query, u Survivors) ([]byte, error) {
	h, _, err := s.helper(self, q, u)
	if err != nil {
		return nil, err
	}
	owners := s.graph.Owners(self)
	if s.cfg.Whole() || !u.Contains(self) || len(held.keys) != len(owners) {
		return nil, configError("site %d is no survivor with keys of %d owners", self, len(owners))
	}
	out := h.header("keys")
	e := own.secret(ofE, q.Slot, self)
	defer e.Set(zero)
	for _, i := range s.graph.Neighbors(self) {
		if u.Contains(i) {
			continue // never of a pair inside U
		}
		var k [pairKeySize]byte
		if at, ok := slices.BinarySearch(owners, i); ok {
			k = held.keys[at]
		} else {
			k = s.edge(q.Slot, self, i).key(e)
		}
		out = append(out, k[:]...)
	}
	return out, nil
}

var errMessage = errors.New("a message of another query, survivor set or setup")

// parse reads its shares message: the shares, and the key of the chain if there is one.
func (h helper) parse(message []byte) (shares []*edwards25519.Scalar, chain []byte, err error) {
	header, n := h.header("shares"), len(h.s.graph.Held(h.site))
	size := len(header) + scalarSize*n
	if h.chained() {
		size += chainKeySize
	}
	if len(message) != size || !bytes.Equal(message[:len(header)], header) {
		return nil, nil, errMessage
	}
	rest := message[len(header):]
	shares = make([]*edwards25519.Scalar, n)
	for k := range shares {
		if shares[k], err = decodeScalar(rest[:scalarSize]); err != nil {
			return nil, nil, err
		}
		rest = rest[scalarSize:]
	}
	return shares, bytes.Clone(rest), nil
}

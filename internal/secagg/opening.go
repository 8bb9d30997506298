package secagg

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"

	"filippo.io/edwards25519"
)

// A shares message is label ‖ transcript ‖ slot ‖ ctx ‖ H(U) ‖ helper ‖ for each site j whose
// shares the helper holds (Graph.Held, in order) one share of 32 bytes: of b_j for j in U, of m_j
// for j outside U.

func (s *Setup) sharesHeader(helper int, q Query, u Survivors) []byte {
	return append(append([]byte("covey secagg shares v1\x00"), s.releaseBytes(q, u)...), u16(helper)...)
}

// OpenShares returns site self's shares for a certified U: of b_j for the survivors,
// of m_j for the others, never both for one j. Sending them reveals; a site MUST send
// shares for at most one (slot, U) of a query, and the caller's journal says so.
func (s *Setup) OpenShares(self int, held SlotHeld, q Query, u Survivors, cert Certificate) ([]byte, error) {
	if err := s.CheckCertificate(q, u, cert); err != nil {
		return nil, err
	}
	return s.CertifiedShares(self, held, q, u)
}

// CertifiedShares is OpenShares for a caller that has just checked the certificate for this U and
// query (CheckCertificate); it MUST NOT be called otherwise.
func (s *Setup) CertifiedShares(self int, held SlotHeld, q Query, u Survivors) ([]byte, error) {
	if err := s.lawful(q, u); err != nil {
		return nil, err
	}
	if self < 0 || self >= s.cfg.sites() {
		return nil, configError("site %d of %d", self, s.cfg.sites())
	}
	places := s.graph.held[self]
	if len(held.m) != len(places) {
		return nil, configError("site %d holds shares of %d sites, the setup gives it %d", self, len(held.m), len(places))
	}
	out := slices.Grow(s.sharesHeader(self, q, u), 32*len(places))
	in := s.in(u)
	for k, at := range places {
		share := held.m[k]
		if in[at.dealer] {
			share = held.b[k]
		}
		out = append(out, share.Bytes()...)
	}
	return out, nil
}

// in says of each site whether U has it.
func (s *Setup) in(u Survivors) []bool {
	out := make([]bool, s.cfg.sites())
	for _, i := range u {
		out[i] = true
	}
	return out
}

// Opening collects shares for one certified sum and removes its masks. It is
// not safe for concurrent use.
type Opening struct {
	s      *Setup
	q      Query
	u      Survivors
	in     []bool                         // U, by site
	shares map[int][]*edwards25519.Scalar // by helper, then dealer in the order of what it holds
	// of the secrets to open, on the complete graph; made for the first helper
	check  *combination
	have   []int          // by dealer, shares that are in
	short  int            // dealers of whom fewer than the threshold are in
	bodies map[int][]byte // by dealer, on the sparse graph
}

// NewOpening begins the opening of U's sum.
func (s *Setup) NewOpening(q Query, u Survivors) (*Opening, error) {
	if err := s.lawful(q, u); err != nil {
		return nil, err
	}
	return &Opening{s: s, q: q, u: slices.Clone(u), in: s.in(u), shares: map[int][]*edwards25519.Scalar{},
		have: make([]int, s.cfg.sites()), short: s.cfg.sites(), bodies: map[int][]byte{}}, nil
}

// Commit returns the opening a dealer's body, on the sparse graph: with it, wrong shares of that
// dealer's secrets are found. Without it, Unmask says that it is needed (*BodyError). A *SiteError
// is a body that is not the dealer's.
func (o *Opening) Commit(dealer int, body []byte) error {
	if !o.s.cfg.sparse() || dealer < 0 || dealer >= o.s.cfg.sites() || sha256.Sum256(body) != o.s.sites[dealer].body {
		return siteError(dealer, "the commitments are not those of the announcement's head")
	}
	o.bodies[dealer] = body
	return nil
}

// which of the dealer's secrets this opening reveals.
func (o *Opening) which(j int) int {
	if o.in[j] {
		return ofB
	}
	return ofM
}

// revealed is the commitments to that.
func (o *Opening) revealed(j int, a *announced) commitment {
	return [2][]commitment{a.m, a.b}[o.which(j)][o.q.Slot]
}

// Add takes one helper's shares. On the complete graph they are checked against the dealers'
// commitments by a random combination of all of them; on the sparse one, where each helper's stand
// elsewhere, Unmask alone checks. A *SiteError names a helper whose are wrong; nothing is changed
// then. A helper's second message counts for nothing.
func (o *Opening) Add(from int, message []byte) error {
	n := o.s.cfg.sites()
	if from < 0 || from >= n {
		return siteError(from, "no such site")
	}
	if o.shares[from] != nil {
		return nil
	}
	places := o.s.graph.held[from]
	shares, err := parseShares(message, o.s.sharesHeader(from, o.q, o.u), len(places))
	if err != nil {
		return &SiteError{from, err}
	}
	if !o.s.cfg.sparse() {
		if o.check == nil {
			dealers := make([]commitment, n)
			for j := range dealers {
				dealers[j] = o.revealed(j, &o.s.sites[j])
			}
			o.check = combine(dealers)
		}
		if !o.check.fits(from+1, shares) {
			return siteError(from, "a share does not fit its dealer's commitment")
		}
	}
	o.shares[from] = shares
	for _, at := range places {
		if o.have[at.dealer]++; o.have[at.dealer] == o.s.cfg.threshold() {
			o.short--
		}
	}
	return nil
}

// Erase overwrites the shares: the opening opens nothing any more, and is not to be used again.
func (o *Opening) Erase() {
	for _, shares := range o.shares {
		erase(shares)
	}
	clear(o.shares)
}

func erase(secrets []*edwards25519.Scalar) {
	for _, s := range secrets {
		if s != nil {
			s.Set(zero)
		}
	}
}

// forget takes a helper's shares out again.
func (o *Opening) forget(helper int) {
	delete(o.shares, helper)
	for _, at := range o.s.graph.held[helper] {
		if o.have[at.dealer]--; o.have[at.dealer] == o.s.cfg.threshold()-1 {
			o.short++
		}
	}
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

// Ready reports whether of each site's secret enough shares are in.
func (o *Opening) Ready() bool { return o.short == 0 }

// Unmask removes, in place, all masks from the sum over U of the uploads: the self masks of U, and
// the pair masks between U and the sites outside. Each opened secret is compared with its
// commitment, exactly, so that no sum is opened wrongly whatever passed Add; a *SiteError then
// names the helper, whose shares are forgotten, and the sum is as it was. It is as it was after a
// *BodyError too, which names the dealer whose body is needed to tell.
func (o *Opening) Unmask(sum []uint64) error {
	s := o.s
	if !o.Ready() {
		return &NotReadyError{len(o.shares), s.cfg.threshold()}
	}
	if len(sum) != o.q.Lanes {
		return configError("a sum of %d lanes, the query has %d", len(sum), o.q.Lanes)
	}
	secrets, err := o.secrets()
	if err != nil {
		return err
	}
	defer erase(secrets)
	var streams []keystream
	outside := make([][]int, len(secrets)) // by survivor, its mask neighbours that are not
	for j, secret := range secrets {
		if o.in[j] {
			streams = append(streams, newKeystream(s.selfKey(secret, j, o.q), true))
			continue
		}
		for _, i := range s.graph.neighbours[j] {
			if o.in[i] {
				outside[i] = append(outside[i], j)
			}
		}
	}
	for _, i := range o.u {
		if len(outside[i]) == 0 {
			continue
		}
		table := newMultiples(s.cleared(i, o.q.Slot))
		for _, j := range outside[i] {
			// Site i added PRG(k_ij) for j < i and subtracted it for j > i.
			key := s.pairKey(table.mult(secrets[j]).Bytes(), j, i, o.q)
			streams = append(streams, newKeystream(key, j < i))
		}
	}
	addKeystreams(sum, o.q.Bits, streams)
	return nil
}

// placed is a share where it stands, and whose it is.
type placed struct {
	helper, x int
	share     *edwards25519.Scalar
}

// byDealer returns threshold shares of each dealer's secret: those that stand first, which are the
// same places for many dealers when few are missing.
func (o *Opening) byDealer() [][]placed {
	out := make([][]placed, o.s.cfg.sites())
	for j, holders := range o.s.graph.holders {
		out[j] = make([]placed, 0, o.s.cfg.threshold())
		for k, helper := range holders {
			shares := o.shares[int(helper)]
			if shares == nil || len(out[j]) == cap(out[j]) {
				continue
			}
			held := o.s.graph.held[helper]
			at, _ := slices.BinarySearchFunc(held, uint16(j), func(s share, j uint16) int { return int(s.dealer) - int(j) })
			out[j] = append(out[j], placed{int(helper), k + 1, shares[at]})
		}
	}
	return out
}

// secrets interpolates what the helpers' shares open, by site.
func (o *Opening) secrets() ([]*edwards25519.Scalar, error) {
	secrets := make([]*edwards25519.Scalar, o.s.cfg.sites())
	in := newInterpolation(o.s.graph.numbers.Holders)
	var points []int
	var coefficients []*edwards25519.Scalar
	for j, shares := range o.byDealer() {
		if !slices.EqualFunc(points, shares, func(x int, p placed) bool { return x == p.x }) {
			points = points[:0]
			for _, p := range shares {
				points = append(points, p.x)
			}
			coefficients = in.at(points)
		}
		secret := edwards25519.NewScalar()
		for a, p := range shares {
			secret.MultiplyAdd(coefficients[a], p.share, secret)
		}
		if new(edwards25519.Point).ScalarBaseMult(secret).Equal(o.s.sites[j].point(o.q.Slot, o.which(j))) != 1 {
			return nil, o.blame(j, shares)
		}
		secrets[j] = secret
	}
	return secrets, nil
}

// blame finds the helper whose share of j's secret is wrong. On the complete graph Add lets one
// pass with probability 2^-66.
func (o *Opening) blame(j int, shares []placed) error {
	dealer := o.s.sites[j]
	if o.s.cfg.sparse() {
		body, ok := o.bodies[j]
		if !ok {
			return &BodyError{j}
		}
		var err error
		if dealer, err = o.s.commitments(j, body); err != nil {
			return &SiteError{j, err} // its holders confirmed it in the setup: they are all corrupt
		}
	}
	for _, p := range shares {
		if !o.revealed(j, &dealer).fits(p.x, p.share) {
			o.forget(p.helper)
			return siteError(p.helper, "a share does not fit its dealer's commitment")
		}
	}
	return siteError(j, "the opened secret does not fit its commitment")
}

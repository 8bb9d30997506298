package secagg

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"io"
	"slices"

	"filippo.io/edwards25519"

	"covey/internal/graph"
)

// Opening collects what opens one certified sum, and removes its masks. It is not safe for
// concurrent use.
//
// Each dealer's secret is interpolated of the first T shares and compared with its commitment,
// exactly. Only if one does not fit do its helpers have to prove their shares; if all can, the
// dealer shared another secret than it committed to. A site outside U whose keys do not fit their
// tags is convicted, and its neighbors in U are asked for the keys. No key is taken that does not
// give its tag: the sum, and so its noise, is a function of what the log holds.
type Opening struct {
	s    *Setup
	q    Query
	u    Survivors
	in   []bool // U, by site
	kept Kept

	shares map[int][]*edwards25519.Scalar // by helper, then dealer in the order of what it holds
	chains map[int][chainKeySize]byte     // by helper
	have   []int                          // by dealer, shares that are in
	short  int                            // dealers of whom fewer than the threshold are in
	// by dealer, the helpers that proved their shares
	proven  map[int]map[int]bool
	dropped map[int]bool // helpers whose shares were wrong: they no longer count
	// dealers outside U whose e is not what they committed to, or misses a tag
	convicted []bool
	keys      map[pair][pairKeySize]byte // of survivors, that give their tags
}

// Format prints [redacted] for every verb.
func (Opening) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps what opens a sum out of JSON and structured logs.
func (Opening) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// pair is a site outside U and one inside.
type pair struct{ outside, inside int }

// NewOpening begins the opening of U's sum. kept is empty where the setup is whole.
func (s *Setup) NewOpening(q Query, u Survivors, kept Kept) (*Opening, error) {
	if err := s.lawful(q, u); err != nil {
		return nil, err
	}
	n := s.cfg.sites()
	for _, list := range [][][]byte{kept.Tags, kept.TagHashes, kept.Deposits} {
		if len(list) != n && !(s.cfg.Whole() && list == nil) {
			return nil, configError("tags and deposits of %d sites, must be %d", len(list), n)
		}
	}
	in := make([]bool, n)
	for _, i := range u {
		in[i] = true
	}
	return &Opening{
		s: s, q: q, u: slices.Clone(u), in: in, kept: kept,
		shares: map[int][]*edwards25519.Scalar{}, chains: map[int][chainKeySize]byte{}, have: make([]int, n), short: n,
		proven: map[int]map[int]bool{}, dropped: map[int]bool{}, convicted: make([]bool, n), keys: map[pair][pairKeySize]byte{},
	}, nil
}

// Keep replaces the tags and deposits by what is at hand now: after a *TagsError.
func (o *Opening) Keep(kept Kept) { o.kept = kept }

func (o *Opening) helper(site int) helper { return helper{o.s, site, o.q, o.u} }

// Add takes one helper's shares. Whether they are right shows when the sum is opened. A *SiteError
// names a helper whose message does not parse, or whose shares were wrong before; nothing is
// changed then. A helper's second message counts for nothing.
func (o *Opening) Add(from int, message []byte) error {
	if from < 0 || from >= o.s.cfg.sites() {
		return siteError(from, "no such site")
	}
	if o.dropped[from] {
		return &SiteError{from, errShares}
	}
	if o.shares[from] != nil {
		return nil
	}
	shares, chain, err := o.helper(from).parse(message)
	if err != nil {
		return &SiteError{from, err}
	}
	o.shares[from] = shares
	if len(chain) > 0 {
		o.chains[from] = [chainKeySize]byte(chain)
	}
	for _, at := range o.s.graph.Held(from) {
		if o.have[at.Dealer]++; o.have[at.Dealer] == o.s.cfg.threshold() {
			o.short--
		}
	}
	return nil
}

// Drop removes a helper's shares, and its proofs of them, as if they had not come: a proof belongs
// to the share that was sent, and the next may differ. Its key of the chain stays: that is the
// site's own.
func (o *Opening) Drop(helper int) {
	if o.shares[helper] == nil {
		return
	}
	erase(o.shares[helper])
	delete(o.shares, helper)
	for _, by := range o.proven {
		delete(by, helper)
	}
	for _, at := range o.s.graph.Held(helper) {
		if o.have[at.Dealer]--; o.have[at.Dealer] == o.s.cfg.threshold()-1 {
			o.short++
		}
	}
}

// Helpers is how many sites' shares are in.
func (o *Opening) Helpers() int { return len(o.shares) }

// Ready reports whether of each site's secret enough shares are in.
func (o *Opening) Ready() bool { return o.short == 0 }

// Convicted are the sites outside U that signed tags which their e does not give, or deposited
// other keys than they checked; ascending.
func (o *Opening) Convicted() []int {
	var out []int
	for i, is := range o.convicted {
		if is {
			out = append(out, i)
		}
	}
	return out
}

// Chain is the key of the noise that a survivor's shares take away; false if none came.
func (o *Opening) Chain(site int) ([32]byte, bool) {
	key, ok := o.chains[site]
	return key, ok
}

// Erase overwrites what opens the sum: the opening opens nothing any more, and must not be used
// again.
func (o *Opening) Erase() {
	for _, shares := range o.shares {
		erase(shares)
	}
	for p := range o.keys {
		o.keys[p] = [pairKeySize]byte{} // in place
	}
	for i := range o.chains {
		o.chains[i] = [chainKeySize]byte{}
	}
	clear(o.shares)
	clear(o.chains)
	clear(o.keys)
}

// AddProof takes a helper's proof of its share of a dealer's secret. A *SiteError names a helper
// whose share or proof is wrong: its shares are forgotten, of all dealers. A proof that nobody
// asked for, or of a helper without shares, counts for nothing; so does a second one.
func (o *Opening) AddProof(from int, message []byte) error {
	s := o.s
	if from < 0 || from >= s.cfg.sites() {
		return siteError(from, "no such site")
	}
	shares := o.shares[from]
	if shares == nil {
		return nil
	}
	wrong := func(err error) error {
		o.Drop(from)
		o.dropped[from] = true
		return &SiteError{from, err}
	}
	header := o.helper(from).header("proof")
	size := len(header) + 2 + 32*s.cfg.shared()
	if s.cfg.sparse() {
		size += s.cfg.bodySize()
	}
	if len(message) != size || !bytes.Equal(message[:len(header)], header) {
		return wrong(errMessage)
	}
	rest := message[len(header):]
	dealer := int(rest[0])<<8 | int(rest[1])
	at, x, ok := s.graph.Find(from, dealer)
	if !ok {
		return wrong(errMessage)
	}
	if o.proven[dealer] == nil || o.proven[dealer][from] {
		return nil
	}
	others, raw := rest[2:2+32*s.cfg.shared()], rest[2+32*s.cfg.shared():]
	b, err := s.body(dealer, raw)
	if err != nil {
		return wrong(err)
	}
	commit := committer{s.sites[dealer].header}
	own := 32 * (1 + s.cfg.nth(o.q.Slot, which(o.in[dealer])))
	leaf := commit.leaf(x, o.q.Slot, which(o.in[dealer]), shares[at])
	place := commit.place(x, slices.Concat(others[:own], leaf[:], others[own:]))
	if !bytes.Equal(place[:], b.place(x)) {
		return wrong(errShares)
	}
	o.proven[dealer][from] = true
	return nil
}

// AddKeys takes a survivor's keys of its pairs with sites outside U. A *SiteError names a survivor
// whose message does not parse, or one of whose keys misses its tag; nothing is changed then.
func (o *Opening) AddKeys(from int, message []byte) error {
	s := o.s
	if from < 0 || from >= s.cfg.sites() || !o.in[from] || s.cfg.Whole() {
		return siteError(from, "no survivor's keys")
	}
	header := o.helper(from).header("keys")
	outside := slices.DeleteFunc(s.graph.Neighbors(from), func(i int) bool { return o.in[i] })
	if len(message) != len(header)+pairKeySize*len(outside) || !bytes.Equal(message[:len(header)], header) {
		return &SiteError{from, errMessage}
	}
	taken := map[pair][pairKeySize]byte{}
	for k, i := range outside {
		key := [pairKeySize]byte(message[len(header)+pairKeySize*k:])
		switch fits, known := o.fitsTag(i, from, key); {
		case known && !fits:
			return &SiteError{from, errTag}
		case known:
			taken[pair{i, from}] = key
		}
	}
	for p, key := range taken {
		o.keys[p] = key
	}
	return nil
}

// tags returns an owner's tags, or nil if they are missing or have another length: nobody could
// tell which key yields which.
func (o *Opening) tags(owner int) []byte {
	if owner < len(o.kept.Tags) && len(o.kept.Tags[owner]) == o.s.tagsSize(owner) {
		return o.kept.Tags[owner]
	}
	return nil
}

// fitsTag reports whether a key gives its pair's tag; known is false if the tag is not at hand.
func (o *Opening) fitsTag(i, j int, key [pairKeySize]byte) (fits, known bool) {
	s, owner, other := o.s, graph.OwnerOf(i, j), i
	if owner == i {
		other = j
	}
	tags := o.tags(owner)
	at, ok := slices.BinarySearch(s.graph.Owned(owner), other)
	if !ok || tags == nil {
		return false, false
	}
	t := s.edge(o.q.Slot, i, j).tag(key)
	return subtle.ConstantTimeCompare(t[:], tags[tagSize*(at*s.cfg.Slots+o.q.Slot):][:tagSize]) == 1, true
}

// Unmask removes, in place, all masks from the sum over U of the uploads: the self masks of U, and
// the pair masks between U and the sites outside. The sum is as it was after every error:
// *NotReadyError, *ProofsError, *KeysError and *TagsError say what is needed to go on, *DealerError
// that nothing will open it.
func (o *Opening) Unmask(sum []uint64) error {
	s := o.s
	if !o.Ready() {
		return &NotReadyError{len(o.shares), s.cfg.threshold()}
	}
	if len(sum) != o.q.Lanes {
		return configError("a sum of %d lanes, the query has %d", len(sum), o.q.Lanes)
	}
	secrets, err := o.secrets()
	defer erase(secrets)
	if err != nil {
		return err
	}
	pairs, err := o.pairs(secrets)
	if err != nil {
		return err
	}
	streams := make([]keystream, 0, len(o.u)+len(pairs))
	for _, j := range o.u {
		streams = append(streams, newKeystream(s.selfKey(secrets[j], j, o.q), true))
	}
	for p, key := range pairs {
		// The survivor added PRG(k) for a neighbor below it, and subtracted it for one above.
		streams = append(streams, newKeystream(maskKey(key, p.outside, p.inside, o.q), p.outside < p.inside))
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
	for j := range out {
		out[j] = make([]placed, 0, o.s.cfg.threshold())
		for _, helper := range o.s.graph.Holders(j) {
			shares := o.shares[helper]
			if shares == nil || len(out[j]) == cap(out[j]) {
				continue
			}
			at, x, _ := o.s.graph.Find(helper, j)
			out[j] = append(out[j], placed{helper, x, shares[at]})
		}
	}
	return out
}

// secrets interpolates what the helpers' shares open, by site: nil of a dealer outside U that is
// convicted.
func (o *Opening) secrets() ([]*edwards25519.Scalar, error) {
	s := o.s
	secrets := make([]*edwards25519.Scalar, s.cfg.sites())
	in := newInterpolation(s.cfg.holders())
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
		if s.opens(j, o.q.Slot, which(o.in[j]), secret.Bytes()) {
			secrets[j] = secret
			continue
		}
		if err := o.misses(j, shares); err != nil {
			return secrets, err
		}
	}
	return secrets, nil
}

// misses is for a dealer whose secret is not the one that it committed to: its helpers have to
// prove their shares. If all have, the dealer is guilty, which is an error if it is in U.
func (o *Opening) misses(dealer int, shares []placed) error {
	if o.proven[dealer] == nil {
		o.proven[dealer] = map[int]bool{}
	}
	var helpers []int
	for _, p := range shares {
		if !o.proven[dealer][p.helper] {
			helpers = append(helpers, p.helper)
		}
	}
	switch {
	case helpers != nil:
		slices.Sort(helpers)
		return &ProofsError{dealer, helpers}
	case o.in[dealer]:
		return &DealerError{dealer}
	}
	o.convicted[dealer] = true
	return nil
}

// pairs returns the key of each pair of a site outside U with one inside: from what e of the site
// outside gives, which its own pairs' keys are and its deposits are under, or from the survivor.
func (o *Opening) pairs(secrets []*edwards25519.Scalar) (map[pair][pairKeySize]byte, error) {
	s := o.s
	pairs := map[pair][pairKeySize]byte{}
	lost := map[pair]bool{} // to be had of the survivor
	var tags []int          // owners whose tags are needed
	for i, is := range o.in {
		if is {
			continue
		}
		var found map[pair][pairKeySize]byte
		if secrets[i] != nil {
			var missing []int
			found, missing = o.pairsOf(i, secrets[i])
			tags = append(tags, missing...)
		}
		for _, at := range s.graph.Neighbors(i) {
			p := pair{i, at}
			if !o.in[at] {
				continue
			}
			if key, ok := found[p]; ok && !o.convicted[i] {
				pairs[p] = key
			} else if key, ok := o.keys[p]; ok {
				pairs[p] = key
			} else if !slices.Contains(tags, p.inside) {
				lost[p] = true
			}
		}
	}
	if len(tags) > 0 {
		slices.Sort(tags)
		return nil, &TagsError{slices.Compact(tags)}
	}
	if len(lost) == 0 {
		return pairs, nil
	}
	var from []int
	for p := range lost {
		if owner := graph.OwnerOf(p.outside, p.inside); o.tags(owner) == nil {
			tags = append(tags, owner) // no key of this pair can be checked
		}
		from = append(from, p.inside)
	}
	if len(tags) > 0 {
		slices.Sort(tags)
		return nil, &TagsError{slices.Compact(tags)}
	}
	slices.Sort(from)
	return nil, &KeysError{slices.Compact(from)}
}

// pairsOf returns the keys of a missing site's pairs with survivors that its e gives, as far as
// they give their tags, and whose tags are needed and not at hand. A key or deposit that misses its
// tag convicts the site: it signed the tags of its own pairs, and checked the others before it
// deposited them. With neither its tags nor their hash nothing is taken of it, and nothing held
// against it.
func (o *Opening) pairsOf(i int, e *edwards25519.Scalar) (found map[pair][pairKeySize]byte, missing []int) {
	s := o.s
	found = map[pair][pairKeySize]byte{}
	slot := o.q.Slot
	if o.tags(i) == nil && s.tagsSize(i) > 0 {
		if i >= len(o.kept.TagHashes) || len(o.kept.TagHashes[i]) != 32*s.cfg.Slots {
			return nil, []int{i}
		}
		// All tags of the slot follow from e, and the log has their hash.
		var tags []byte
		for _, j := range s.graph.Owned(i) {
			p := s.edge(slot, i, j)
			t := p.tag(p.key(e))
			tags = append(tags, t[:]...)
		}
		h := s.tagHash(i, slot, tags)
		if !bytes.Equal(h[:], o.kept.TagHashes[i][32*slot:32*(slot+1)]) {
			o.convicted[i] = true
			return found, nil
		}
	}
	for _, j := range s.graph.Owned(i) {
		if !o.in[j] {
			continue
		}
		key := s.edge(slot, i, j).key(e)
		if fits, known := o.fitsTag(i, j, key); known && !fits {
			o.convicted[i] = true
			return found, nil
		}
		found[pair{i, j}] = key
	}
	if i >= len(o.kept.Deposits) || len(o.kept.Deposits[i]) != s.depositsSize(i) {
		return found, nil // lost: the survivors have the keys
	}
	deposits := o.kept.Deposits[i]
	for at, j := range s.graph.Owners(i) {
		if !o.in[j] {
			continue
		}
		d := [pairKeySize]byte(deposits[pairKeySize*(at*s.cfg.Slots+slot):])
		key := xor(d, s.edge(slot, i, j).pad(e))
		switch fits, known := o.fitsTag(i, j, key); {
		case !known:
			missing = append(missing, j)
		case !fits:
			o.convicted[i] = true
			return found, nil
		default:
			found[pair{i, j}] = key
		}
	}
	return found, missing
}

package secagg

import (
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/subtle"
	"errors"
	"slices"

	"covey/internal/graph"
)

// Received is what site self keeps of the boxes that it accepted. The caller stores all of it in
// one transaction, before the confirmation leaves, and from then on answers with what is stored.
type Received struct {
	Held Held // secret: by slot, to be erased with it
	// Public is not secret: by dealer the leaves of its shares at this site's place, on the sparse
	// graph the dealers' bodies, and of each owner what it signed with its tags.
	Public []byte
	// Deposits are the keys of the pairs that others own, under pads of the site's own e, in the
	// order of Graph.Owners, by slot; Statement signs them and the tags that they fit. Nil where
	// the setup is whole.
	Deposits, Statement []byte
	Confirmation        []byte // signs the transcript
}

// Receive opens the boxes for site self, in the order of Graph.Senders, and checks all that is in
// them: every share against what its dealer committed to, all of a dealer's shares against its
// combination, every key against its tag. bodies are the commitments of the dealers whose shares it
// holds, in the order of Graph.Held, on the sparse graph; nil on the complete one, where the
// announcements have them. A *SiteError names the first sender whose box does not hold
// (Accusation proves it), a *RelayError is a box or body that is not its sender's.
func (s *Setup) Receive(self int, sec Secrets, key ed25519.PrivateKey, boxes, bodies [][]byte) (*Received, error) {
	if err := s.fits(self, sec); err != nil {
		return nil, err
	}
	senders, places, owners := s.graph.Senders(self), s.graph.Held(self), s.graph.Owners(self)
	if len(boxes) != len(senders) || s.cfg.sparse() != (bodies != nil) || bodies != nil && len(bodies) != len(places) {
		return nil, configError("%d boxes of %d senders and %d bodies of %d dealers", len(boxes), len(senders), len(bodies), len(places))
	}
	seal, err := mlkem.NewDecapsulationKey768(sec.Seal[:])
	if err != nil {
		return nil, configError("ML-KEM seed: %v", err)
	}
	body := func(dealer int) []byte {
		if bodies == nil {
			return nil
		}
		at := slices.IndexFunc(places, func(p graph.Share) bool { return p.Dealer == dealer })
		return bodies[at]
	}
	opened := make([]opened, len(senders))
	errs := make([]error, len(senders))
	atOnce(len(senders), func(i int) {
		var of []byte
		if s.sealsShares(senders[i], self) {
			of = body(senders[i])
		}
		opened[i], errs[i] = s.receive(senders[i], self, &sec.Transport, seal, boxes[i], of)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	r := &Received{Held: make(Held, s.cfg.Slots)}
	for _, at := range places {
		var of *openedOf
		if at.Dealer == self {
			if of, err = s.own(self, at.X, sec, body(self)); err != nil {
				return nil, err
			}
		} else {
			i, _ := slices.BinarySearch(senders, at.Dealer)
			of = &opened[i].openedOf
		}
		r.Public = append(r.Public, of.leaves...)
		for slot := range r.Held {
			h, from := &r.Held[slot], &of.shares[slot]
			h.b, h.e = append(h.b, from.b...), append(h.e, from.e...)
		}
	}
	for _, b := range bodies {
		r.Public = append(r.Public, b...)
	}
	var tags [][]byte
	for _, o := range owners {
		i, _ := slices.BinarySearch(senders, o)
		for slot := range r.Held {
			r.Held[slot].keys = append(r.Held[slot].keys, opened[i].keys[slot])
		}
		p := opened[i].parcel
		hash := p.sealedHash()
		r.Public = slices.Concat(r.Public, hash[:], p.signature, p.tags)
		tags = append(tags, p.tags)
	}
	if !s.cfg.Whole() {
		r.Deposits = s.deposits(self, sec, owners, r.Held)
		r.Statement = ed25519.Sign(key, s.statement(self, r.Deposits, tags))
	}
	r.Confirmation = s.Confirm(self, key)
	return r, nil
}

// openedOf is one dealer's shares at one place, one dealer in each slot, and the place's leaves.
type openedOf struct {
	shares []SlotHeld
	leaves []byte
}

// opened is what was in one box.
type opened struct {
	openedOf
	keys   [][pairKeySize]byte // by slot
	parcel parcel
}

// own is a site's own share of its own secrets, on the complete graph.
func (s *Setup) own(self, x int, sec Secrets, raw []byte) (*openedOf, error) {
	b, err := s.body(self, raw)
	if err != nil {
		return nil, err
	}
	of := &openedOf{shares: make([]SlotHeld, s.cfg.Slots)}
	at := scalarOf(uint64(x))
	for slot := range sec.Slots {
		h := &of.shares[slot]
		for which := range s.cfg.kinds() {
			p := sec.Slots[slot].polynomial(which, slot, self, s.cfg.threshold())
			h.add(which, p.at(at))
			p.erase()
		}
	}
	var ok bool
	if of.leaves, ok = s.dealt(self, x, b, s.challenge(self, b), of.shares); !ok {
		return nil, configError("the secrets are not those that site %d announced", self)
	}
	return of, nil
}

var (
	errShares = errors.New("shares that are not those of the dealer's announcement")
	errTag    = errors.New("a key of a pair that does not fit its tag")
)

// receive opens and checks one box.
func (s *Setup) receive(from, to int, transport *[32]byte, seal *mlkem.DecapsulationKey768, box, rawBody []byte) (opened, error) {
	p, err := s.unwrap(from, to, box)
	if err != nil {
		return opened{}, err
	}
	var b body
	if s.sealsShares(from, to) {
		if b, err = s.body(from, rawBody); err != nil {
			return opened{}, err
		}
	}
	plain, err := s.open(from, to, transport, seal, p)
	if err != nil {
		return opened{}, &SiteError{from, err}
	}
	defer clear(plain)
	o := opened{parcel: p}
	if _, x, ok := s.graph.Find(to, from); ok {
		o.shares = make([]SlotHeld, s.cfg.Slots)
		for slot := range o.shares {
			for which := range s.cfg.kinds() {
				share, err := decodeScalar(plain[:scalarSize])
				if err != nil {
					return opened{}, &SiteError{from, err}
				}
				o.shares[slot].add(which, share)
				plain = plain[scalarSize:]
			}
		}
		var ok bool
		if o.leaves, ok = s.dealt(from, x, b, s.challenge(from, b), o.shares); !ok {
			return opened{}, &SiteError{from, errShares}
		}
	}
	for slot := 0; len(plain) > 0; slot++ {
		k := [pairKeySize]byte(plain)
		plain = plain[pairKeySize:]
		if !s.cfg.Whole() {
			t := s.tag(k, slot, from, to)
			if subtle.ConstantTimeCompare(t[:], p.tags[tagSize*slot:][:tagSize]) != 1 {
				return opened{}, &SiteError{from, errTag}
			}
		}
		o.keys = append(o.keys, k)
	}
	return o, nil
}

// confirmation is what a site signs once it holds all shares and keys.
func (s *Setup) confirmation(site int) []byte {
	return append(append([]byte("covey secagg confirmation v2\x00"), s.transcript[:]...), u16(site)...)
}

// Confirm signs the transcript. A site confirms what it has received and checked, and stored
// (Receive).
func (s *Setup) Confirm(self int, key ed25519.PrivateKey) []byte {
	return ed25519.Sign(key, s.confirmation(self))
}

// CheckConfirmation checks one site's.
func (s *Setup) CheckConfirmation(site int, signature []byte) error {
	if site < 0 || site >= s.cfg.sites() || !ed25519.Verify(s.cfg.Identity[site], s.confirmation(site), signature) {
		return siteError(site, "the confirmation is wrong")
	}
	return nil
}

// CheckConfirmations checks all N. No upload may leave before.
func (s *Setup) CheckConfirmations(signatures [][]byte) error {
	if len(signatures) != s.cfg.sites() {
		return configError("%d confirmations of %d sites", len(signatures), s.cfg.sites())
	}
	for i, signature := range signatures {
		if err := s.CheckConfirmation(i, signature); err != nil {
			return err
		}
	}
	return nil
}

package secagg

import (
	"crypto/ecdh"
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
	transport, err := sec.transport()
	if err != nil {
		return nil, err
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
	opened, err := s.openAll(self, senders, boxes, body, transport, seal)
	if err != nil {
		return nil, err
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

// openAll opens the senders' boxes, in their order, and checks what is in each. The error is that
// of the first sender whose box does not hold.
func (s *Setup) openAll(self int, senders []int, boxes [][]byte, body func(dealer int) []byte, transport *ecdh.PrivateKey, seal *mlkem.DecapsulationKey768) ([]opened, error) {
	ways := make([]passage, len(senders))
	for i, from := range senders {
		ways[i] = s.passage(from, self)
	}
	parcels, wrong := s.unwrap(ways, boxes)
	out := make([]opened, len(senders))
	errs := make([]error, len(parcels))
	atOnce(len(parcels), func(i int) {
		var of []byte
		if ways[i].shares() {
			of = body(senders[i])
		}
		out[i], errs[i] = ways[i].receive(transport, seal, parcels[i], of)
	})
	for _, err := range append(errs, wrong) {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
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
	if of.leaves, ok = s.sites[self].dealt(s.cfg, x, b, of.shares); !ok {
		return nil, configError("the secrets are not those that site %d announced", self)
	}
	return of, nil
}

var (
	errShares = errors.New("shares that are not those of the dealer's announcement")
	errTag    = errors.New("a key of a pair that does not fit its tag")
)

// receive opens and checks one box, which was unwrapped.
func (w passage) receive(transport *ecdh.PrivateKey, seal *mlkem.DecapsulationKey768, p parcel, rawBody []byte) (opened, error) {
	s, from, to := w.s, w.from, w.to
	var b body
	if w.shares() {
		var err error
		if b, err = s.body(from, rawBody); err != nil {
			return opened{}, err
		}
	}
	plain, err := w.open(transport, seal, p)
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
		if o.leaves, ok = s.sites[from].dealt(s.cfg, x, b, o.shares); !ok {
			return opened{}, &SiteError{from, errShares}
		}
	}
	for slot := 0; len(plain) > 0; slot++ {
		k := [pairKeySize]byte(plain)
		plain = plain[pairKeySize:]
		if !s.cfg.Whole() {
			t := s.edge(slot, from, to).tag(k)
			if subtle.ConstantTimeCompare(t[:], p.tags[tagSize*slot:][:tagSize]) != 1 {
				return opened{}, &SiteError{from, errTag}
			}
		}
		o.keys = append(o.keys, k)
	}
	return o, nil
}

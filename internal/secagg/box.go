package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"errors"

	"filippo.io/edwards25519"
)

// A box is the AES-256-GCM sealing of a dealer's shares for one recipient: for
// each slot the share of m (32) and of b (32).

// seal returns the AEAD of one direction. Its key is for this transcript, these two
// sites in this order, and seals one plaintext, so the nonce is constant.
func (s *Setup) seal(own [32]byte, self, from, to int) (cipher.AEAD, []byte, error) {
	other := from
	if from == self {
		other = to
	}
	private, err := ecdh.X25519().NewPrivateKey(own[:])
	if err != nil {
		return nil, nil, configError("transport key: %v", err)
	}
	secret, err := private.ECDH(s.sites[other].transport)
	if err != nil {
		return nil, nil, &SiteError{other, errors.New("a transport key of low order")}
	}
	key := derive(secret, s.transcript[:], "box", 32, u16(from), u16(to),
		s.sites[from].transport.Bytes(), s.sites[to].transport.Bytes())
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	aead, err := cipher.NewGCM(block)
	return aead, append(append(s.transcript[:len(s.transcript):len(s.transcript)], u16(from)...), u16(to)...), err
}

func (s *Setup) fits(self int, sec Secrets) error {
	if self < 0 || self >= s.cfg.sites() || len(sec.Slots) != s.cfg.Slots {
		return configError("site %d with %d slots does not fit the setup", self, len(sec.Slots))
	}
	return nil
}

// dealt evaluates self's polynomials at the given x, in their order: each SlotHeld has
// one dealer.
func (s *Setup) dealt(self int, sec Secrets, points ...int) []Held {
	held := make([]Held, len(points))
	for slot, secret := range sec.Slots {
		m, b := secret.polynomials(slot, self, s.cfg.threshold())
		for i, at := range points {
			x := scalarOf(uint64(at))
			held[i] = append(held[i], SlotHeld{m: polynomial{m.at(x)}, b: polynomial{b.at(x)}})
		}
	}
	return held
}

// Deal returns site self's boxes in the order of its holders, nil for itself: on the complete graph
// by recipient. It is a function of its arguments: a resend is the same bytes.
func (s *Setup) Deal(self int, sec Secrets) ([][]byte, error) {
	if err := s.fits(self, sec); err != nil {
		return nil, err
	}
	holders := s.graph.Holders(self)
	boxes := make([][]byte, len(holders))
	points := make([]int, 0, len(holders))
	for i, to := range holders {
		if to != self {
			points = append(points, i+1)
		}
	}
	for k, held := range s.dealt(self, sec, points...) {
		i := points[k] - 1
		var err error
		if boxes[i], err = s.box(self, holders[i], sec, held); err != nil {
			return nil, err
		}
	}
	return boxes, nil
}

// box seals one dealer's shares for one recipient.
func (s *Setup) box(dealer, to int, sec Secrets, held Held) ([]byte, error) {
	aead, bound, err := s.seal(sec.Transport, dealer, dealer, to)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, 0, 64*len(held))
	for _, h := range held {
		plain = append(append(plain, h.m[0].Bytes()...), h.b[0].Bytes()...)
	}
	defer clear(plain)
	return aead.Seal(nil, make([]byte, aead.NonceSize()), plain, bound), nil
}

// Receive opens the boxes for site self, by dealer in the order of what it holds (Graph.Held), and
// checks every share against its dealer's signed commitments, each exactly. A *SiteError names the
// first dealer whose do not hold. Self's own shares are made from its secrets. bodies are the same
// dealers' on the sparse graph, in the same order, and nil on the complete one, where the
// announcements hold them.
func (s *Setup) Receive(self int, sec Secrets, boxes, bodies [][]byte) (Held, error) {
	if err := s.fits(self, sec); err != nil {
		return nil, err
	}
	places := s.graph.Held(self)
	if len(boxes) != len(places) || s.cfg.sparse() && len(bodies) != len(places) {
		return nil, configError("%d boxes and %d bodies of %d dealers", len(boxes), len(bodies), len(places))
	}
	held := make(Held, s.cfg.Slots)
	for first := 0; first < len(places); {
		end := first + s.receiveAtOnce()
		end = min(end, len(places))
		committed, err := s.committed(places[first:end], bodies[min(first, len(bodies)):])
		if err != nil {
			return nil, err
		}
		for i := first; i < end; i++ {
			var box []byte
			if places[i].Dealer != self {
				box = boxes[i]
			}
			if err := s.receive(self, sec, places[i], box, committed[i-first], held); err != nil {
				return nil, err
			}
		}
		first = end
	}
	return held, nil
}

// receiveAtOnce is how many dealers' commitments are held in memory, 160 bytes a point, and
// checked in one batch.
func (s *Setup) receiveAtOnce() int { return max(1, 1<<14/(2*s.cfg.Slots*s.cfg.threshold())) }

// committed returns the dealers' commitments: those of the announcements, or of the bodies in
// the same order, checked to be of the prime-order subgroup.
func (s *Setup) committed(places []Share, bodies [][]byte) ([]announced, error) {
	out := make([]announced, len(places))
	var points []*edwards25519.Point
	for i, at := range places {
		if out[i] = s.sites[at.Dealer]; !s.cfg.sparse() {
			continue
		}
		var err error
		if out[i], err = s.commitments(at.Dealer, bodies[i]); err != nil {
			return nil, &SiteError{at.Dealer, err}
		}
		points = append(points, out[i].points()...)
	}
	if inSubgroup(points) {
		return out, nil
	}
	for i, at := range places {
		if !inSubgroup(out[i].points()) {
			return nil, &SiteError{at.Dealer, errOrder}
		}
	}
	return nil, errOrder // each dealer's batch missed, with probability 2^-128
}

// receive opens one dealer's box, nil for self's own shares, checks what is in it and adds it to
// what is held.
func (s *Setup) receive(self int, sec Secrets, at Share, box []byte, committed announced, held Held) error {
	var shares Held
	if at.Dealer == self {
		shares = s.dealt(self, sec, at.X)[0]
	} else {
		var err error
		if shares, err = s.open(self, sec, at.Dealer, box); err != nil {
			return &SiteError{at.Dealer, err}
		}
	}
	for slot, h := range shares {
		if !committed.m[slot].fits(at.X, h.m[0]) || !committed.b[slot].fits(at.X, h.b[0]) {
			return siteError(at.Dealer, "a share of slot %d does not fit its commitment", slot)
		}
		held[slot].m = append(held[slot].m, h.m[0])
		held[slot].b = append(held[slot].b, h.b[0])
	}
	return nil
}

func (s *Setup) open(self int, sec Secrets, dealer int, box []byte) (Held, error) {
	aead, bound, err := s.seal(sec.Transport, self, dealer, self)
	if err != nil {
		return nil, err
	}
	if len(box) != 64*s.cfg.Slots+aead.Overhead() {
		return nil, errors.New("a box of the wrong length")
	}
	plain, err := aead.Open(nil, make([]byte, aead.NonceSize()), box, bound)
	if err != nil {
		return nil, errors.New("a box that does not open")
	}
	defer clear(plain)
	return parseBox(plain)
}

// parseBox reads a box's plaintext: one dealer's shares by slot.
func parseBox(plain []byte) (Held, error) {
	var out Held
	for ; len(plain) >= 64; plain = plain[64:] {
		h, err := UnmarshalSlotHeld(plain[:64])
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	if len(plain) != 0 {
		return nil, errors.New("a box of the wrong length")
	}
	return out, nil
}

// confirmation is what a site signs once it holds all shares.
func (s *Setup) confirmation(site int) []byte {
	return append(append([]byte("covey secagg confirmation v1\x00"), s.transcript[:]...), u16(site)...)
}

// Confirm signs the transcript: site self has received and checked every share. It
// MUST be called only after Receive, and after what that gave is stored.
func (s *Setup) Confirm(key ed25519.PrivateKey, self int) []byte {
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

package secagg

import (
	"filippo.io/edwards25519"
)

// Each pair of mask neighbors has one owner, whose e keys their masks: i of i < j if i+j is odd,
// else j. The other end gets the key in its box, checks its tag, and deposits it with the
// coordinator under a pad of its own e. So the pair's key is known to both ends, and to who opens
// the e of one of them: of a site outside of the sum.

const tagSize = 32

// pairKey is k_ij of a slot, from its owner's e.
func (s *Setup) pairKey(e *edwards25519.Scalar, slot, i, j int) [pairKeySize]byte {
	return [pairKeySize]byte(s.ofPair(e.Bytes(), "pair", slot, i, j))
}

// tag is what everybody may know of a pair's key. Whatever is taken for the key has to give it.
func (s *Setup) tag(k [pairKeySize]byte, slot, i, j int) [tagSize]byte {
	return [tagSize]byte(s.ofPair(k[:], "tag", slot, i, j))
}

// pad hides a deposit of the site with this e, which does not own the pair.
func (s *Setup) pad(e *edwards25519.Scalar, slot, i, j int) [pairKeySize]byte {
	return [pairKeySize]byte(s.ofPair(e.Bytes(), "deposit", slot, i, j))
}

func (s *Setup) ofPair(secret []byte, label string, slot, i, j int) []byte {
	return derive(secret, s.transcript[:], label, 32, u32(slot), u16(min(i, j)), u16(max(i, j)))
}

// maskKey keys the mask of a pair in one query.
func (s *Setup) maskKey(k [pairKeySize]byte, i, j int, q Query) []byte {
	return derive(k[:], q.Context[:], "mask", 32, u32(q.Slot), u16(min(i, j)), u16(max(i, j)))
}

// selfKey keys a site's own mask in one query.
func (s *Setup) selfKey(b *edwards25519.Scalar, site int, q Query) []byte {
	return derive(b.Bytes(), q.Context[:], "self", 32, u32(q.Slot), u16(site), s.committed(site, q.Slot, ofB))
}

// xor returns a key under a pad, or takes it off.
func xor(a, b [pairKeySize]byte) [pairKeySize]byte {
	for i := range a {
		a[i] ^= b[i]
	}
	return a
}

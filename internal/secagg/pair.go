package secagg

import (
	"filippo.io/edwards25519"
)

// Each pair of mask neighbors has one owner, whose e keys their masks: i of i < j if i+j is odd,
// else j. The other end gets the key in its box, checks its tag, and deposits it with the
// coordinator under a pad of its own e. So the pair's key is known to both ends, and to whoever
// opens the e of one of them: of a site outside of the sum.

const tagSize = 32

// edge is a pair of mask neighbors in one slot of a setup, in whatever order.
type edge struct {
	transcript [32]byte
	slot, i, j int
}

func (w *Witness) edge(slot, i, j int) edge { return edge{w.transcript, slot, i, j} }

// key is k_ij, from its owner's e.
func (p edge) key(e *edwards25519.Scalar) [pairKeySize]byte { return p.derive(e.Bytes(), "pair") }

// tag returns what everybody may know about the pair's key k. Only a key that yields it is taken
// for k.
func (p edge) tag(k [pairKeySize]byte) [tagSize]byte { return p.derive(k[:], "tag") }

// pad hides a deposit of the site with this e, which does not own the pair.
func (p edge) pad(e *edwards25519.Scalar) [pairKeySize]byte { return p.derive(e.Bytes(), "deposit") }

func (p edge) derive(secret []byte, label string) [32]byte {
	return [32]byte(derive(secret, p.transcript[:], label, 32, u32(p.slot), u16(min(p.i, p.j)), u16(max(p.i, p.j))))
}

// maskKey keys the mask of a pair in one query.
func maskKey(k [pairKeySize]byte, i, j int, q Query) []byte {
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

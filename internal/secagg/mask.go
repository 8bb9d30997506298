package secagg

import (
	"slices"

	"filippo.io/edwards25519"
)

// Query is one use of a slot: everything that the sum depends on is in Context,
// so that masks of sites that were asked different things do not cancel.
type Query struct {
	Slot    int
	Context [32]byte // ctx of docs/protocol.md
	Bits    uint     // b
	Lanes   int      // length of the vector
	// Chain says that the sites' own noise is in the sum, of which a part is taken away again once
	// U is known: shares of the sites in U end with the key of that part (NoiseChain).
	Chain bool
}

// validate checks a query against the setup.
func (w *Witness) validate(q Query) error {
	if q.Slot < 0 || q.Slot >= w.cfg.Slots {
		return configError("slot %d, must be below %d", q.Slot, w.cfg.Slots)
	}
	if !slices.Contains(Widths, q.Bits) {
		return configError("a ring of %d bits, must be one of %v", q.Bits, Widths)
	}
	if q.Lanes < 1 || q.Lanes > maxLanes {
		return configError("%d lanes, must be 1..%d", q.Lanes, maxLanes)
	}
	return nil
}

// Mask turns the site's vector into its upload, in place, in Z_2^b:
//
//	v + PRG(KDF(b_i, ctx)) + Σ_{j<i} PRG(KDF(k_ij, ctx)) - Σ_{j>i} PRG(KDF(k_ij, ctx)),
//
// j over the mask neighbors, on the complete graph all others. own and held are the site's of the
// slot. Two different vectors under one slot and ctx would reveal their difference: the
// caller's journal MUST let a slot be masked once.
func (s *Setup) Mask(self int, own SlotSecret, held SlotHeld, q Query, v []uint64) error {
	if err := s.validate(q); err != nil {
		return err
	}
	if len(v) != q.Lanes || self < 0 || self >= s.cfg.sites() {
		return configError("%d lanes do not fit the query of %d, or site %d is none", len(v), q.Lanes, self)
	}
	owners := s.graph.Owners(self)
	b, e := own.secret(ofB, q.Slot, self), own.secret(ofE, q.Slot, self)
	defer erase([]*edwards25519.Scalar{b, e})
	if !s.opens(self, q.Slot, ofB, b.Bytes()) || len(held.keys) != len(owners) {
		return configError("the secret, or %d keys, are not those of site %d's slot %d", len(held.keys), self, q.Slot)
	}
	streams := make([]keystream, 0, 1+s.cfg.sites())
	streams = append(streams, newKeystream(s.selfKey(b, self, q), false))
	for at, other := range owners {
		streams = append(streams, newKeystream(maskKey(held.keys[at], self, other, q), other > self))
	}
	for _, other := range s.graph.Owned(self) {
		k := s.edge(q.Slot, self, other).key(e)
		streams = append(streams, newKeystream(maskKey(k, self, other, q), other > self))
	}
	addKeystreams(v, q.Bits, streams)
	return nil
}

// NoiseLaneCount is how many lanes of a ring hold 256 bits.
func NoiseLaneCount(bits uint) int { return (256 + int(bits) - 1) / int(bits) }

// NoiseLanes are the lanes that a site appends to its vector before masking: at
// least 256 bits of HKDF(slot secret, ctx). Their opened sum over the survivors keys
// the sum's one noise (docs/privacy.md): no single site, and no coordinator, chooses it.
func NoiseLanes(slot SlotSecret, ctx [32]byte, bits uint) []uint64 {
	n := NoiseLaneCount(bits)
	raw := derive(slot[:], ctx[:], "noise lanes", n*int(bits)/8)
	defer clear(raw)
	out := make([]uint64, n)
	for i := range out {
		out[i] = load(raw[i*int(bits)/8:], bits)
	}
	return out
}

// NoiseShareKey keys the generator of a site's own noise share, where the noise is distributed:
// HKDF(slot secret, ctx) under its own label. The same slot and ctx give the same share, so
// whatever is sent again is identical; another slot or ctx gives a fresh one. What opening a sum
// reveals (b_i or e_i of the slot) says nothing about it, and erasing the slot erases it.
func NoiseShareKey(slot SlotSecret, ctx [32]byte) [32]byte {
	return [32]byte(derive(slot[:], ctx[:], "noise share", 32))
}

package secagg

import (
	"slices"

	"filippo.io/edwards25519"
)

// Query is one use of a slot: everything that the sum depends on is in Context,
// so that masks of sites that were asked different things do not cancel.
type Query struct {
	Slot    int
	Context [32]byte // ctx of design section 7
	Bits    uint     // b
	Lanes   int      // length of the vector
}

// Validate checks a query against the setup.
func (s *Setup) Validate(q Query) error {
	if q.Slot < 0 || q.Slot >= s.cfg.Slots {
		return configError("slot %d, must be below %d", q.Slot, s.cfg.Slots)
	}
	if !slices.Contains(Widths, q.Bits) {
		return configError("a ring of %d bits, must be one of %v", q.Bits, Widths)
	}
	if q.Lanes < 1 || q.Lanes > MaxLanes {
		return configError("%d lanes, must be 1..%d", q.Lanes, MaxLanes)
	}
	return nil
}

// pairKey is k_ij of a query, from one side's secret m and the other's public M: the
// same for both. The cofactor is cleared, and ctx salts it.
func (s *Setup) pairKey(m *edwards25519.Scalar, self, other int, q Query) []byte {
	agreed := new(edwards25519.Point).MultByCofactor(&s.sites[other].m[q.Slot][0])
	agreed.ScalarMult(m, agreed)
	i, j := min(self, other), max(self, other)
	return derive(agreed.Bytes(), q.Context[:], "pair", 32, u32(q.Slot), u16(i), u16(j),
		s.sites[i].m[q.Slot][0].Bytes(), s.sites[j].m[q.Slot][0].Bytes())
}

// selfKey is H(b_i, ctx).
func (s *Setup) selfKey(b *edwards25519.Scalar, site int, q Query) []byte {
	return derive(b.Bytes(), q.Context[:], "self", 32, u32(q.Slot), u16(site), s.sites[site].b[q.Slot][0].Bytes())
}

// Mask turns site self's vector into its upload, in place, in Z_2^b:
//
//	v + PRG(H(b_i, ctx)) + Σ_{j<i} PRG(k_ij) - Σ_{j>i} PRG(k_ij).
//
// Two different vectors under one slot and ctx would reveal their difference: the
// caller's journal MUST let a slot be masked once.
func (s *Setup) Mask(self int, slot SlotSecret, q Query, v []uint64) error {
	if err := s.Validate(q); err != nil {
		return err
	}
	if self < 0 || self >= s.cfg.sites() || len(v) != q.Lanes {
		return configError("site %d with %d lanes does not fit the query of %d", self, len(v), q.Lanes)
	}
	m, b := slot.polynomials(q.Slot, self, s.cfg.Quorum)
	if new(edwards25519.Point).ScalarBaseMult(m[0]).Equal(&s.sites[self].m[q.Slot][0]) != 1 {
		return configError("the secret is not that of site %d's slot %d", self, q.Slot)
	}
	expand(v, s.selfKey(b[0], self, q), q.Bits, false)
	for other := range s.cfg.sites() {
		if other != self {
			expand(v, s.pairKey(m[0], self, other, q), q.Bits, other > self)
		}
	}
	return nil
}

// NoiseLaneCount is how many lanes of a ring hold 256 bits.
func NoiseLaneCount(bits uint) int { return (256 + int(bits) - 1) / int(bits) }

// NoiseLanes are the lanes that a site appends to its vector before masking: at
// least 256 bits of HKDF(slot secret, ctx). Their opened sum over the survivors keys
// the sum's one noise (design section 6): no single site, and no coordinator, chooses it.
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

// NoiseShareKey keys the generator of a site's own noise share, where the noise is
// distributed: HKDF(slot secret, ctx) under its own label. The same slot and ctx give the same
// share, so whatever is sent again is identical; another slot or ctx gives a fresh one. What opening a
// sum reveals (b_i or m_i of the slot) says nothing about it, and erasing the slot erases it.
func NoiseShareKey(slot SlotSecret, ctx [32]byte) [32]byte {
	return [32]byte(derive(slot[:], ctx[:], "noise share", 32))
}

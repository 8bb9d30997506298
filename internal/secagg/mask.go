package secagg

import (
	"fmt"
	"io"
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

// cleared is [8]M of a site: every agreement is on such a point, so that nothing depends on
// a secret modulo 8 even if a point outside the subgroup had passed.
func (s *Setup) cleared(site, slot int) *edwards25519.Point {
	p := s.sites[site].point(slot, ofM)
	return p.MultByCofactor(p)
}

// pairKey is k_ij of a query, from [m_i][8]M_j = [m_j][8]M_i: the same for both. ctx salts it.
func (s *Setup) pairKey(agreed []byte, self, other int, q Query) []byte {
	i, j := min(self, other), max(self, other)
	return derive(agreed, q.Context[:], "pair", 32, u32(q.Slot), u16(i), u16(j),
		s.sites[i].key(q.Slot, ofM), s.sites[j].key(q.Slot, ofM))
}

// selfKey is H(b_i, ctx).
func (s *Setup) selfKey(b *edwards25519.Scalar, site int, q Query) []byte {
	return derive(b.Bytes(), q.Context[:], "self", 32, u32(q.Slot), u16(site), s.sites[site].key(q.Slot, ofB))
}

// Agreement is what masks one slot: the site's own b, and what it shares with each mask
// neighbour. It does not depend on the query, so that it can be made while something else is waited
// for; it takes most of Mask's time. It is as secret as the slot's SlotSecret and lives shorter:
// in memory alone, until Erase. It is safe for concurrent use but for Erase.
type Agreement struct {
	setup      *Setup
	self, slot int
	b          *edwards25519.Scalar
	others     []int    // that it shares masks with
	agreed     [][]byte // with them, in their order
}

// Format prints [redacted] for every verb.
func (Agreement) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps the secrets out of JSON and structured logs.
func (Agreement) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Agree makes site self's agreement for a slot. Its time does not depend on the secret.
func (s *Setup) Agree(self, slot int, secret SlotSecret) (*Agreement, error) {
	if slot < 0 || slot >= s.cfg.Slots || self < 0 || self >= s.cfg.sites() {
		return nil, configError("site %d and slot %d, must be below %d and %d", self, slot, s.cfg.sites(), s.cfg.Slots)
	}
	m, b := secret.constants(slot, self)
	if new(edwards25519.Point).ScalarBaseMult(m).Equal(s.sites[self].point(slot, ofM)) != 1 {
		return nil, configError("the secret is not that of site %d's slot %d", self, slot)
	}
	a := &Agreement{setup: s, self: self, slot: slot, b: b, others: s.graph.Neighbours(self)}
	a.agreed = make([][]byte, len(a.others))
	for k, other := range a.others {
		point := s.cleared(other, slot)
		a.agreed[k] = point.ScalarMult(m, point).Bytes()
	}
	return a, nil
}

// Erase overwrites what was agreed on; the agreement masks nothing any more.
func (a *Agreement) Erase() {
	for _, agreed := range a.agreed {
		clear(agreed)
	}
	if a.b != nil {
		a.b.Set(zero)
	}
	a.agreed, a.b = nil, nil
}

// Mask turns the site's vector into its upload, in place, in Z_2^b:
//
//	v + PRG(H(b_i, ctx)) + Σ_{j<i} PRG(k_ij) - Σ_{j>i} PRG(k_ij),
//
// j over the mask neighbours, on the complete graph all others.
// Two different vectors under one slot and ctx would reveal their difference: the
// caller's journal MUST let a slot be masked once.
func (a *Agreement) Mask(q Query, v []uint64) error {
	s := a.setup
	if err := s.Validate(q); err != nil {
		return err
	}
	if a.agreed == nil || q.Slot != a.slot || len(v) != q.Lanes {
		return configError("an agreement of slot %d with %d lanes does not fit the query of slot %d with %d", a.slot, len(v), q.Slot, q.Lanes)
	}
	streams := make([]keystream, 0, 1+len(a.agreed))
	streams = append(streams, newKeystream(s.selfKey(a.b, a.self, q), false))
	for k, other := range a.others {
		streams = append(streams, newKeystream(s.pairKey(a.agreed[k], a.self, other, q), other > a.self))
	}
	addKeystreams(v, q.Bits, streams)
	return nil
}

// Mask is Agree and the agreement's Mask at once.
func (s *Setup) Mask(self int, slot SlotSecret, q Query, v []uint64) error {
	if err := s.Validate(q); err != nil {
		return err
	}
	if len(v) != q.Lanes {
		return configError("%d lanes do not fit the query of %d", len(v), q.Lanes)
	}
	a, err := s.Agree(self, q.Slot, slot)
	if err != nil {
		return err
	}
	defer a.Erase()
	return a.Mask(q, v)
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
// reveals (b_i or m_i of the slot) says nothing about it, and erasing the slot erases it.
func NoiseShareKey(slot SlotSecret, ctx [32]byte) [32]byte {
	return [32]byte(derive(slot[:], ctx[:], "noise share", 32))
}

package secagg

import (
	"fmt"
	"io"
	"math/bits"

	"filippo.io/edwards25519"
)

// polynomial has q coefficients; its constant term is the secret. It never
// leaves the site.
type polynomial []*edwards25519.Scalar

// polynomials derives a site's two for one slot: of m, which agrees on pair keys,
// and of b, the self mask's.
func (s SlotSecret) polynomials(slot, site, quorum int) (m, b polynomial) {
	m, b = make(polynomial, quorum), make(polynomial, quorum)
	for k := range quorum {
		m[k], b[k] = s.coefficients(slot, site, k)
	}
	return m, b
}

// constants are the polynomials' constant terms, the secrets m and b themselves.
func (s SlotSecret) constants(slot, site int) (m, b *edwards25519.Scalar) {
	return s.coefficients(slot, site, 0)
}

func (s SlotSecret) coefficients(slot, site, k int) (m, b *edwards25519.Scalar) {
	info := [][]byte{u32(slot), u16(site), u16(k)}
	return deriveScalar(s[:], "m", info...), deriveScalar(s[:], "b", info...)
}

// at evaluates the polynomial.
func (p polynomial) at(x *edwards25519.Scalar) *edwards25519.Scalar {
	v := edwards25519.NewScalar()
	for k := len(p) - 1; k >= 0; k-- {
		v.MultiplyAdd(v, x, p[k])
	}
	return v
}

// commitment is a polynomial's Feldman commitment: [coefficient]B of each.
type commitment []edwards25519.Point

// at returns the commitment to the share at x, Σ_k x^k C_k by Horner's rule: x is a small
// number, so that a step costs few additions. Its time tells x, which is public.
func (c commitment) at(x int) *edwards25519.Point {
	v := new(edwards25519.Point).Set(&c[len(c)-1])
	multiple := new(edwards25519.Point)
	for k := len(c) - 2; k >= 0; k-- {
		multiple.Set(v)
		for bit := bits.Len(uint(x)) - 2; bit >= 0; bit-- {
			multiple.Double(multiple)
			if x>>bit&1 == 1 {
				multiple.Add(multiple, v)
			}
		}
		v.Add(multiple, &c[k])
	}
	return v
}

// fits reports whether share is the committed polynomial's at x: exactly, with no chance
// of error. Constant time in the share.
func (c commitment) fits(x int, share *edwards25519.Scalar) bool {
	return new(edwards25519.Point).ScalarBaseMult(share).Equal(c.at(x)) == 1
}

// SlotHeld are the shares of one slot that one site holds: of each dealer's m and b, in the order
// of Graph.Held, on the complete graph of every dealer's, its own included. Which of the two may be
// sent is decided by the survivors, and never both for one dealer.
type SlotHeld struct {
	m, b []*edwards25519.Scalar
}

// Held are the shares that one site holds, by slot.
type Held []SlotHeld

// Format prints [redacted] for every verb.
func (SlotHeld) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps shares out of JSON and structured logs.
func (SlotHeld) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalBinary returns the shares' bytes for the site's own store: 64 a dealer.
func (h SlotHeld) MarshalBinary() ([]byte, error) {
	out := make([]byte, 0, 64*len(h.m))
	for j := range h.m {
		out = append(out, h.m[j].Bytes()...)
		out = append(out, h.b[j].Bytes()...)
	}
	return out, nil
}

// UnmarshalSlotHeld reads what MarshalBinary wrote.
func UnmarshalSlotHeld(raw []byte) (SlotHeld, error) {
	if len(raw)%64 != 0 || len(raw) == 0 || len(raw) > 64*MaxGraphSites {
		return SlotHeld{}, configError("held shares of %d bytes, must be 64 a site", len(raw))
	}
	var h SlotHeld
	for ; len(raw) > 0; raw = raw[64:] {
		m, err := decodeScalar(raw[:32])
		if err != nil {
			return SlotHeld{}, configError("held shares: %v", err)
		}
		b, err := decodeScalar(raw[32:64])
		if err != nil {
			return SlotHeld{}, configError("held shares: %v", err)
		}
		h.m, h.b = append(h.m, m), append(h.b, b)
	}
	return h, nil
}

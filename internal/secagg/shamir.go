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

// at gives the commitment to site's share, Σ_k x^k C_k by Horner's rule: x is a small
// number, so that a step costs few additions. Its time tells the site, which is public.
func (c commitment) at(site int) *edwards25519.Point {
	x := uint(site) + 1
	v := new(edwards25519.Point).Set(&c[len(c)-1])
	multiple := new(edwards25519.Point)
	for k := len(c) - 2; k >= 0; k-- {
		multiple.Set(v)
		for bit := bits.Len(x) - 2; bit >= 0; bit-- {
			multiple.Double(multiple)
			if x>>bit&1 == 1 {
				multiple.Add(multiple, v)
			}
		}
		v.Add(multiple, &c[k])
	}
	return v
}

// fits says that share is site's of the committed polynomial: exactly, with no chance
// of error. Constant time in the share.
func (c commitment) fits(site int, share *edwards25519.Scalar) bool {
	return new(edwards25519.Point).ScalarBaseMult(share).Equal(c.at(site)) == 1
}

// SlotHeld are the shares of one slot that one site holds, its own included: of
// every dealer's m and b. Which of the two may be sent is decided by the survivors,
// and never both for one dealer.
type SlotHeld struct {
	m, b []*edwards25519.Scalar // by dealer
}

// Held are the shares that one site holds, by slot.
type Held []SlotHeld

// Format prints [redacted] for every verb.
func (SlotHeld) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps shares out of JSON and structured logs.
func (SlotHeld) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalBinary gives the shares' bytes for the site's own store: 64 a dealer.
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
	if len(raw)%64 != 0 || len(raw) == 0 || len(raw) > 64*MaxSites {
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

// lagrange gives the coefficients that interpolate at 0 from the shares of the
// given sites, which differ: λ_i = Π_{k≠i} x_k / (x_k - x_i). All divisions share one inversion.
func lagrange(sites []int) []*edwards25519.Scalar {
	over := scalarOf(1) // Π x_k
	x := make([]*edwards25519.Scalar, len(sites))
	for a, i := range sites {
		x[a] = point(i)
		over.Multiply(over, x[a])
	}
	// λ_i = over / under_i with under_i = x_i Π_{k≠i} (x_k - x_i), none of it 0.
	difference := edwards25519.NewScalar()
	under := make([]*edwards25519.Scalar, len(sites))
	before := make([]*edwards25519.Scalar, len(sites)) // product of under up to a, a left out
	all := scalarOf(1)
	for a := range sites {
		under[a] = edwards25519.NewScalar().Set(x[a])
		for k := range sites {
			if k != a {
				under[a].Multiply(under[a], difference.Subtract(x[k], x[a]))
			}
		}
		before[a] = edwards25519.NewScalar().Set(all)
		all.Multiply(all, under[a])
	}
	inverse := all.Invert(all)
	out := make([]*edwards25519.Scalar, len(sites))
	for a := len(sites) - 1; a >= 0; a-- {
		out[a] = before[a].Multiply(before[a], inverse)
		out[a].Multiply(out[a], over)
		inverse.Multiply(inverse, under[a])
	}
	return out
}

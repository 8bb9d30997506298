package secagg

import (
	"encoding/binary"
	"fmt"
	"io"

	"filippo.io/edwards25519"
)

// SlotHeld is what one site holds for one slot: shares of each dealer's b and, unless the setup is
// whole, of its e, in the order of Graph.Held; and the keys of the pairs that neighbors own, in
// the order of Graph.Owners. Which of two shares may be sent is decided by the survivors, and never
// both for one dealer.
type SlotHeld struct {
	b, e []*edwards25519.Scalar
	keys [][pairKeySize]byte
}

const pairKeySize = 32

// Held is what one site holds, by slot.
type Held []SlotHeld

// Format prints [redacted] for every verb.
func (SlotHeld) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps shares out of JSON and structured logs.
func (SlotHeld) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// of returns the shares of one of the two secrets.
func (h *SlotHeld) of(which int) []*edwards25519.Scalar {
	if which == ofB {
		return h.b
	}
	return h.e
}

func erase(secrets []*edwards25519.Scalar) {
	for _, s := range secrets {
		if s != nil {
			s.Set(zero)
		}
	}
}

// MarshalBinary returns the bytes for the site's own store: how many b, e and keys (2 bytes each),
// then these, 32 each.
func (h SlotHeld) MarshalBinary() ([]byte, error) {
	out := make([]byte, 0, 6+32*(len(h.b)+len(h.e)+len(h.keys)))
	for _, n := range []int{len(h.b), len(h.e), len(h.keys)} {
		out = binary.BigEndian.AppendUint16(out, uint16(n))
	}
	for _, shares := range [][]*edwards25519.Scalar{h.b, h.e} {
		for _, s := range shares {
			out = append(out, s.Bytes()...)
		}
	}
	for i := range h.keys {
		out = append(out, h.keys[i][:]...)
	}
	return out, nil
}

// UnmarshalSlotHeld reads what MarshalBinary wrote.
func UnmarshalSlotHeld(raw []byte) (SlotHeld, error) {
	if len(raw) < 6 {
		return SlotHeld{}, configError("what a slot holds has %d bytes, at least 6 are needed", len(raw))
	}
	var n [3]int
	for i := range n {
		n[i] = int(binary.BigEndian.Uint16(raw[2*i:]))
	}
	raw = raw[6:]
	if len(raw) != 32*(n[0]+n[1]+n[2]) || n[1] != 0 && n[1] != n[0] {
		return SlotHeld{}, configError("what a slot holds does not fit its counts")
	}
	var h SlotHeld
	for which, shares := range []*[]*edwards25519.Scalar{&h.b, &h.e} {
		for range n[which] {
			s, err := decodeScalar(raw[:32])
			if err != nil {
				return SlotHeld{}, configError("held shares: %v", err)
			}
			*shares, raw = append(*shares, s), raw[32:]
		}
	}
	for ; len(raw) > 0; raw = raw[32:] {
		h.keys = append(h.keys, [pairKeySize]byte(raw))
	}
	return h, nil
}

// add appends one dealer's share of a secret.
func (h *SlotHeld) add(which int, share *edwards25519.Scalar) {
	if which == ofB {
		h.b = append(h.b, share)
	} else {
		h.e = append(h.e, share)
	}
}

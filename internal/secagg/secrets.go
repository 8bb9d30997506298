package secagg

import (
	"crypto/rand"
	"fmt"
	"io"
)

// redacted is how every secret prints.
const redacted = "[redacted]"

// SlotSecret is all that a site keeps secret for one slot: its polynomials, the keys of the pairs
// that it owns and its noise derive from it, so erasing it erases them.
type SlotSecret [32]byte

// Format prints [redacted] for every verb.
func (SlotSecret) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps the secret out of JSON and structured logs.
func (SlotSecret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Secrets is a site's secret material of one setup. The caller stores it together with the
// announcement, before that leaves, and erases it once the confirmation is on record, where each
// slot has its own copy of the secret, which dies when the slot's query is final.
type Secrets struct {
	Transport [32]byte // X25519 private key of the boxes
	Seal      [64]byte // ML-KEM-768 seed of the boxes, d ‖ z of FIPS 203
	Nonce     [32]byte // shown on the sparse graph, once all announcements are known
	Slots     []SlotSecret
}

// Format prints [redacted] for every verb.
func (Secrets) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps the secrets out of JSON and structured logs.
func (Secrets) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalBinary returns the secrets' bytes for the site's own store: 128, then 32 a slot.
func (s Secrets) MarshalBinary() ([]byte, error) {
	out := make([]byte, 0, 128+32*len(s.Slots))
	out = append(append(append(out, s.Transport[:]...), s.Seal[:]...), s.Nonce[:]...)
	for _, slot := range s.Slots {
		out = append(out, slot[:]...)
	}
	return out, nil
}

// UnmarshalSecrets reads what MarshalBinary wrote.
func UnmarshalSecrets(raw []byte) (Secrets, error) {
	if len(raw) < 128 || len(raw)%32 != 0 || len(raw) > 128+32*maxSlots {
		return Secrets{}, configError("secrets of %d bytes, must be 128 and 32 a slot", len(raw))
	}
	s := Secrets{Transport: [32]byte(raw), Seal: [64]byte(raw[32:]), Nonce: [32]byte(raw[96:])}
	for raw = raw[128:]; len(raw) > 0; raw = raw[32:] {
		s.Slots = append(s.Slots, SlotSecret(raw[:32]))
	}
	return s, nil
}

// NewSecrets draws one seed from crypto/rand, expands it to independent secrets
// and forgets it: no slot's secret follows from another's.
func NewSecrets(cfg Config) (Secrets, error) {
	if err := cfg.validate(); err != nil {
		return Secrets{}, err
	}
	var seed [32]byte
	rand.Read(seed[:]) // never fails: the process ends instead
	return expand(cfg, &seed), nil
}

// expand derives the secrets from a seed, which it overwrites: whoever has it has all slots, the
// erased ones too.
func expand(cfg Config, seed *[32]byte) Secrets {
	s := Secrets{Slots: make([]SlotSecret, cfg.Slots)}
	copy(s.Transport[:], derive(seed[:], cfg.Study[:], "transport", 32))
	copy(s.Seal[:], derive(seed[:], cfg.Study[:], "seal", 64))
	copy(s.Nonce[:], derive(seed[:], cfg.Study[:], "nonce", 32))
	for i := range s.Slots {
		copy(s.Slots[i][:], derive(seed[:], cfg.Study[:], "slot", 32, u32(i)))
	}
	clear(seed[:])
	return s
}

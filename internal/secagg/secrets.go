package secagg

import (
	"crypto/rand"
	"fmt"
	"io"
)

// redacted is how every secret prints.
const redacted = "[redacted]"

// SlotSecret is all that a site keeps secret for one slot: its polynomials and
// noise lanes derive from it, so erasing it erases them.
type SlotSecret [32]byte

// Format prints [redacted] for every verb.
func (SlotSecret) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps the secret out of JSON and structured logs.
func (SlotSecret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Secrets is a site's secret material of one setup attempt. The caller stores it
// before the announcement leaves, erases Transport once the setup is confirmed, and
// each slot when its query is final.
type Secrets struct {
	Transport [32]byte // X25519 private key of the boxes
	Slots     []SlotSecret
}

// Format prints [redacted] for every verb.
func (Secrets) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps the secrets out of JSON and structured logs.
func (Secrets) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// NewSecrets draws one seed from crypto/rand, expands it to independent secrets
// and forgets it: no slot's secret can be had from another's.
func NewSecrets(cfg Config) (Secrets, error) {
	if err := cfg.Validate(); err != nil {
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
	copy(s.Transport[:], derive(seed[:], cfg.Study[:], "transport", 32, u32(int(cfg.Attempt))))
	for i := range s.Slots {
		copy(s.Slots[i][:], derive(seed[:], cfg.Study[:], "slot", 32, u32(int(cfg.Attempt)), u32(i)))
	}
	clear(seed[:])
	return s
}

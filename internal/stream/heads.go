package stream

import (
	"crypto/ed25519"

	"covey/internal/chain"
	"covey/internal/wire"
)

// fewSteps are serialized at once.
const fewSteps = 1 << 10

// Heads makes the messages that show the coordinators' chain to sites.
type Heads struct {
	signed chain.Signed // last: most sites are shown the same
}

// Since returns the messages that show the chain from a base on. key is that which signs releases.
func (h *Heads) Since(base uint64, of *chain.Log, key ed25519.PrivateKey) (out []Outgoing, err error) {
	for {
		steps := of.Since(base)
		next := of.At(base + uint64(len(steps)))
		from := of.At(base)
		head := wire.Head{Shown: chain.Shown{Base: from, Steps: steps, Signature: h.sign(from, next, key)}}
		o := Outgoing{Head: true, Base: base}
		if len(steps) > fewSteps { // for one site alone
			o.Encode = func() ([]byte, error) { return wire.Encode(head) }
		} else if o.Raw, err = wire.Encode(head); err != nil {
			return nil, err
		}
		out, base = append(out, o), next.Number
		if base == of.Head().Number {
			return out, nil
		}
	}
}

func (h *Heads) sign(base, head chain.Head, key ed25519.PrivateKey) []byte {
	s := chain.Signed{Head: head, Base: base}
	if h.signed.Signature == nil || h.signed.Head != head || h.signed.Base != base {
		s.Signature = ed25519.Sign(key, s.SigningInput())
		h.signed = s
	}
	return h.signed.Signature
}

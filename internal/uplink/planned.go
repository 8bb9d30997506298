package uplink

import (
	"fmt"

	"covey/internal/egress"
	"covey/internal/study"
	"covey/internal/wire"
)

// The sizes of internal/secagg's messages, which a test compares with real ones:
// the announcement's header, its transport key and signature; a box's AEAD tag; the
// header of shares.
const (
	announcementFixed = 29 + 9 + 32 + 32 + 10 + 4 + 2 + 32 + 64
	// another name, the graph's numbers, the nonce's commitment, the body's hash
	sparseFixed = announcementFixed - 9 + 7 + 8 + 32 + 32
	boxFixed    = 16
	sharesFixed = 23 + 24 + 32 + 4 + 32 + 32 + 2
)

// Planned lists every message that a study makes leave, in order and to the byte, if no slot
// is retried and no link breaks: either sends messages once more. With more than 64 sites a graph
// is drawn that says whether the site signs at all, and shares are K of them on average.
func Planned(p *study.Plan, self int) []egress.Planned {
	t, units := p.Thresholds, p.Proposal.Roster[self].Units
	sealed := make([][]byte, t.Holders)
	for i := range sealed {
		if i != self || t.Sparse() {
			sealed[i] = make([]byte, 64*p.Slots+boxFixed)
		}
	}
	var out []egress.Planned
	query, round := -1, -1
	add := func(m wire.Message, what string) {
		raw, err := wire.Encode(m)
		if err != nil {
			return // bytes of zeros encode
		}
		out = append(out, egress.Planned{Kind: wire.Name(m), Query: query, Round: round, Bytes: len(raw), What: what})
	}
	add(wire.Decision{Header: wire.Header{Study: p.Digest}, Verdict: study.VerdictApproved, Signature: make([]byte, 64)}, "yes or no to this digest, signed, and a code from a fixed list")
	fixed := announcementFixed
	if t.Sparse() {
		fixed = sparseFixed
	}
	add(wire.Announcement{Header: wire.Header{Study: p.Digest}, Signed: make([]byte, fixed+64*t.Threshold*p.Slots)},
		"one-time public keys and commitments to random polynomials, signed; nothing of the data")
	if t.Sparse() {
		add(wire.Nonce{Header: wire.Header{Study: p.Digest}, Nonce: make([]byte, 32)}, "a random number that helps to draw who holds whose shares")
	}
	add(wire.Boxes{Header: wire.Header{Study: p.Digest}, Boxes: sealed}, "shares of one-time keys, encrypted to each site that holds them; nothing of the data")
	add(wire.Confirmation{Header: wire.Header{Study: p.Digest}, Signature: make([]byte, 64)}, "a signature that the shares are in order")
	for i, q := range p.Queries {
		query, round = i, q.Round
		what := q.Kind.Sends(units, q.Values) + hidden
		if p.Honest > 0 {
			what = q.Kind.Sends(units, q.Values) + ", with this site's share of the noise" + hidden
		}
		if q.Branch != "" {
			what += fmt.Sprintf(` (only if "auto" decides for %s)`, q.Branch)
		}
		add(wire.Upload{Header: wire.Header{Study: p.Digest, Query: i, Slot: i}, Masked: make([]byte, q.Bytes)}, what)
		add(wire.Signature{Header: wire.Header{Study: p.Digest, Query: i, Slot: i}, Signature: make([]byte, 64)}, "a signature on the set of sites in the sum")
		add(wire.Shares{Header: wire.Header{Study: p.Digest, Query: i, Slot: i}, Shares: make([]byte, sharesFixed+32*t.Holders)}, "shares of one-time keys that remove the masks of the whole sum, once")
	}
	query, round = -1, -1
	add(wire.Attestation{Header: wire.Header{Study: p.Digest}, Signature: make([]byte, 64)}, "a signature on the whole result, which this site has verified")
	return out
}

const hidden = ", masked: uniformly random to all; only the sum over sites can be opened"

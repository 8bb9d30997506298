package uplink

import (
	"fmt"
	"math"

	"covey/internal/egress"
	"covey/internal/graph"
	"covey/internal/study"
	"covey/internal/wire"
)

// Planned lists every message that a study makes leave, in order and to the byte, if no slot
// is retried, no link breaks and nothing that a site dealt is wrong: either sends messages once
// more, the last proofs and keys (docs/protocol.md). With more than 64 sites a graph is drawn that
// says whether the site signs at all, whose shares it holds and with whom it shares masks: shares,
// boxes and deposits are as many as on average. All sites are in every sum: with fewer a site's
// shares may be 32 bytes shorter.
func Planned(p *study.Plan, self int) []egress.Planned {
	t, units, size := p.Thresholds, p.Proposal.Roster[self].Units, sizesOf(p)
	sealed, owners := boxes(size, self)
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
	add(wire.Announcement{Header: wire.Header{Study: p.Digest}, Signed: make([]byte, size.announcement())},
		"one-time public keys, and hashes that commit to random numbers, signed; nothing of the data")
	if t.Sparse() {
		add(wire.Nonce{Header: wire.Header{Study: p.Digest}, Nonce: make([]byte, 32)}, "a random number that helps to draw who holds whose shares")
	}
	add(wire.Boxes{Header: wire.Header{Study: p.Digest}, Boxes: sealed}, "one-time keys, and shares of them, encrypted to each site that holds them; nothing of the data")
	confirmation := wire.Confirmation{Header: wire.Header{Study: p.Digest}, Signature: make([]byte, signature)}
	what := "a signature that keys and shares are in order"
	if n := size.deposits(owners); n > 0 {
		confirmation.Deposits, confirmation.Statement = make([]byte, n), make([]byte, signature)
		what += ", and keys under one-time pads, which open only for a sum that this site is not in"
	}
	add(confirmation, what)
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
		what, n := "shares of one-time keys that remove the masks of the whole sum, once", sharesFixed+32*t.Holders
		if p.Noise.Removes() {
			what, n = what+", and the key of noise that so many sites do not need", n+32
		}
		add(wire.Shares{Header: wire.Header{Study: p.Digest, Query: i, Slot: i}, Shares: make([]byte, n)}, what)
	}
	query, round = -1, -1
	add(wire.Attestation{Header: wire.Header{Study: p.Digest}, Signature: make([]byte, 64)}, "a signature on the whole result, which this site has verified")
	return out
}

// boxes returns what a site seals, and how many sites seal keys of pairs to it.
func boxes(size sizes, self int) (sealed [][]byte, owners int) {
	t := size.plan.Thresholds
	if !t.Sparse() {
		for j := range t.Sites {
			if j == self {
				continue
			}
			owns := graph.Owns(self, j)
			if !owns {
				owners++
			}
			sealed = append(sealed, make([]byte, size.box(true, owns)))
		}
		return sealed, owners
	}
	for range t.Holders {
		sealed = append(sealed, make([]byte, size.box(true, false)))
	}
	// Two sites share masks if either chose the other as one of Degree; each owns half of its
	// pairs.
	n := float64(t.Sites - 1)
	other := 1 - float64(t.Degree)/n
	owners = int(math.Round(n * (1 - other*other) / 2))
	for range owners {
		sealed = append(sealed, make([]byte, size.box(false, true)))
	}
	return sealed, owners
}

const hidden = ", masked: uniformly random to all; only the sum over sites can be opened"

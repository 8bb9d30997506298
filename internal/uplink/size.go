package uplink

import (
	"covey/internal/proposals"
	"covey/internal/study"
	"covey/internal/wire"
)

const (
	// baseMessage is what a message holds besides its longest part, and all of a short one.
	baseMessage = 1 << 20
	// LeastMessage is the longest message that a site takes in no study yet: a proposal.
	LeastMessage = proposals.MaxProposal + baseMessage
)

// Largest is the longest message that a study's coordinator has reason to send, in bytes.
func Largest(p *study.Plan) int {
	const each = 16 // a list's entry has a tag and a length
	t, n := p.Thresholds, p.Thresholds.Sites
	announced := announcementFixed + 64*t.Threshold*p.Slots + each
	box := 64*p.Slots + boxFixed + each
	out := max(n*announced, n*box) // the deal, and the boxes
	if t.Sparse() {
		// Of a drawn graph the heads are dealt, and the boxes and bodies of the dealers whose
		// shares this site holds: Holders of them on average, and more than twice that and 64 by a
		// chance below 2^-40.
		head := sparseFixed + 64*p.Slots + each
		out = max(n*head, min(n, 2*t.Holders+64)*(box+announced))
	}
	// Of a result all outputs, and what pictures it has: their counts are its queries'. The rest is
	// short.
	draft := n * (64 + each)
	for _, q := range p.Queries {
		draft += 32 * (q.Values + 8*p.K())
	}
	out = max(out, draft+32*16*p.D*(p.K()+2))
	for _, q := range p.Queries {
		// X, Found and Fill are of so many vectors at most; Center and Scale are one each.
		vectors := p.D * (3*p.K() + 2)
		// A query, or its signed release: in JSON a number takes 32 bytes at most.
		out = max(out, 8*vectors, 32*(q.Values+vectors)+8*n+66*t.Threshold)
	}
	out = max(out, n*(64+each)) // confirmations, or a certificate
	return min(baseMessage+out, wire.MaxMessage)
}

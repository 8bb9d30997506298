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

// The sizes of internal/secagg's messages, which a test compares with real ones.
const (
	// label, the graph's name, study, roster, five numbers, site
	headerSize = 29 + 9 + 32 + 32 + 10 + 2
	// another name, the graph's numbers
	sparseHeader = headerSize - 9 + 7 + 8
	transportKey = 32
	sealKey      = 1184
	signature    = 64
	hashSize     = 32
	ciphertext   = 1088
	boxFixed     = ciphertext + 16 + signature
	// label, what a release signature signs, site
	sharesFixed = 23 + 24 + 32 + 4 + 32 + 32 + 2
)

// sizes computes the sizes of a study's messages.
type sizes struct {
	plan  *study.Plan
	kinds int // of secrets a slot that are shared: b, and e where a site can be missing
}

func sizesOf(p *study.Plan) sizes {
	if p.Thresholds.Whole() {
		return sizes{p, 1}
	}
	return sizes{p, 2}
}

// body is what holders check shares against.
func (s sizes) body() int { return 32 * (s.plan.Thresholds.Holders + s.plan.Thresholds.Threshold) }

// head is the sparse graph's part of an announcement that everybody sees.
func (s sizes) head() int {
	return sparseHeader + transportKey + hashSize + hashSize + 32*s.kinds*s.plan.Slots + hashSize + signature
}

func (s sizes) announcement() int {
	if s.plan.Thresholds.Sparse() {
		return s.head() + sealKey + s.body()
	}
	return headerSize + transportKey + sealKey + 32*s.kinds*s.plan.Slots + s.body() + signature
}

// box is one with shares, with keys of a pair and their tags, or with both.
func (s sizes) box(shares, keys bool) int {
	n := boxFixed
	if shares {
		n += 32 * s.kinds * s.plan.Slots
	}
	if keys {
		n += 32 * s.kinds * s.plan.Slots // a key and, where it can be deposited, its tag
	}
	return n
}

// deposits returns the size of the deposits of a site with so many pairs that others own.
func (s sizes) deposits(owners int) int {
	if s.kinds == 1 {
		return 0
	}
	return 32 * s.plan.Slots * owners
}

// Largest is the longest message that a study's coordinator has reason to send, in bytes.
func Largest(p *study.Plan) int {
	const each = 16 // a list's entry has a tag and a length
	t, n, s := p.Thresholds, p.Thresholds.Sites, sizesOf(p)
	out := max(n*(s.announcement()+each), n*(s.box(true, true)+each)) // the deal, and the boxes
	if t.Sparse() {
		// Of a drawn graph the heads are dealt, the nonces with the ML-KEM keys of those that the
		// site seals to, and the boxes sent to it with its dealers' bodies. It seals to Holders
		// sites and those whose pair it owns, and is sent boxes by Holders of them on average and
		// those that own its pair: no more than twice Holders and 64, and three times Degree and 64
		// of either, but by a chance below 2^-40.
		dealers, pairs := min(n, 2*t.Holders+64), min(n, 3*t.Degree+64)
		out = max(n*(s.head()+each), n*(32+each)+(t.Holders+pairs)*(sealKey+each),
			dealers*(s.box(true, false)+s.body()+2*each)+pairs*(s.box(false, true)+each))
	}
	// A result's outputs and pictures, whose counts are those of its queries. The rest is short.
	draft := n * (64 + each)
	for _, q := range p.Queries {
		draft += 32 * (q.Values + 8*p.K)
	}
	out = max(out, draft+32*16*p.D*(p.K+2))
	for _, q := range p.Queries {
		// X, Found and Fill have at most k vectors each; Center and Scale are one each.
		vectors := p.D * (3*p.K + 2)
		// A query, or its signed release: in JSON a number takes 32 bytes at most.
		out = max(out, 8*vectors, 32*(q.Values+vectors)+8*n+66*t.Threshold)
	}
	out = max(out, n*(64+each)) // confirmations, or a certificate
	return min(baseMessage+out, wire.MaxMessage)
}

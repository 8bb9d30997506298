package wire

import "covey/internal/study"

const (
	// ShortMessage is what any site may say in one message, in no study yet.
	ShortMessage = 64 << 10
	// wordBytes is what one number of a release takes in JSON, at most; hashBytes a commitment, a
	// share, a key or a tag; boxBytes a box without these.
	wordBytes = 32
	hashBytes = 32
	boxBytes  = 1200
)

// LargestOfSite is the longest message that a site of a study has reason to send, in bytes.
func LargestOfSite(p *study.Plan) int {
	out := ShortMessage
	for _, q := range p.Queries {
		// An upload, or a refusal with the query's signed release: its values, X, center and found.
		out = max(out, ShortMessage+q.Bytes, ShortMessage+wordBytes*(q.Values+3*p.D*p.K)+8*p.Thresholds.Sites+66*p.Thresholds.Threshold)
	}
	// A site seals to its holders, and to the neighbors whose pairs it owns: half of 2m on average,
	// and of the sparse graph more than 4m with a probability that does not count.
	t := p.Thresholds
	owned := min(t.Sites-1, 4*t.Degree)
	sealed := min(t.Sites-1, t.Holders+owned)
	return max(out,
		ShortMessage+hashBytes*(2*p.Slots+t.Holders+t.Threshold),                     // announcement
		ShortMessage+sealed*(2*hashBytes*p.Slots+boxBytes)+owned*2*hashBytes*p.Slots, // boxes: shares, keys, tags
		ShortMessage+2*hashBytes*p.Slots*owned,                                       // recalled tags and deposits
		ShortMessage+hashBytes*(2*p.Slots+t.Holders+t.Threshold),                     // proof, with a body
		ShortMessage+hashBytes*t.Sites)                                               // shares, and keys of pairs
}

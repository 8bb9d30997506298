package coordinator

import (
	"slices"

	"covey/internal/study"
)

const (
	// frameOverhead is what gRPC and protobuf put around a frame's bytes.
	frameOverhead = 1 << 10
	// baseMessage is what any site may say in one message, in no study yet.
	baseMessage = 64 << 10
	// maxLinks is how many streams of Link a site has at a time: its link, and the next one.
	maxLinks = 2
	// wordBytes is what one number of a release takes in JSON, at most; hashBytes a commitment, a
	// share, a key or a tag; boxBytes a box without these.
	wordBytes = 32
	hashBytes = 32
	boxBytes  = 1200
)

// largest is the longest message that a site of a study has reason to send, in bytes.
func largest(p *study.Plan) int {
	out := baseMessage
	for _, q := range p.Queries {
		// An upload, or a refusal with the query's signed release: its values, X, centre and found.
		out = max(out, baseMessage+q.Bytes, baseMessage+wordBytes*(q.Values+3*p.D*p.K())+8*p.Thresholds.Sites+66*p.Thresholds.Threshold)
	}
	// A site seals to its holders, and to the neighbors whose pairs it owns: half of 2m on average,
	// and of the sparse graph more than 4m with a probability that does not count.
	t := p.Thresholds
	owned := min(t.Sites-1, 4*t.Degree)
	sealed := min(t.Sites-1, t.Holders+owned)
	return max(out,
		baseMessage+hashBytes*(2*p.Slots+t.Holders+t.Threshold),                     // announcement
		baseMessage+sealed*(2*hashBytes*p.Slots+boxBytes)+owned*2*hashBytes*p.Slots, // boxes: shares, keys, tags
		baseMessage+2*hashBytes*p.Slots*owned,                                       // recalled tags and deposits
		baseMessage+hashBytes*(2*p.Slots+t.Holders+t.Threshold),                     // proof, with a body
		baseMessage+hashBytes*t.Sites)                                               // shares, and keys of pairs
}

// begun counts a new stream of Link. Where a site has more than maxLinks, the oldest that is not
// its link ends.
func (c *Coordinator) begun(l *link) {
	m := c.machine.lock()
	defer c.machine.unlock()
	all := append(m.opened[l.site], l)
	if len(all) > maxLinks {
		for i, old := range all {
			if old != m.links[l.site] {
				old.close(errReplaced)
				all = append(all[:i:i], all[i+1:]...)
				break
			}
		}
	}
	m.opened[l.site] = all
}

// ended takes a stream out of the count.
func (m *leader) ended(l *link) {
	m.opened[l.site] = slices.DeleteFunc(m.opened[l.site], func(other *link) bool { return other == l })
	if len(m.opened[l.site]) == 0 {
		delete(m.opened, l.site)
	}
}

// expect brings the limit of a link's messages up to the studies that its site is in. It is called
// before each message: a site decides on a study before it sends anything long of it.
func (c *Coordinator) expect(l *link) {
	m := c.machine.lock()
	defer c.machine.unlock()
	if l.limit > 0 && l.studies == len(m.order) {
		return
	}
	l.limit = max(l.limit, baseMessage)
	for _, digest := range m.order[l.studies:] {
		if r, ok := m.find(digest); ok && r.site(l.site) >= 0 {
			l.limit = max(l.limit, r.limit())
		}
	}
	l.studies = len(m.order)
	if l.meter != nil {
		l.meter.Expect(l.limit)
	}
}

// accepted gives back to the connection what a message of so many bytes took.
func (l *link) accepted(bytes int) {
	if l.meter != nil {
		l.meter.Accepted(bytes)
	}
}

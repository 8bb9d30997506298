package round

import (
	"slices"

	"covey/internal/study"
	"covey/internal/wire"
)

// The result: after the last release the leader makes it, commits it, and asks the sites whose
// signatures count to sign it. With as many signatures as a certificate needs it is complete. A
// site that does not sign, or is away, is asked again on its next link, and nothing but enough
// signatures, or the operator, ends the waiting.

// signing is what the leader has received for the result's signatures.
type signing struct {
	drafting bool     // Draft is under way, or has failed
	attested [][]byte // by site, on the committed draft
}

func newSigning(sites int) signing { return signing{attested: make([][]byte, sites)} }

func (e Attested) observe(s *State) {
	if s.Status == StatusSigning && s.Draft != nil {
		s.live.signing.attested[e.Site] = e.Signature
	}
}

// applyResult applies an entry about the result.
func (s *State) applyResult(e Entry, stale error) error {
	switch {
	case s.Status != StatusSigning:
		return stale
	case e.Kind == EntryDrafted:
		// The first wins: sites may have signed it, and they sign no second.
		if s.Draft != nil || len(e.Draft) == 0 {
			return stale
		}
		s.Draft = e.Draft
		s.live.signing.drafting = false
	default:
		if s.Draft == nil || count(e.Attestations) == 0 {
			return stale
		}
		s.Attestations = e.Attestations
		s.Status, s.Code = StatusCompleted, study.CodeCompleted
	}
	return nil
}

// finish moves the result on: draft, signatures, completion.
func (s leader) finish() []Effect {
	g := &s.live.signing
	switch {
	case s.live.proposing:
	case s.Draft == nil:
		if !g.drafting {
			g.drafting = true
			return []Effect{Draft{}}
		}
	case s.graph().Certified(g.attested):
		return s.propose(Entry{Kind: EntryAttested, Attestations: slices.Clone(g.attested)})
	}
	return nil
}

// result asks a site for its signature on the committed draft. Whoever lacks releases is told them
// first; the others know them.
func (p *prompter) result() {
	s := p.s
	p.past()
	if s.Draft != nil && s.live.signing.attested[p.site] == nil && s.graph().Signs(p.site) {
		p.send(askAttestation, 1, func() wire.Message {
			return wire.Attest{Header: p.inSetup(), Draft: s.Draft}
		})
	}
}

// unsigned notes a site's no to signing. It is asked again on its next link. Until then the
// study does not wait for it. What else comes is a late answer about the last query.
func (s *State) unsigned(e Refused) {
	k := &s.live.links[e.Site]
	switch e.Code {
	case study.CodeOutOfOrder:
		if e.Lacks > 0 {
			k.lack(e.Lacks, len(s.Releases))
		}
	case study.CodeBadResult, study.CodeSecondResult, study.CodeForked, study.CodeBrokenChain, study.CodeStore, study.CodeInternal,
		study.CodeLeft, study.CodeRolledBack, study.CodeNotApproved, study.CodeUnknownStudy:
		if k.left.code == "" { // the first word of a link stands
			k.left = departure{code: e.Code, culprit: study.SeatOf(e.Site)}
		}
	}
}

// NewDrafted makes the entry that commits the result's draft.
func (s *State) NewDrafted(draft []byte) Entry {
	return s.entry(Entry{Kind: EntryDrafted, Draft: draft})
}

// Unsigned returns the code with which a site refused to sign the result on its present link; empty
// where it did not.
func (s *State) Unsigned(site int) study.Code {
	if s.Status != StatusSigning || site < 0 || site >= len(s.live.links) {
		return ""
	}
	return s.live.links[site].left.code
}

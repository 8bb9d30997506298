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
		s.live.drafting = false
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
	l := &s.live
	switch {
	case l.proposing:
	case s.Draft == nil:
		if !l.drafting {
			l.drafting = true
			return []Effect{Draft{}}
		}
	case s.graph().Certified(l.attested):
		return s.propose(Entry{Kind: EntryAttested, Attestations: slices.Clone(l.attested)})
	}
	return nil
}

// result asks a site for its signature on the committed draft. Whoever lacks releases is told them
// first; the others know them.
func (p *prompter) result() {
	s, l, i := p.s, &p.s.live, p.site
	p.send(tellConfirmed, 1, func() wire.Message {
		return wire.Confirmed{Header: p.inSetup(), Signatures: s.Confirmations}
	})
	p.final()
	p.lacked()
	if s.Draft != nil && l.attested[i] == nil && s.graph().Signs(i) {
		p.send(askAttestation, 1, func() wire.Message {
			return wire.Attest{Header: wire.Header{Study: s.plan.Digest}, Draft: s.Draft}
		})
	}
}

// unsigned notes a site's no to signing. It is asked again on its next link. Until then the
// study does not wait for it. What else comes is a late answer about the last query.
func (s *State) unsigned(e Refused) {
	switch e.Code {
	case study.CodeOutOfOrder:
		if e.Lacks > 0 {
			s.live.lacked(e, len(s.Releases))
		}
	case study.CodeBadResult, study.CodeSecondResult, study.CodeForked, study.CodeBrokenChain, study.CodeStore, study.CodeInternal,
		study.CodeLeft, study.CodeRolledBack, study.CodeNotApproved, study.CodeUnknownStudy:
		if s.live.left[e.Site].code == "" { // the first word of a link stands
			s.live.left[e.Site] = departure{code: e.Code, culprit: e.Site}
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
	if s.Status != StatusSigning || site < 0 || site >= len(s.live.left) {
		return ""
	}
	return s.live.left[site].code
}

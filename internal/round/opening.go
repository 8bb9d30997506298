package round

import (
	"slices"

	"covey/internal/study"
)

// Shares open a sum by themselves where all who dealt and all who hold what was dealt did as they
// should. Else an opening waits for more (docs/protocol.md): proofs of the helpers whose shares do
// not make what one dealer committed to, one dealer at a time, and keys of the survivors whose
// pairs with a site outside of them nothing else opens.

// wants notes which sites' answers the opening waits for. Who was asked before is asked again: its
// answer came when it was not waited for. So is everybody for the shares that came while the
// opening was under way.
func (s *State) wants(list []bool, kind ask, from []int) {
	l := &s.live
	clear(list)
	for _, i := range from {
		list[i] = true
	}
	l.askAgain(kind)
	l.askAgain(askShares)
	l.opening = false
}

// WantsProof reports whether the open slot's opening waits for a site's proof of its share of a
// dealer's secret.
func (s *State) WantsProof(site, dealer int) bool {
	return s.live.proof[site] && s.live.dealer == dealer
}

// WantsKeys reports whether the open slot's opening waits for the keys of a site's pairs.
func (s *State) WantsKeys(site int) bool { return s.live.keys[site] }

// unmask moves a committed opening on.
func (s *State) unmask() []Effect {
	l := &s.live
	var out []Effect
	if late := s.unproved(); late != nil {
		for _, i := range late {
			l.shared[i] = false // and nobody is named: asked for on the next link
		}
		clear(l.proof)
		out = append(out, Drop{Query: s.Query, Slot: s.Slot, Helpers: late})
	}
	switch {
	case l.opening || slices.Contains(l.proof, true) || !subset(s.Survivors, l.uploaded) || !s.graph().Openable(l.shared) || s.recalling():
		return out
	case slices.Contains(l.keys, true):
		// Who is convicted has left such tags or deposits behind that only survivors that are away
		// can take its masks out: not to be waited for any longer.
		if l.keyless && len(l.convicted) > 0 {
			out = append(out, s.propose(Entry{Kind: EntryEnded, Code: study.CodeWrongDeposit, Culprit: 1 + l.convicted[0]})...)
		}
		return out
	}
	ask, err := s.Ask()
	if err != nil {
		return append(out, s.propose(Entry{Kind: EntryEnded, Code: study.CodeInternal})...)
	}
	l.opening = true
	return append(out, Open{Ask: ask, Survivors: slices.Clone(s.Survivors)})
}

// unproved returns the helpers whose proofs are wanted and that are away, or silent beyond the
// deadline, if the others' shares open all secrets; else they are waited for.
func (s *State) unproved() []int {
	l := &s.live
	var late []int
	rest := slices.Clone(l.shared)
	for i, wanted := range l.proof {
		if wanted && (l.stalled || !l.connected[i] || l.left[i].code != "") {
			late, rest[i] = append(late, i), false
		}
	}
	if late == nil || !s.graph().Openable(rest) {
		return nil
	}
	return late
}

// hashed reports whether the log holds hashes of tags and deposits alone: a leader that did not
// lead the setup asks each site for its own, once.
func (s *State) hashed() bool { return s.sparse() && !s.whole() }

// recalling reports whether such a leader still waits for a site with a link, for one round's
// deadline at most. What it has not got by then is as lost as what a site left in no shares: an
// opening asks survivors for keys in its place.
func (s *State) recalling() bool {
	l := &s.live
	if !s.hashed() || l.impatient {
		return false
	}
	for i, connected := range l.connected {
		if connected && !l.recalled[i] && l.left[i].code == "" {
			return true
		}
	}
	return false
}

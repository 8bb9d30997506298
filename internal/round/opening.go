package round

import (
	"slices"

	"covey/internal/study"
)

// Shares open a sum by themselves where all who dealt and all who hold what was dealt did as they
// should. Else an opening waits for more (docs/protocol.md): proofs of the helpers whose shares do
// not make what one dealer committed to, one dealer at a time; keys of the survivors whose pairs
// with a site outside of them nothing else opens; tags that the leader before had.

// wants notes whose answers the opening waits for. Shares that came while it was under way are
// asked for again.
func (l *live) wants(list []bool, from []int) {
	clear(list)
	for _, i := range from {
		list[i] = true
	}
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
func (s leader) unmask() []Effect {
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
	case l.opening || slices.Contains(l.proof, true) || !subset(s.Survivors, l.uploaded) || !s.graph().Openable(l.shared):
		return out
	case l.keyed():
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
	if !l.stalled && slices.ContainsFunc(s.Survivors, s.unheard) && s.removes(ask) {
		// With its shares each survivor sends the key of what is taken away of its noise. Until the
		// deadline it is waited for; then its noise stays.
		return out
	}
	l.opening = true
	return append(out, Open{Ask: ask, Survivors: slices.Clone(s.Survivors)})
}

// removes reports whether something is taken away of the survivors' noise.
func (s leader) removes(ask study.Ask) bool {
	removable, err := s.plan.Noise.Removable(ask.Sigma, len(s.Survivors))
	return err == nil && len(removable) > 0
}

// unheard reports whether a site's shares never came in the open slot, and may still come.
func (s leader) unheard(site int) bool {
	return !s.live.heard[site] && !s.live.gone(site)
}

// unproved returns the helpers whose proofs are wanted and that are away, or silent beyond the
// deadline, if the others' shares open all secrets; else they are waited for.
func (s leader) unproved() []int {
	l := &s.live
	var late []int
	rest := slices.Clone(l.shared)
	for i, wanted := range l.proof {
		if wanted && (l.silent || !l.connected[i] || l.gone(i)) {
			late, rest[i] = append(late, i), false
		}
	}
	if late == nil || !s.graph().Openable(rest) {
		return nil
	}
	return late
}

// keyed reports whether keys or tags are waited for.
func (l *live) keyed() bool {
	return slices.Contains(l.keys, true) || slices.Contains(l.lost, true)
}

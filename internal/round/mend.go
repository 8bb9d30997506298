package round

import (
	"slices"
	"time"

	"covey/internal/study"
)

// A site whose data cannot be read, or is not what was approved, whose disk is full, or whose chain
// the log does not extend, says so and sends nothing. An operator can fix that, so it ends no
// query: the site is asked again after a while, until it uploads. The ledger sends again what is on
// record. Any other refusal stands until the site's next link.

// restMost bounds the pause before such a site is asked again: a deadline may be days away.
const restMost = time.Minute

// mends reports whether the reason for a refusal can be fixed while the study runs.
func (d departure) mends() bool {
	switch d.code {
	case study.CodeData, study.CodeDataChanged, study.CodeStore, study.CodeBrokenChain:
		return true
	}
	return false
}

// Refused returns the code with which a site refused on its present link while the study runs;
// empty where it did not, or has uploaded since.
func (s *State) Refused(site int) study.Code {
	if s.Status != StatusRunning {
		return ""
	}
	return s.live.links[site].left.code
}

// rest asks for one pause at a time, however often sites say no.
func (s leader) rest() []Effect {
	l := &s.live
	if l.resting || !slices.ContainsFunc(l.links, func(k link) bool { return k.left.mends() && !k.left.again }) {
		return nil
	}
	l.resting = true
	return []Effect{SetRest{After: min(time.Duration(s.plan.Proposal.Spec.Deadlines.Round), restMost)}}
}

// observe has the sites that may have fixed it asked about the open slot again.
func (Rested) observe(s *State) {
	s.live.resting = false
	for i := range s.live.links {
		k := &s.live.links[i]
		if s.Status == StatusRunning && k.left.mends() && !k.left.again {
			k.left.again = true
			k.asked.forget(askUpload)
		}
	}
}

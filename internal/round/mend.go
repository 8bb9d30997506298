package round

import (
	"slices"
	"time"

	"covey/internal/study"
)

// A site whose data cannot be read, or is not what was approved, whose disk is full, or whose chain
// the log does not extend, says so and sends nothing. An operator can put that right, so that it
// ends no query: the site is asked again after a while, until it uploads. The ledger sends again
// what is on record. Any other refusal stands until the site's next link.

// restMost bounds the pause before such a site is asked again: a deadline may be days away.
const restMost = time.Minute

// mends reports whether what a site refused with can be put right while the study runs.
func (d departure) mends() bool {
	switch d.code {
	case study.CodeData, study.CodeDataChanged, study.CodeStore, study.CodeBrokenChain:
		return true
	}
	return false
}

// gone reports whether a site is barred, or said no on its link and was not asked again since.
func (l *live) gone(site int) bool {
	return l.barred[site] || l.left[site].code != "" && !l.left[site].again
}

// Refused returns what a site said no with on its present link, while the study runs; empty where
// it did not, or has uploaded since.
func (s *State) Refused(site int) study.Code {
	if s.Status != StatusRunning {
		return ""
	}
	return s.live.left[site].code
}

// rest asks for one pause at a time, however often sites say no.
func (s leader) rest() []Effect {
	l := &s.live
	if l.resting || !slices.ContainsFunc(l.left, func(d departure) bool { return d.mends() && !d.again }) {
		return nil
	}
	l.resting = true
	return []Effect{SetRest{After: min(time.Duration(s.plan.Proposal.Spec.Deadlines.Round), restMost)}}
}

// rested has the sites that may have put it right asked about the open slot again.
func (s *State) rested() {
	l := &s.live
	l.resting = false
	for i, d := range l.left {
		if s.Status == StatusRunning && d.mends() && !d.again {
			l.left[i].again = true
			l.asked[i].forget(askUpload)
		}
	}
}

// answered reports whether every site has uploaded, or does not in the open slot.
func (s *State) answered() bool {
	for i, in := range s.live.uploaded {
		if !in && !s.live.gone(i) {
			return false
		}
	}
	return true
}

// spared reports whether a site is waited for only where the others do not suffice. One that does
// not sign the result is named, with its reason.
func (s *State) spared(site int) bool {
	return s.live.barred[site] || s.Status == StatusRunning && s.live.gone(site)
}

// spares reports whether the study can go on without those that are spared. It then waits for none
// of them.
func (s *State) spares() bool {
	l := &s.live
	if !slices.ContainsFunc(everybody(s.plan), s.spared) {
		return false // the same, and not worth a look at a large graph
	}
	can := func(has [][]byte) [][]byte { // by site: it has signed, or may still
		out := slices.Clone(has)
		for i := range out {
			if out[i] == nil && !s.spared(i) {
				out[i] = []byte{}
			}
		}
		return out
	}
	switch {
	case s.Status == StatusSigning:
		return s.graph().Certified(can(l.attested))
	case s.Status != StatusRunning || s.waits():
		return false
	}
	may := func(has []bool) []bool { // by site: it has answered, or may still
		out := slices.Clone(has)
		for i := range out {
			out[i] = out[i] || !s.spared(i)
		}
		return out
	}
	if s.Survivors == nil {
		return len(s.graph().Largest(indices(may(l.uploaded)))) >= s.plan.Thresholds.MinSurvivors
	}
	return subset(s.Survivors, may(l.uploaded)) && s.graph().Certified(can(l.signed)) && s.graph().Openable(may(l.shared))
}

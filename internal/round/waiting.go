package round

import (
	"slices"

	"covey/internal/study"
)

// Who is waited for: the sites without whose answers the study cannot go on.

// WaitingFor returns the sites without which the study cannot go on now, or for which it waits
// until a deadline.
func (s *State) WaitingFor() []int {
	var out []int
	spares := s.spares()
	for i := range s.plan.Thresholds.Sites {
		if s.awaits(i) && !(spares && s.spared(i)) {
			out = append(out, i)
		}
	}
	return out
}

// awaits reports whether an answer of a site is missing.
func (s *State) awaits(site int) bool {
	switch s.Status {
	case StatusProposed:
		return s.Verdicts[site] != study.VerdictApproved
	case StatusSetup:
		return s.live.setup.awaited(site, s.plan.Thresholds.Sparse())
	case StatusRunning:
		return s.awaitsInSlot(site)
	case StatusSigning:
		return s.Draft != nil && s.live.signing.attested[site] == nil && s.graph().Signs(site)
	}
	return false
}

// Phase says in a word what the open slot is at.
func (s *State) Phase() string {
	switch {
	case s.Survivors == nil, !subset(s.Survivors, s.live.slot.uploaded):
		return "upload"
	case s.Certificate == nil:
		return "sign"
	case s.live.slot.opening.proving():
		return "prove"
	case s.live.slot.opening.keyed():
		return "keys"
	}
	return "open"
}

// spared reports whether a site is waited for only where the others do not suffice. One that does
// not sign the result is named, with its reason.
func (s *State) spared(site int) bool {
	k := &s.live.links[site]
	return k.barred || s.Status == StatusRunning && (k.gone() || k.absent())
}

// spares reports whether the study can go on without those that are spared. It then waits for none
// of them.
func (s *State) spares() bool {
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
		return s.graph().Certified(can(s.live.signing.attested))
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
	o := &s.live.slot
	if s.Survivors == nil {
		return len(s.graph().Largest(indices(may(o.uploaded)))) >= s.plan.Thresholds.MinSurvivors
	}
	return subset(s.Survivors, may(o.uploaded)) && s.graph().Certified(can(o.signed)) && s.graph().Openable(may(o.opening.shared))
}

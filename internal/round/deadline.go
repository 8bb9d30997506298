package round

import "time"

// Phase of a slot that has a deadline.
type Phase string

// The phases.
const (
	PhaseUpload Phase = "upload"
	PhaseOpen   Phase = "open"
	PhaseProofs Phase = "proofs"
	PhaseKeys   Phase = "keys" // of pairs that nothing else opens
)

// deadlines are the open slot's.
type deadlines struct{ set, passed map[Phase]bool }

func newDeadlines() deadlines { return deadlines{map[Phase]bool{}, map[Phase]bool{}} }

func (e Expired) observe(s *State) {
	if !s.open(e.Query, e.Slot) {
		return
	}
	s.live.slot.deadlines.passed[e.Phase] = true
	if e.Phase == PhaseUpload {
		for i, in := range s.live.slot.uploaded {
			if !in {
				s.live.links[i].missed++
			}
		}
	}
}

// late reports whether a deadline of the open slot has passed.
func (s *State) late(of Phase) bool { return s.live.slot.deadlines.passed[of] }

// Overdue reports whether the deadline of what the open slot is at has passed.
func (s *State) Overdue() bool { return s.late(s.timed()) }

// timed returns the phase of the open slot that has a deadline now. A leader that began with a
// committed U has none for uploads.
func (s *State) timed() Phase {
	switch {
	case s.live.slot.opening.proving():
		return PhaseProofs
	case s.live.slot.opening.keyed():
		return PhaseKeys
	case s.Survivors != nil:
		return PhaseOpen
	}
	return PhaseUpload
}

// deadlines sets each of the open slot's once.
func (s leader) deadlines() []Effect {
	phase, set := s.timed(), s.live.slot.deadlines.set
	if set[phase] {
		return nil
	}
	set[phase] = true
	after := time.Duration(s.plan.Proposal.Spec.Deadlines.Round)
	return []Effect{SetDeadline{Query: s.Query, Slot: s.Slot, Phase: phase, After: after}}
}

package round

import "slices"

// A log that was put back to before a U was committed learns of it from the sites that signed it:
// each says what it signed before it uploads (AG-21). One of them may lie, with a signature of its
// own on any U, so that a U counts only when more sites say it than can be corrupt.
// docs/adr/0011-held-survivors.md has the argument.

// held returns the U of the open slot that more signers hold than can be corrupt, once U_min sites
// have answered; of two, the one of most sites. Nil for none.
func (s *State) held() []int {
	answered := 0
	for i, u := range s.live.held {
		if u != nil || s.live.uploaded[i] {
			answered++
		}
	}
	best, most := s.claimed()
	if answered < s.plan.Thresholds.MinSurvivors || most <= s.corruptSigners() {
		return nil
	}
	return best
}

// doubtful reports whether the U of most sites' word may be certified although too few sites say
// it: the signers that have not answered, and as many as can be corrupt of those that have, may
// have signed it too. What nobody says is not certified, once U_min sites have answered.
func (s *State) doubtful() bool {
	_, most := s.claimed()
	t := s.plan.Thresholds
	return most > 0 && most+s.silent()+s.corruptSigners() >= t.Threshold
}

// claimed returns the U that most signers say they signed in the open slot, and how many they are.
func (s *State) claimed() (best []int, most int) {
	for i, u := range s.live.held {
		if u == nil || !s.graph().Signs(i) {
			continue
		}
		same := 0
		for j, v := range s.live.held {
			if v != nil && s.graph().Signs(j) && slices.Equal(u, v) {
				same++
			}
		}
		if same > most {
			best, most = u, same
		}
	}
	return best, most
}

// silent is how many sites whose signatures count have not answered in the open slot.
func (s *State) silent() int {
	n := 0
	for i, u := range s.live.held {
		if u == nil && !s.live.uploaded[i] && s.graph().Signs(i) {
			n++
		}
	}
	return n
}

// corruptSigners is how many of the sites whose signatures count can be corrupt: η, and so few that
// two certificates have an honest signer in common.
func (s *State) corruptSigners() int {
	t := s.plan.Thresholds
	return min(t.Corrupt, 2*t.Threshold-t.Holders-1)
}

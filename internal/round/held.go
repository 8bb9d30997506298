package round

import "slices"

// A log that was restored to before a U was committed learns of it from the sites that signed it:
// each says what it signed before it uploads (AG-21). One of them may lie, with a signature of its
// own on any U, so that a U counts only when more sites say it than can be corrupt: more than b
// (docs/protocol.md, R7).
//
// A certified U is found. T sites signed it. If all are honest, of any U_min sites at least
// T+U_min-N ≥ 2q-N > η say so on the complete graph, and T-a on the sparse one if a of the
// committee are away: more than b while a ≤ K-T, beyond which no query can be signed. If corrupt
// signers stay silent it takes the answers of q-η ≥ η+1 honest ones.
//
// A slot may be given up after its deadline if U_min sites have answered and sent no shares in it:
// at most N-U_min+η < q shares are out.
//
// A false claim delays nothing that its sites could not stop by silence. If c ≤ η of N sites make
// one and q honest sites have answered, c+s+η ≤ N-q+η < q for the s signers that have not: the
// leader goes on in the same slot.

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

package round

import (
	"slices"

	"covey/internal/proposal"
)

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

// claims are what sites say they signed in the open slot.
type claims struct {
	held     [][]int // by site, nil where one says nothing
	uploaded []bool  // by site: its upload came, an answer too
	graph    Graph
	proposal.Thresholds
}

func (s *State) claims() claims {
	return claims{s.live.held, s.live.uploaded, s.graph(), s.plan.Thresholds}
}

// certain returns the U that more signers hold than can be corrupt, once U_min sites
// have answered; of two, the one of most sites. Nil for none.
func (c claims) certain() []int {
	answered := 0
	for i, u := range c.held {
		if u != nil || c.uploaded[i] {
			answered++
		}
	}
	best, most := c.claimed()
	if answered < c.MinSurvivors || most <= c.corruptSigners() {
		return nil
	}
	return best
}

// doubtful reports whether the U of most sites' word may be certified although too few sites say
// it: the signers that have not answered, and as many as can be corrupt of those that have, may
// have signed it too. What nobody says is not certified, once U_min sites have answered.
func (c claims) doubtful() bool {
	_, most := c.claimed()
	return most > 0 && most+c.silent()+c.corruptSigners() >= c.Threshold
}

// claimed returns the U that most signers say they signed, and how many they are.
func (c claims) claimed() (best []int, most int) {
	for i, u := range c.held {
		if u == nil || !c.graph.Signs(i) {
			continue
		}
		same := 0
		for j, v := range c.held {
			if v != nil && c.graph.Signs(j) && slices.Equal(u, v) {
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
func (c claims) silent() int {
	n := 0
	for i, u := range c.held {
		if u == nil && !c.uploaded[i] && c.graph.Signs(i) {
			n++
		}
	}
	return n
}

// corruptSigners is how many of the sites whose signatures count can be corrupt: η, and so few that
// two certificates have an honest signer in common.
func (c claims) corruptSigners() int {
	return min(c.Corrupt, 2*c.Threshold-c.Holders-1)
}

package round

import (
	"slices"

	"covey/internal/proposal"
)

// A log that was put back to before a U was committed learns of it from the sites that signed it:
// each says what it signed before it uploads (AG-21). One of them may lie, with a signature of its
// own on any U, so that a U counts only when more sites say it than can be corrupt.
// docs/protocol.md, R7, has the argument.

// claims are what sites say they signed in the open slot.
type claims struct {
	held     [][]int // by site, nil of who says nothing
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

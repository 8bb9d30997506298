package round

import (
	"slices"

	"covey/internal/proposal"
	"covey/internal/study"
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

// word is what a site claims to have done that this log does not have.
type word struct {
	held   []int // the U that it signed in the open slot, shown by its signature; nil for none
	shared bool  // it sent shares in the open slot, before this leader asked for any
	// it sent shares in an earlier slot of the open query, so that no later one can have it
	spent bool
}

// claims are what sites say they signed in the open slot.
type claims struct {
	words    []word // by site
	uploaded []bool // by site: its upload came, an answer too
	graph    Graph
	proposal.Thresholds
}

func (s *State) claims() claims {
	return claims{s.live.slot.words, s.live.slot.uploaded, s.graph(), s.plan.Thresholds}
}

// hold notes a site's word. The log lost what it holds (a restored backup).
func (s *State) hold(e Refused) {
	w := &s.live.slot.words[e.Site]
	switch {
	case s.open(e.Query, e.Slot):
		w.held, w.shared = e.Held, w.shared || e.Shared
	case e.Query == s.Query && e.Slot < s.Slot:
		// It sent shares in a slot that this log gave up: it takes part in no
		// other, and without that slot's uploads nobody can open it any more.
		w.spent = true
	}
}

// doubt names a site that says it signed another U than the committed one.
func (s leader) doubt(site int, u []int) []Effect {
	if u == nil || s.Survivors == nil || slices.Equal(u, s.Survivors) {
		return nil
	}
	return []Effect{Doubt{site, study.CodeHeld}}
}

// certain returns the U that more signers hold than can be corrupt, once U_min sites
// have answered; of two, the one of most sites. Nil for none.
func (c claims) certain() []int {
	answered := 0
	for i, w := range c.words {
		if w.held != nil || c.uploaded[i] {
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
	for i, w := range c.words {
		if w.held == nil || !c.graph.Signs(i) {
			continue
		}
		same := 0
		for j, v := range c.words {
			if v.held != nil && c.graph.Signs(j) && slices.Equal(w.held, v.held) {
				same++
			}
		}
		if same > most {
			best, most = w.held, same
		}
	}
	return best, most
}

// silent is how many sites whose signatures count have not answered in the open slot.
func (c claims) silent() int {
	n := 0
	for i, w := range c.words {
		if w.held == nil && !c.uploaded[i] && c.graph.Signs(i) {
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

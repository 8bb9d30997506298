package coordinator

import (
	"time"

	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// session is the leader's memory of one study. All of it is the leader's, as are its methods, and
// dies with the process; none of it reaches the log.
type session struct {
	leader *leader
	state  *round.State
	plan   *study.Plan
	setup  *secagg.Setup // nil until the announcements are checked and the graph is drawn
	// On the sparse graph, until the setup is on record: the heads before the graph is drawn, and
	// by site the parts of its announcement that are for some sites alone.
	board         *secagg.Board
	seals, bodies [][]byte
	kept          secagg.Kept // what is here for when a site drops out

	tally
	deadline time.Time // of the open phase
	faults   []Fault
	words    map[int][]byte // signatures of the decisions on their way to the log, by site
	// fits checks a signature on the committed draft of the result; nil before one came
	fits func(identity, signature []byte) bool
}

const maxFaults = 100 // kept for display; a faulty site cannot grow memory

func (s *session) fault(site int, code study.Code) {
	name := s.plan.Proposal.Roster[site].Name
	s.leader.log.Warn("a site's message failed a check and was dropped", "study", s.plan.Digest, "site", name, "query", s.query, "code", code)
	s.leader.happened(Happening{Kind: outline.HappenedFault, Study: s.plan.Digest, Site: name, Query: s.query, Slot: s.slot, Code: code})
	if len(s.faults) < maxFaults {
		s.faults = append(s.faults, Fault{Site: name, Query: s.query, Code: code})
	}
}

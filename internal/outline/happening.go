package outline

import (
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
)

// Happening is one line of the event log that people read. It names and numbers what
// is public: nothing in it comes from data.
type Happening struct {
	At   time.Time `json:"at"`   // the leader's clock
	Kind string    `json:"kind"` // a round.EntryKind, or one of the constants below
	// Study is zero for what concerns no study.
	Study   proposal.Digest `json:"study,omitzero"`
	Site    string          `json:"site,omitempty"`
	Analyst string          `json:"analyst,omitempty"`
	Node    string          `json:"node,omitempty"`    // a coordinator
	Accuser string          `json:"accuser,omitempty"` // as in View, of a study's end
	Code    study.Code      `json:"code,omitempty"`
	Query   int             `json:"query,omitempty"`
	Slot    int             `json:"slot,omitempty"`
	Sites   int             `json:"sites,omitempty"` // survivors
	// Verdict is a decision's.
	Verdict study.Verdict `json:"verdict,omitempty"`
}

// What can happen apart from a study's own entries. The last five are one coordinator's own
// experience, kept in memory; all others are in the log, the same for all.
const (
	HappenedCompleted    = "completed" // with enough sites' signatures on the result
	HappenedInvited      = "invited"
	HappenedJoined       = "joined"
	HappenedRevoked      = "revoked"
	HappenedEntered      = "entered"
	HappenedRemoved      = "removed"
	HappenedConnected    = "connected"
	HappenedDisconnected = "disconnected"
	HappenedFault        = "fault" // a site's message failed a check
	HappenedLeads        = "leads"
	HappenedFollows      = "follows"
)

// keptHappenings bounds each list: the oldest are forgotten.
const keptHappenings = 1000

// Journal is a list of them, the oldest first.
type Journal []Happening

// Add appends a line. A copy made before keeps the lines that it has.
func (j *Journal) Add(h Happening) {
	if len(*j) >= keptHappenings {
		*j = append(Journal(nil), (*j)[len(*j)-keptHappenings/2:]...)
	}
	*j = append(*j, h)
}

// Blame is View's, of a study's end.
func (h Happening) Blame() string { return blame(h.Site, h.Accuser) }

// Latest returns up to most of the last lines of two journals, the newest first. They are merged by
// time, and each journal stays in its own order, the log's: the next leader's clock may be behind.
func Latest(a, b Journal, most int) []Happening {
	out := make([]Happening, 0, min(most, len(a)+len(b)))
	for len(out) < cap(out) {
		from := &a
		if len(a) == 0 || len(b) > 0 && !a[len(a)-1].At.After(b[len(b)-1].At) {
			from = &b
		}
		last := len(*from) - 1
		out = append(out, (*from)[last])
		*from = (*from)[:last]
	}
	return out
}

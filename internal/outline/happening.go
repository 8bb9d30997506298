package outline

import (
	"log/slog"
	"time"

	"covey/internal/proposal"
	"covey/internal/round"
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
	// Verdict is that of a decision.
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

// Log logs a study's course: who reads a leader's log has no page. Each release is at the level of
// debugging.
func (h Happening) Log(log *slog.Logger) {
	switch h.Kind {
	case string(round.EntryProposed):
		log.Info("a study is proposed; its sites are asked")
	case string(round.EntryDecided):
		log.Info("a site has decided", "site", h.Site, "verdict", h.Verdict, "code", h.Code)
	case string(round.EntryPrepared):
		log.Info("all sites are set up; the study begins")
	case string(round.EntryAbandoned):
		log.Warn("a slot is given up; the query goes on in the next", "query", h.Query, "slot", h.Slot)
	case string(round.EntryReleased):
		log.Debug("a sum is released", "query", h.Query, "slot", h.Slot)
	case HappenedCompleted:
		log.Info("the study is completed")
	case string(round.EntryEnded):
		log.Info("the study ended without a result", "code", h.Code, "site", h.Site, "accuser", h.Accuser)
	}
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

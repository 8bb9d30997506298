package coordinator

import (
	"maps"
	"time"

	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// note journals a committed entry that changed something. It is deterministic: the time is the
// entry's.
func (m *leader) note(e entry) {
	h := outline.Happening{At: e.At}
	switch {
	case e.Invite != nil:
		h.Kind, h.Site, h.Analyst, h.Node = outline.HappenedInvited, e.Invite.Site, e.Invite.Analyst, e.Invite.Node
	case e.Join != nil:
		h.Kind = outline.HappenedJoined
		names(&h, m.who.RoleOf(e.Join.Name), e.Join.Name)
	case e.Revoke != nil:
		h.Kind = outline.HappenedRevoked
		names(&h, e.Revoke.Role, e.Revoke.Name)
	case e.CA != nil:
		h.Kind = "ca " + e.CA.Step
	case e.Node != nil && len(e.Node.Addresses) > 0:
		h.Kind, h.Node = outline.HappenedEntered, e.Node.ID
	case e.Forget != nil:
		h.Kind, h.Node = outline.HappenedRemoved, e.Forget.Node
	case e.Round != nil:
		if e.Round.Kind == round.EntryDrafted {
			return // nobody outside sees it
		}
		m.noteRound(&h, e.Round)
	default: // a new coordinator's token is spent and its key noted: it enters next; unused join files are withdrawn
		return
	}
	m.record(h)
	if e.Round != nil {
		m.date(h.Study, e)
	}
	if e.Round != nil && e.Round.Kind == round.EntryReleased && m.studies[h.Study].Terminal() {
		m.record(outline.Happening{At: e.At, Kind: string(round.EntryEnded), Study: h.Study, Code: m.studies[h.Study].Code})
	}
}

// noteRound notes an applied entry of a study's.
func (m *leader) noteRound(h *outline.Happening, r *round.Entry) {
	h.Kind, h.Study, h.Code, h.Query, h.Slot, h.Sites, h.Verdict = string(r.Kind), r.Study, r.Code, r.Query, r.Slot, len(r.Survivors), r.Verdict
	roster := m.studies[r.Study].Plan().Proposal.Roster // applied, so known
	switch r.Kind {
	case round.EntryDecided:
		h.Site = roster[r.Site].Name
		if r.Verdict != study.VerdictRejected {
			h.Code = "" // a reason is a rejection's
		}
	case round.EntryAttested:
		h.Kind, h.Code, h.Query, h.Slot = outline.HappenedCompleted, study.CodeCompleted, 0, 0
	case round.EntryEnded:
		name := func(s study.Seat) string {
			if i := s.Site(); i >= 0 && i < len(roster) {
				return roster[i].Name
			}
			return ""
		}
		h.Site, h.Accuser = name(r.Culprit), name(r.Accuser)
	}
}

// names notes a site or an analyst.
func names(h *outline.Happening, role pki.Role, name string) {
	if role == pki.RoleAnalyst {
		h.Analyst = name
	} else {
		h.Site = name
	}
}

// date notes what an applied entry of a study's says of its dates. What was noted first stays.
func (m *replicated) date(digest proposal.Digest, e entry) {
	m.dates[digest] = m.dates[digest].After(*e.Round, e.At, m.studies[digest].Terminal())
}

// record journals what the log has committed, and lets the leader log it.
func (m *leader) record(h outline.Happening) {
	m.journal.Add(h)
	if s := m.studies[h.Study]; s != nil && m.leading {
		h.Log(m.log.With("study", h.Study, "name", s.Plan().Proposal.Spec.Name))
	}
}

// happened journals what this coordinator alone has seen.
func (m *leader) happened(h outline.Happening) {
	h.At = m.now().UTC()
	m.seen.Add(h)
	if h.Kind == outline.HappenedFault {
		s := m.sightings[h.Site]
		s.Faults = maps.Clone(s.Faults) // an Overview may hold the old one
		if s.Faults == nil {
			s.Faults = map[study.Code]int{}
		}
		s.Faults[h.Code]++
		m.sightings[h.Site] = s
		m.paced(h.Site).Spend(time.Now(), costFault)
	}
}

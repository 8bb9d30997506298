package coordinator

import (
	"bytes"
	"slices"

	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// convicts reports whether what the refusing site shows convicts whom it names: an announcement
// signed by it for the setup under way that is not the one that it sent this leader, since no
// site signs two; a box that does not hold, with what opens it; a box that is not the one that it
// sent this leader.
func (s *session) convicts(r round.Refused, m wire.Refusal) bool {
	accused := r.Culprit.Site()
	if accused < 0 || accused == r.Site || s.state.Status != round.StatusSetup {
		return false
	}
	switch r.Code {
	case study.CodeBadAnnouncement:
		now := s.state.Announcement(accused)
		return now != nil && !bytes.Equal(m.Announcement, now) &&
			s.plan.Setup().CheckAnnounced(accused, m.Announcement) == nil
	case study.CodeBadShare:
		if s.setup == nil {
			return false
		}
		var body []byte
		if s.bodies != nil {
			body = s.bodies[accused]
		}
		guilty, err := s.setup.Judge(accused, r.Site, m.Evidence, body)
		return err == nil && guilty == accused
	case study.CodeBadBox:
		if s.setup == nil {
			return false
		}
		at, ok := slices.BinarySearch(s.setup.Graph().Recipients(accused), r.Site)
		boxes := s.state.Boxes(accused)
		return ok && boxes != nil && s.setup.Convicts(accused, r.Site, boxes[at], m.Evidence)
	}
	return false
}

// refused checks what a refusing site holds before it counts for anything. The release is that of
// the result which it shows, nil if this coordinator did not sign one.
func (s *session) refused(site int, m wire.Refusal, release *study.Release) round.Event {
	r := round.Refused{Site: site, Query: m.Query, Slot: m.Slot, Code: m.Code, Culprit: m.Culprit, Shared: m.Shared, Lacks: m.Lacks}
	if r.Culprit.Site() >= s.plan.Thresholds.Sites {
		r.Culprit = study.Nobody
	}
	if s.state.Status == round.StatusSigning && r.Lacks == 0 && s.state.Unsigned(site) == "" {
		s.leader.log.Warn("a site does not sign the result", "study", s.plan.Digest, "site", s.plan.Proposal.Roster[site].Name, "code", r.Code)
	}
	if r.Proven = s.convicts(r, m); !r.Proven && (len(m.Announcement) > 0 || r.Code == study.CodeBadBox && len(m.Evidence) > 0) {
		r.Culprit = study.Nobody // shown, and no proof: nobody is named
	}
	if !s.current(r.Query, s.state.Slot) {
		return r
	}
	switch r.Code {
	case study.CodeHeld:
		s.turn()
		q, err := s.secaggQuery()
		u := secagg.Survivors(m.Survivors)
		if err == nil && r.Slot == s.state.Slot && slices.Equal(m.Context, q.Context[:]) &&
			u.Validate(s.plan.Thresholds.Sites, s.plan.Thresholds.MinSurvivors) == nil &&
			s.setup.CheckRelease(r.Site, q, u, m.Signature) == nil {
			r.Held = m.Survivors
		} else if r.Slot == s.state.Slot && len(m.Signature) > 0 { // none: it sent shares and signed nothing
			s.fault(r.Site, study.CodeHeld)
		}
	case study.CodeFinal:
		if release == nil {
			if m.Final != nil {
				s.fault(r.Site, study.CodeFinal)
			}
			break
		}
		final := round.Released{Encoded: m.Final.Encoded, Signature: m.Final.Signature, Certificate: m.Final.Certificate}
		if release.Query == s.state.Query && s.plan.CheckRelease(*release) == nil &&
			s.plan.CheckCourse(s.state.Course, release.Ask()) == nil &&
			s.setup.CheckReleased(s.plan.Summed(s.setup.Transcript(), release.Ask()), release.Survivors, final.Certificate) == nil {
			return round.Adopt{Release: *release, Released: final}
		}
	}
	return r
}

package session

import (
	"bytes"
	"crypto/ed25519"
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
func (s *Session) convicts(r round.Refused, m wire.Refusal) bool {
	accused := r.Culprit.Site()
	if accused < 0 || accused == r.Site || s.State.Status != round.StatusSetup {
		return false
	}
	switch r.Code {
	case study.CodeBadAnnouncement:
		now := s.State.Announcement(accused)
		return now != nil && !bytes.Equal(m.Announcement, now) &&
			s.Plan.Setup().CheckAnnounced(accused, m.Announcement) == nil
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
		boxes := s.State.Boxes(accused)
		return ok && boxes != nil && s.setup.Convicts(accused, r.Site, boxes[at], m.Evidence)
	}
	return false
}

// shown checks what a site shows as a result, which is as long as it likes: while others' messages
// are handled the coordinator's own signature is checked, and only then is it parsed.
func (s *Session) shown(site int, m wire.Refusal) Job {
	key := ed25519.PublicKey(s.Plan.Proposal.Coordinator)
	return func() func() round.Event {
		release := study.ParseSigned(m.Final.Encoded, m.Final.Signature, key)
		return func() round.Event { return s.refused(site, m, release) }
	}
}

// refused checks what a refusing site holds before it counts for anything. The release is that of
// the result which it shows, nil if this coordinator did not sign one.
func (s *Session) refused(site int, m wire.Refusal, release *study.Release) round.Event {
	r := round.Refused{Site: site, Query: m.Query, Slot: m.Slot, Code: m.Code, Culprit: m.Culprit, Shared: m.Shared, Lacks: m.Lacks}
	if r.Culprit.Site() >= s.Plan.Thresholds.Sites {
		r.Culprit = study.Nobody
	}
	if s.State.Status == round.StatusSigning && r.Lacks == 0 && s.State.Unsigned(site) == "" {
		s.log.Warn("a site does not sign the result", "study", s.Plan.Digest, "site", s.Plan.Proposal.Roster[site].Name, "code", r.Code)
	}
	if r.Proven = s.convicts(r, m); !r.Proven && (len(m.Announcement) > 0 || r.Code == study.CodeBadBox && len(m.Evidence) > 0) {
		r.Culprit = study.Nobody // shown, and no proof: nobody is named
	}
	if !s.current(r.Query, s.State.Slot) {
		return r
	}
	switch {
	case r.Code == study.CodeHeld && r.Slot == s.State.Slot:
		if s.holds(site, m) {
			r.Held = m.Survivors
		} else if len(m.Signature) > 0 { // none: it sent shares and signed nothing
			s.Fault(site, study.CodeHeld)
		}
	case r.Code == study.CodeFinal && release == nil && m.Final != nil:
		s.Fault(r.Site, study.CodeFinal)
	case r.Code == study.CodeFinal && release != nil:
		final := round.Released{Encoded: m.Final.Encoded, Signature: m.Final.Signature, Certificate: m.Final.Certificate}
		if s.follows(release, final.Certificate) {
			return round.Adopt{Release: *release, Released: final}
		}
	}
	return r
}

// holds reports whether the site shows a release signature of its own in the open slot, on
// survivors that the plan allows.
func (s *Session) holds(site int, m wire.Refusal) bool {
	s.turn()
	q, err := s.secaggQuery()
	u := secagg.Survivors(m.Survivors)
	return err == nil && slices.Equal(m.Context, q.Context[:]) &&
		u.Validate(s.Plan.Thresholds.Sites, s.Plan.Thresholds.MinSurvivors) == nil &&
		s.setup.CheckRelease(site, q, u, m.Signature) == nil
}

// follows reports whether a release that this coordinator signed is the open query's, and was
// opened under a valid certificate.
func (s *Session) follows(release *study.Release, certificate []byte) bool {
	return release.Query == s.State.Query && s.Plan.CheckRelease(*release) == nil &&
		s.Plan.CheckCourse(s.State.Course, release.Ask()) == nil &&
		s.setup.CheckReleased(s.Plan.Summed(s.setup.Transcript(), release.Ask()), release.Survivors, certificate) == nil
}

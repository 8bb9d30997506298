package coordinator

import (
	"crypto/ed25519"
	"slices"
	"time"

	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// session is the leader's memory of one study: the verified setup, and the
// masked uploads and the shares of the open slot. It is guarded by the Machine's
// lock and dies with the process; none of it reaches the log.
type session struct {
	c     *Coordinator
	state *round.State
	plan  *study.Plan
	setup *secagg.Setup // nil until the announcements are checked

	query, slot int
	uploads     map[int][]byte // by site, as received
	opening     *secagg.Opening
	taken       bool      // opening and uploads were given to release; later shares are not needed
	deadline    time.Time // of the open phase
	faults      []Fault
}

// Fault is a site's message that failed a check and was dropped.
type Fault struct {
	Site  string     `json:"site"`
	Query int        `json:"query"`
	Code  study.Code `json:"code"`
}

const maxFaults = 100 // kept for display; a faulty site cannot grow memory

func (s *session) fault(site int, code study.Code) {
	name := s.plan.Proposal.Roster[site].Name
	s.c.log.Warn("a site's message failed a check and was dropped", "study", s.plan.Digest, "site", name, "query", s.query, "code", code)
	s.c.happened(Happening{Kind: HappenedFault, Study: s.plan.Digest, Site: name, Query: s.query, Slot: s.slot, Code: code})
	if len(s.faults) < maxFaults {
		s.faults = append(s.faults, Fault{name, s.query, code})
	}
}

// config is what the setup of a study binds.
func config(p *study.Plan, attempt uint32) secagg.Config {
	c := secagg.Config{
		Study: p.Digest, Corrupt: p.Thresholds.Corrupt, Quorum: p.Thresholds.Quorum,
		MinSurvivors: p.Thresholds.MinSurvivors, Slots: p.Slots, Attempt: attempt,
	}
	for _, m := range p.Proposal.Roster {
		c.Identity = append(c.Identity, ed25519.PublicKey(m.Identity))
	}
	return c
}

// turn forgets the slot before, when the open slot is another.
func (s *session) turn() {
	if s.uploads == nil || s.query != s.state.Query || s.slot != s.state.Slot {
		s.query, s.slot = s.state.Query, s.state.Slot
		s.uploads, s.opening, s.taken = map[int][]byte{}, nil, false
	}
}

// restore reads a committed setup again: after a restart, or on a new leader.
func (s *session) restore() error {
	if s.setup != nil || s.state.Announcements == nil {
		return nil
	}
	setup, err := secagg.Restore(config(s.plan, s.state.Attempt), s.state.Announcements, s.state.Confirmations)
	s.setup = setup
	return err
}

// take gives the open slot's uploads of U and its opening to whoever unmasks the
// sum, outside the lock: from here on the session touches neither.
func (s *session) take(u []int) (map[int][]byte, *secagg.Opening) {
	uploads := make(map[int][]byte, len(u))
	for _, i := range u {
		uploads[i] = s.uploads[i]
	}
	opening := s.opening
	s.opening, s.taken = nil, true
	return uploads, opening
}

// secaggQuery gives what secagg calls the open query.
func (s *session) secaggQuery() (secagg.Query, study.Ask, error) {
	ask, err := s.state.Ask()
	if err != nil {
		return secagg.Query{}, ask, err
	}
	return secagg.Query{
		Slot: ask.Slot, Context: s.plan.Context(s.setup.Transcript(), ask),
		Bits: s.plan.Bits, Lanes: s.plan.Queries[ask.Query].Lanes,
	}, ask, nil
}

func (s *session) current(query, slot int) bool {
	return s.setup != nil && s.state.Status == round.StatusRunning && query == s.state.Query && slot == s.state.Slot
}

func (s *session) dealt(site int, attempt uint32, boxes [][]byte) round.Event {
	if len(boxes) != s.plan.Thresholds.Sites {
		s.fault(site, study.CodeBadShare)
		return nil
	}
	// nil means "not dealt yet" to round; what came is kept apart from that.
	kept := make([][]byte, len(boxes))
	for i, b := range boxes {
		kept[i] = append([]byte{}, b...)
	}
	return round.Dealt{Site: site, Attempt: attempt, Boxes: kept}
}

func (s *session) confirmed(site int, attempt uint32, signature []byte) round.Event {
	if s.setup == nil || attempt != s.state.Attempt {
		return nil
	}
	if err := s.setup.CheckConfirmation(site, signature); err != nil {
		s.fault(site, study.CodeBadConfirmation)
		return nil
	}
	return round.Confirmed{Site: site, Attempt: attempt, Signature: signature}
}

func (s *session) uploaded(site, query, slot int, masked []byte) round.Event {
	if !s.current(query, slot) {
		return nil
	}
	if len(masked) != s.plan.Queries[query].Bytes {
		s.fault(site, study.CodePlanMismatch)
		return nil
	}
	s.turn()
	if s.uploads[site] == nil {
		s.uploads[site] = masked
	}
	return round.Uploaded{Site: site, Query: query, Slot: slot}
}

func (s *session) signed(site, query, slot int, signature []byte) round.Event {
	if !s.current(query, slot) || s.state.Survivors == nil {
		return nil
	}
	q, _, err := s.secaggQuery()
	if err != nil || s.setup.CheckRelease(site, q, s.state.Survivors, signature) != nil {
		s.fault(site, study.CodeBadCertificate)
		return nil
	}
	return round.Signed{Site: site, Query: query, Slot: slot, Signature: signature}
}

func (s *session) shared(site, query, slot int, shares []byte) round.Event {
	if !s.current(query, slot) || s.state.Certificate == nil {
		return nil
	}
	s.turn()
	if s.taken {
		return nil
	}
	if s.opening == nil {
		q, _, err := s.secaggQuery()
		if err != nil {
			return nil
		}
		if s.opening, err = s.setup.NewOpening(q, s.state.Survivors); err != nil {
			s.c.log.Error("the committed survivors cannot be opened", "study", s.plan.Digest, "error", err)
			return nil
		}
	}
	if err := s.opening.Add(site, shares); err != nil {
		s.fault(site, study.CodeBadShare)
		return nil
	}
	return round.Shared{Site: site, Query: query, Slot: slot}
}

// refused checks what a refusing site holds before it counts for anything.
func (s *session) refused(r round.Refused, context []byte, survivors []int, signature []byte, final round.Released) round.Event {
	if r.Culprit >= s.plan.Thresholds.Sites {
		r.Culprit = -1
	}
	if !s.current(r.Query, s.state.Slot) {
		return r
	}
	switch r.Code {
	case study.CodeHeld:
		q, _, err := s.secaggQuery()
		u := secagg.Survivors(survivors)
		if err == nil && r.Slot == s.state.Slot && slices.Equal(context, q.Context[:]) &&
			u.Validate(s.plan.Thresholds.Sites, s.plan.Thresholds.MinSurvivors) == nil &&
			s.setup.CheckRelease(r.Site, q, u, signature) == nil {
			r.Held = survivors
		}
	case study.CodeFinal:
		release, err := study.ParseRelease(final.Encoded)
		if err == nil && release.Query == s.state.Query && s.plan.CheckRelease(release, s.state.Attempt) == nil &&
			ed25519.Verify(ed25519.PublicKey(s.plan.Proposal.Coordinator), study.SigningInput(final.Encoded), final.Signature) {
			return round.Adopt{Release: release, Released: final}
		}
	}
	return r
}

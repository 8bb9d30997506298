package round

import (
	"covey/internal/study"
)

// Step changes the state by one event and gives what the leader has to do.
// The error is a *StaleError, or a proposal that does not parse: an entry that
// changed nothing. An event about another slot than the open one changes nothing.
func (s *State) Step(e Event) ([]Effect, error) {
	lead := leader{s}
	if c, ok := e.(Committed); ok {
		s.live.proposing = false
		if c.Entry.Kind == EntryReleased {
			s.live.adopted = nil // taken, or not to be
		}
		if err := s.apply(c.Entry); err != nil {
			return lead.effects(), err
		}
		var out []Effect
		if c.Entry.Kind == EntrySurvivors && s.live.leading {
			for i, u := range s.live.held {
				out = append(out, lead.doubt(i, u)...)
			}
		}
		return append(out, lead.effects()...), nil
	}
	if s.plan == nil {
		return nil, nil
	}
	if e, ok := e.(Abort); ok {
		return lead.propose(Entry{Kind: EntryEnded, Code: e.Code}), nil
	}
	s.observe(e)
	return append(lead.special(e), lead.effects()...), nil
}

// observe notes a volatile event.
func (s *State) observe(e Event) {
	l := &s.live
	switch e := e.(type) {
	case Led:
		l.reset(s.plan.Thresholds.Sites)
		l.leading, l.graph = true, e.Graph
		for _, i := range e.Connected {
			l.connected[i] = true
		}
		for _, i := range e.Barred {
			l.barred[i] = true
		}
	case Followed:
		l.reset(s.plan.Thresholds.Sites)
	case Connected:
		l.connected[e.Site], l.left[e.Site] = true, departure{}
		l.asked[e.Site], l.lacks[e.Site], l.caught[e.Site] = asked{}, 0, 0
	case Disconnected:
		l.connected[e.Site] = false
	case Barred:
		l.barred[e.Site] = true
	case Announced:
		if s.Status == StatusSetup && l.announced[e.Site] == nil {
			l.announced[e.Site] = e.Signed
		}
	case Revealed:
		if s.Status == StatusSetup {
			l.nonces[e.Site] = e.Nonce
		}
	case Drawn:
		l.drawing, l.graph = false, e.Graph
	case SetupVerified:
		l.verifying, l.verified = false, e.Culprit < 0
	case Dealt:
		if s.Status == StatusSetup && l.boxes[e.Site] == nil {
			l.boxes[e.Site], l.tags[e.Site] = e.Boxes, e.Tags
		}
	case Confirmed:
		if s.Status == StatusSetup {
			l.confirmed[e.Site], l.deposits[e.Site] = e.Signature, e.Deposits
		}
	case Recalled:
		l.recalled[e.Site], l.lost[e.Site] = true, false
	case Uploaded:
		if s.open(e.Query, e.Slot) {
			l.uploaded[e.Site] = true
			if l.left[e.Site].mends() {
				l.left[e.Site] = departure{}
			}
		}
	case Forgotten:
		if s.open(e.Query, e.Slot) {
			clear(l.uploaded)
			l.askAgain(askUpload)
		}
	case Signed:
		if s.open(e.Query, e.Slot) && s.Survivors != nil {
			l.signed[e.Site] = e.Signature
		}
	case Shared:
		if s.open(e.Query, e.Slot) && s.Certificate != nil {
			l.shared[e.Site], l.heard[e.Site] = true, true
		}
	case Unshared:
		// Whoever's shares came too late for that opening is asked again; the site itself
		// had its say.
		if s.open(e.Query, e.Slot) && s.Certificate != nil {
			l.askAgain(askShares)
			l.asked[e.Site][askShares] = 1 + e.Slot
			l.shared[e.Site], l.proof[e.Site], l.opening = false, false, false
		}
	case ProofsMissing:
		if s.open(e.Query, e.Slot) && s.Certificate != nil {
			l.wants(l.proof, e.Helpers)
			l.askAgain(askProof)
			l.dealer, l.silent = e.Dealer, false
			delete(l.timed, string(PhaseProofs)) // each dealer's helpers have one
		}
	case Proved:
		if s.open(e.Query, e.Slot) {
			l.proof[e.Site] = false
		}
	case KeysMissing:
		if s.open(e.Query, e.Slot) && s.Certificate != nil {
			l.wants(l.keys, e.From)
			l.askAgain(askKeys)
			l.convicted = e.Convicted
		}
	case TagsMissing:
		if s.open(e.Query, e.Slot) && s.Certificate != nil {
			l.wants(l.lost, e.Owners)
			l.convicted = e.Convicted
		}
	case Keyed:
		if s.open(e.Query, e.Slot) {
			l.keys[e.Site] = false
		}
	case Attested:
		if s.Status == StatusSigning && s.Draft != nil {
			l.attested[e.Site] = e.Signature
		}
	case OpenFailed:
		if s.open(e.Query, e.Slot) {
			l.failed = &e // and never opened again by this leader
		}
	case Adopt:
		if s.open(e.Release.Query, s.Slot) {
			l.adopted = &e
		}
	case Refused:
		s.refused(e)
	case ProposeFailed:
		l.proposing, l.drafting = false, false
		l.askAgain(askDecision)     // all others are proposed by what is noted here
		l.askAgain(askAnnouncement) // a withdrawal answers this one, too
	case Rested:
		s.rested()
	case Lapsed:
		l.lapsed = true
	case Expired:
		if s.open(e.Query, e.Slot) {
			l.overdue = l.overdue || e.Phase == PhaseUpload
			l.stalled = l.stalled || e.Phase == PhaseOpen
			l.silent = l.silent || e.Phase == PhaseProofs
			l.keyless = l.keyless || e.Phase == PhaseKeys
		}
	}
}

// open reports whether query and slot are the open ones.
func (d *Durable) open(query, slot int) bool {
	return d.Status == StatusRunning && query == d.Query && slot == d.Slot
}

// refuted reports whether a site accuses another without what convicts it. Announcements, nonces,
// confirmations and the form of boxes are shown to sites only once the leader has checked all of
// them; who finds wrong shares in a box, or two boxes of one sender, can prove it.
func (e Refused) refuted() bool {
	return accuses(e.Code) && e.Culprit >= 0 && e.Culprit != e.Site && !e.Proven
}

// accuses reports whether a refusal with the code is about another site than the one that refuses.
func accuses(code study.Code) bool {
	switch code {
	case study.CodeBadAnnouncement, study.CodeBadConfirmation, study.CodeBadShare, study.CodeBadBox:
		return true
	}
	return false
}

// departure is what a refusal leaves on record. A site's word is believed about itself. About
// another it is an accusation, and only of what a site can know: who is named for certain is whom
// the leader has caught.
func (e Refused) departure() departure {
	switch {
	case !accuses(e.Code):
		return departure{code: e.Code, culprit: e.Site}
	case e.Proven:
		return departure{code: e.Code, culprit: e.Culprit}
	case e.refuted():
		return departure{code: study.CodeBadRefusal, culprit: e.Site}
	}
	return departure{code: e.Code, culprit: -1, accuser: 1 + e.Site}
}

// refused notes a site's no. A site that cannot take part ends a setup, and a study that waits for
// every site, unless it may put that right (R24); one that continues goes on without it.
func (s *State) refused(e Refused) {
	switch s.Status {
	case StatusSetup:
		s.live.left[e.Site] = e.departure()
	case StatusSigning:
		s.unsigned(e)
	case StatusRunning:
		switch e.Code {
		case study.CodeHeld:
			// The log lost what this site holds (a restored backup).
			switch {
			case s.open(e.Query, e.Slot):
				s.live.held[e.Site] = e.Held
				s.live.given[e.Site] = s.live.given[e.Site] || e.Shared
			case e.Query == s.Query && e.Slot < s.Slot:
				// It sent shares in a slot that this log gave up: it takes part in no
				// other, and without that slot's uploads nobody can open it any more.
				s.live.spent[e.Site] = true
			}
		case study.CodeOutOfOrder:
			// An answer to something that is over, or of a site that was away for several queries:
			// it needs every release. It is told one at a time, each once a link and slot,
			// so that what waits for a site stays small and no word of its is answered forever.
			if s.open(e.Query, e.Slot) {
				s.live.lacked(e, len(s.Releases))
			}
		case study.CodeFinal:
			// An answer to something that is over.
		default:
			s.live.left[e.Site] = e.departure()
		}
	}
}

// lacked notes which release a site says it needs next.
func (l *live) lacked(e Refused, releases int) {
	if has := e.Lacks - 1; has >= l.caught[e.Site] && has < releases {
		l.lacks[e.Site], l.caught[e.Site] = e.Lacks, e.Lacks
	}
}

// NewReleased makes the entry that commits a release of the open slot: the
// noised values, their charge, and the course that Next gives.
func (s *State) NewReleased(r study.Release, signed Released, next study.Course) Entry {
	return s.entry(release(r, signed, next))
}

func release(r study.Release, signed Released, next study.Course) Entry {
	return Entry{Kind: EntryReleased, Released: &signed, Course: &next, Rho: r.Rho}
}

// Next returns the course after a release of the open query. It reads the committed
// releases and the course, which never change in place: a copy of the state may be asked
// outside the lock that guards it. Most queries need no release before theirs, and every query
// waits for this: none is then parsed.
func (s *State) Next(r study.Release) (study.Course, error) {
	var earlier []study.Release
	if len(s.plan.Queries.Earlier(r.Query)) > 0 {
		for _, e := range s.Releases {
			of, err := study.ParseRelease(e.Encoded)
			if err != nil {
				return study.Course{}, err
			}
			earlier = append(earlier, of)
		}
	}
	return s.plan.Next(s.Course, r, earlier)
}

// entry completes an entry about the open slot.
func (s *State) entry(e Entry) Entry {
	e.Study, e.Query, e.Slot = s.plan.Digest, s.Query, s.Slot
	return e
}

// subset reports whether all of part, site numbers, are in whole.
func subset(part []int, whole []bool) bool {
	for _, i := range part {
		if !whole[i] {
			return false
		}
	}
	return true
}

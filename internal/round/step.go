package round

import (
	"slices"
	"time"

	"covey/internal/study"
)

// Step changes the state by one event and gives what the leader has to do.
// The error is a *StaleError, or a proposal that does not parse: an entry that
// changed nothing. An event about another slot or attempt than the open one changes nothing.
func (s *State) Step(e Event) ([]Effect, error) {
	if c, ok := e.(Committed); ok {
		s.live.proposing = false
		if c.Entry.Kind == EntryReleased {
			s.live.adopted = nil // taken, or not to be
		}
		if err := s.apply(c.Entry); err != nil {
			return s.effects(), err
		}
		var out []Effect
		if c.Entry.Kind == EntrySurvivors && s.live.leading {
			for i, u := range s.live.held {
				out = append(out, s.doubt(i, u)...)
			}
		}
		return append(out, s.effects()...), nil
	}
	if s.plan == nil {
		return nil, nil
	}
	if e, ok := e.(Abort); ok {
		return s.propose(Entry{Kind: EntryEnded, Code: e.Code}), nil
	}
	s.observe(e)
	return append(s.special(e), s.effects()...), nil
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
	case Followed:
		l.reset(s.plan.Thresholds.Sites)
	case Connected:
		l.connected[e.Site], l.left[e.Site] = true, departure{}
		l.asked[e.Site], l.lacks[e.Site], l.caught[e.Site] = asked{}, 0, 0
	case Disconnected:
		l.connected[e.Site] = false
	case Announced:
		if s.Status == StatusSetup && e.Attempt == s.Attempt && l.announced[e.Site] == nil {
			l.announced[e.Site] = e.Signed
		}
	case Revealed:
		if s.Status == StatusSetup && e.Attempt == s.Attempt {
			l.nonces[e.Site] = e.Nonce
		}
	case Drawn:
		l.drawing, l.graph = false, e.Graph
	case SetupVerified:
		l.verifying, l.verified = false, e.Culprit < 0
	case Dealt:
		if s.Status == StatusSetup && e.Attempt == s.Attempt && l.boxes[e.Site] == nil {
			l.boxes[e.Site], l.tags[e.Site] = e.Boxes, e.Tags
		}
	case Confirmed:
		if s.Status == StatusSetup && e.Attempt == s.Attempt {
			l.confirmed[e.Site], l.deposits[e.Site] = e.Signature, e.Deposits
		}
	case Recalled:
		l.recalled[e.Site], l.lost[e.Site] = true, false
	case Uploaded:
		if s.open(e.Query, e.Slot) {
			l.uploaded[e.Site] = true
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
			s.wants(l.proof, e.Helpers)
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
			s.wants(l.keys, e.From)
			l.askAgain(askKeys)
			l.convicted = e.Convicted
		}
	case TagsMissing:
		if s.open(e.Query, e.Slot) && s.Certificate != nil {
			s.wants(l.lost, e.Owners)
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
func (s *State) open(query, slot int) bool {
	return s.Status == StatusRunning && query == s.Query && slot == s.Slot
}

// special returns the entries that one event by itself asks for.
func (s *State) special(e Event) []Effect {
	if !s.live.leading || s.Terminal() {
		return nil
	}
	switch e := e.(type) {
	case Decided:
		if s.decides(e.Site, e.Verdict, e.Code) {
			// Several sites may decide while one entry is on its way, so this
			// does not wait for it: entries of different sites do not conflict.
			return []Effect{Propose{s.entry(Entry{Kind: EntryDecided, Site: e.Site, Verdict: e.Verdict, Code: e.Code})}}
		}
	case SetupVerified:
		if e.Culprit >= 0 {
			return s.propose(Entry{Kind: EntryEnded, Code: study.CodeBadAnnouncement, Culprit: e.Culprit + 1})
		}
	case Drawn:
		if e.Graph == nil {
			return s.propose(Entry{Kind: EntryEnded, Code: study.CodeBadAnnouncement, Culprit: e.Culprit + 1})
		}
	case Refused:
		switch {
		case s.Status != StatusSetup && s.Status != StatusRunning:
		case e.Code == study.CodeHeld && s.open(e.Query, e.Slot):
			return s.doubt(e.Site, e.Held)
		case s.refuted(e):
			return []Effect{Doubt{e.Site, study.CodeBadRefusal}}
		}
	}
	return nil
}

// doubt names a site that says it signed another U than the committed one.
func (s *State) doubt(site int, u []int) []Effect {
	if u == nil || s.Survivors == nil || slices.Equal(u, s.Survivors) {
		return nil
	}
	return []Effect{Doubt{site, study.CodeHeld}}
}

// refuted reports whether a site accuses another without what convicts it. Announcements, nonces,
// confirmations and the form of boxes are shown to sites only once the leader has checked all of
// them; who finds wrong shares in a box, or two boxes of one sender, can prove it.
func (s *State) refuted(e Refused) bool {
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

// departing is what a refusal leaves on record. A site's word is believed about itself. About
// another it is an accusation, and only of what a site can know: who is named for certain is whom
// the leader has caught.
func (s *State) departing(e Refused) departure {
	switch {
	case !accuses(e.Code):
		return departure{code: e.Code, culprit: e.Site}
	case e.Proven:
		return departure{code: e.Code, culprit: e.Culprit}
	case s.refuted(e):
		return departure{code: study.CodeBadRefusal, culprit: e.Site}
	}
	return departure{e.Code, -1, 1 + e.Site}
}

// refused notes a site's no. A site that cannot take part ends a setup, and
// a study that waits for every site; one that continues goes on without it.
func (s *State) refused(e Refused) {
	switch s.Status {
	case StatusSetup:
		s.live.left[e.Site] = s.departing(e)
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
				s.lacks(e)
			}
		case study.CodeFinal:
			// An answer to something that is over.
		case study.CodeBrokenChain:
			// The site waits, until the chain goes on or its operator accepts this one, and then
			// opens a new link.
		default:
			s.live.left[e.Site] = s.departing(e)
		}
	}
}

// lacks notes which release a site says it needs next.
func (s *State) lacks(e Refused) {
	if has := e.Lacks - 1; has >= s.live.caught[e.Site] && has < len(s.Releases) {
		s.live.lacks[e.Site], s.live.caught[e.Site] = e.Lacks, e.Lacks
	}
}

// departed returns the end of the study that a refusal asks for, where one does. It is asked for
// until the log holds it: another entry may be on its way when a site says no.
func (s *State) departed() *Entry {
	l := &s.live
	if s.Status == StatusSetup || s.waits() {
		for _, d := range l.left {
			if d.code != "" {
				return &Entry{Kind: EntryEnded, Code: d.code, Culprit: d.culprit + 1, Accuser: d.accuser}
			}
		}
	}
	if spent := indices(l.spent); s.plan.Thresholds.Sites-len(spent) < s.plan.Thresholds.MinSurvivors {
		// Nobody is named: the log lost a slot, and those that sent shares in it did as they
		// should.
		return &Entry{Kind: EntryEnded, Code: study.CodeHeld}
	}
	return nil
}

// effects returns what the state as a whole asks for: level-triggered, so that no
// lost message or event can leave the study waiting for something nobody was asked.
func (s *State) effects() []Effect {
	if s.plan == nil || !s.live.leading {
		return nil
	}
	out := s.prompts()
	switch s.Status {
	case StatusProposed:
		out = append(out, s.expiry()...)
	case StatusSetup:
		out = append(out, s.prepare()...)
	case StatusRunning:
		out = append(out, s.deadlines()...)
		out = append(out, s.advance()...)
	case StatusSigning:
		out = append(out, s.finish()...)
	}
	return out
}

func (s *State) prepare() []Effect {
	l := &s.live
	if e := s.departed(); e != nil {
		return s.propose(*e)
	}
	switch {
	case all(l.announced) && !l.verified && !l.verifying && !l.proposing:
		l.verifying = true
		return []Effect{VerifySetup{slices.Clone(l.announced)}}
	case s.sparse() && l.verified && all(l.nonces) && l.graph == nil && !l.drawing && !l.proposing:
		l.drawing = true
		return []Effect{DrawGraph{slices.Clone(l.nonces)}}
	case s.settled() && all(l.confirmed):
		e := Entry{
			Kind: EntryPrepared, Attempt: s.Attempt,
			Announcements: slices.Clone(l.announced), Confirmations: slices.Clone(l.confirmed),
		}
		if s.sparse() {
			e.Nonces = slices.Clone(l.nonces)
		}
		switch tags, deposits := slices.Clone(l.tags), slices.Clone(l.deposits); {
		case s.whole():
		case s.sparse():
			e.TagHashes, e.DepositHashes = tags, deposits
		default:
			e.Tags, e.Deposits = tags, deposits
		}
		return s.propose(e)
	}
	return nil
}

// settled reports whether the announcements are checked and the graph is known.
func (s *State) settled() bool { return s.live.verified && (!s.sparse() || s.live.graph != nil) }

// advance moves the open slot on: survivors, certificate, opening.
func (s *State) advance() []Effect {
	l := &s.live
	waits, uploaded := s.waits(), l.uploaded
	if l.proposing {
		return nil
	}
	if l.adopted != nil {
		return s.adopt(*l.adopted)
	}
	if e := s.departed(); e != nil {
		return s.propose(*e)
	}
	switch {
	case l.failed != nil:
		return s.propose(Entry{Kind: EntryEnded, Code: l.failed.Code, Culprit: 1 + l.failed.Culprit})
	case s.Survivors == nil:
		if u := s.held(); u != nil {
			return s.propose(Entry{Kind: EntrySurvivors, Survivors: u})
		}
		if s.doubtful() && !(l.overdue && len(s.free()) >= s.plan.Thresholds.MinSurvivors) {
			return nil
		}
		if everybody := s.all(); subset(everybody, uploaded) {
			return s.propose(Entry{Kind: EntrySurvivors, Survivors: everybody})
		}
		if !l.overdue {
			return nil
		}
		if u := s.graph().Largest(s.Uploaded()); len(u) >= s.plan.Thresholds.MinSurvivors {
			return s.propose(Entry{Kind: EntrySurvivors, Survivors: u})
		}
	case s.Certificate == nil:
		if subset(s.Survivors, uploaded) && s.graph().Certified(l.signed) {
			return s.propose(Entry{Kind: EntryOpening, Certificate: slices.Clone(l.signed)})
		}
		// A leader that began after U was committed asks U's sites for their uploads
		// again, and one restored from a backup may hear that they signed in a later
		// slot. Without shares asked for, nothing can have been opened, so another slot
		// may replace this one: where enough sites say that they sent none here, which a
		// log that was put back cannot know by itself.
		if !waits && l.stalled && len(s.free()) >= s.plan.Thresholds.MinSurvivors {
			if s.spare() {
				return s.propose(Entry{Kind: EntryAbandoned})
			}
			return s.propose(Entry{Kind: EntryEnded, Code: study.CodeRetriesSpent})
		}
	default:
		return s.unmask()
	}
	return nil
}

// adopt proposes a result that this log does not hold.
func (s *State) adopt(e Adopt) []Effect {
	course, err := s.Next(e.Release)
	if err != nil {
		return s.propose(Entry{Kind: EntryEnded, Code: study.CodeInternal})
	}
	return s.propose(release(e.Release, e.Released, course))
}

// free are the sites that answered in the open slot and sent shares neither in it nor in an earlier
// one of the query: they can still send them in a later slot. A site says what it signed and sent
// before it uploads.
func (s *State) free() []int {
	out := s.Uploaded()
	return slices.DeleteFunc(out, func(i int) bool { return s.live.given[i] || s.live.spent[i] })
}

// deadlines sets each of the open slot's once.
func (s *State) deadlines() []Effect {
	phase := PhaseUpload
	switch {
	case slices.Contains(s.live.proof, true):
		phase = PhaseProofs
	case s.keyed():
		phase = PhaseKeys
	case s.Survivors != nil:
		phase = PhaseOpen
	}
	if s.live.timed[string(phase)] {
		return nil
	}
	s.live.timed[string(phase)] = true
	after := time.Duration(s.plan.Proposal.Spec.Deadlines.Round)
	return []Effect{SetDeadline{Query: s.Query, Slot: s.Slot, Phase: phase, After: after}}
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
// outside the lock that guards it.
func (s *State) Next(r study.Release) (study.Course, error) {
	earlier := make([]study.Release, len(s.Releases))
	for i, e := range s.Releases {
		var err error
		if earlier[i], err = study.ParseRelease(e.Encoded); err != nil {
			return study.Course{}, err
		}
	}
	return s.plan.Next(s.Course, r, earlier)
}

// entry completes an entry about the open slot.
func (s *State) entry(e Entry) Entry {
	e.Study, e.Query, e.Slot = s.plan.Digest, s.Query, s.Slot
	return e
}

// propose returns one entry to the log, and no second until the first is
// committed: the log then decides nothing that this leader did not mean.
func (s *State) propose(e Entry) []Effect {
	if s.live.proposing || !s.live.leading || s.Terminal() {
		return nil
	}
	s.live.proposing = true
	return []Effect{Propose{s.entry(e)}}
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

package round

import (
	"slices"
	"time"

	"covey/internal/study"
)

// leader is a study as the node that leads acts on it. Followers have one too: it asks for nothing.
type leader struct{ *State }

// special returns the entries that one event by itself asks for.
func (s leader) special(e Event) []Effect {
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
		case e.refuted():
			return []Effect{Doubt{e.Site, study.CodeBadRefusal}}
		}
	case Expired:
		if waits := s.WaitingFor(); s.open(e.Query, e.Slot) && e.Phase == s.timed() && len(waits) > 0 {
			late := Late{Query: e.Query, Phase: e.Phase}
			for _, i := range waits {
				late.Sites = append(late.Sites, s.plan.Proposal.Roster[i].Name)
			}
			return []Effect{late}
		}
	}
	return nil
}

// doubt names a site that says it signed another U than the committed one.
func (s leader) doubt(site int, u []int) []Effect {
	if u == nil || s.Survivors == nil || slices.Equal(u, s.Survivors) {
		return nil
	}
	return []Effect{Doubt{site, study.CodeHeld}}
}

// effects returns what the state as a whole asks for: level-triggered, so that no
// lost message or event can leave the study waiting for something nobody was asked.
func (s leader) effects() []Effect {
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
		out = append(out, s.rest()...)
		out = append(out, s.advance()...)
	case StatusSigning:
		out = append(out, s.finish()...)
	}
	return out
}

func (s leader) prepare() []Effect {
	l := &s.live
	if e := s.departed(); e != nil {
		return s.propose(*e)
	}
	switch {
	case all(l.announced) && !l.verified && !l.verifying && !l.proposing:
		l.verifying = true
		return []Effect{VerifySetup{slices.Clone(l.announced)}}
	case s.plan.Thresholds.Sparse() && l.verified && all(l.nonces) && l.graph == nil && !l.drawing && !l.proposing:
		l.drawing = true
		return []Effect{DrawGraph{slices.Clone(l.nonces)}}
	case s.settled() && all(l.confirmed):
		e := Entry{
			Kind:          EntryPrepared,
			Announcements: slices.Clone(l.announced), Confirmations: slices.Clone(l.confirmed),
		}
		if s.plan.Thresholds.Sparse() {
			e.Nonces = slices.Clone(l.nonces)
		}
		switch tags, deposits := slices.Clone(l.tags), slices.Clone(l.deposits); {
		case s.plan.Thresholds.Whole():
		case s.plan.Thresholds.Sparse():
			e.TagHashes, e.DepositHashes = tags, deposits
		default:
			e.Tags, e.Deposits = tags, deposits
		}
		return s.propose(e)
	}
	return nil
}

// settled reports whether the announcements are checked and the graph is known.
func (s *State) settled() bool {
	return s.live.verified && (!s.plan.Thresholds.Sparse() || s.live.graph != nil)
}

// advance moves the open slot on: survivors, certificate, opening.
func (s leader) advance() []Effect {
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
		if u := s.claims().certain(); u != nil {
			return s.propose(Entry{Kind: EntrySurvivors, Survivors: u})
		}
		if s.claims().doubtful() && !(l.overdue && len(s.free()) >= s.plan.Thresholds.MinSurvivors) {
			return nil
		}
		if all := everybody(s.plan); subset(all, uploaded) {
			return s.propose(Entry{Kind: EntrySurvivors, Survivors: all})
		}
		if !l.overdue && !s.answered() {
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
		// log that was restored cannot know by itself.
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
func (s leader) adopt(e Adopt) []Effect {
	course, err := s.Next(e.Release)
	if err != nil {
		return s.propose(Entry{Kind: EntryEnded, Code: study.CodeInternal})
	}
	return s.propose(release(e.Release, e.Released, course))
}

// free are the sites that answered in the open slot and sent shares neither in it nor in an earlier
// one of the query: they can still send them in a later slot. A site says what it signed and sent
// before it uploads.
func (s leader) free() []int {
	out := s.Uploaded()
	return slices.DeleteFunc(out, func(i int) bool { return s.live.given[i] || s.live.spent[i] })
}

// deadlines sets each of the open slot's once.
func (s leader) deadlines() []Effect {
	phase := s.timed()
	if s.live.timed[string(phase)] {
		return nil
	}
	s.live.timed[string(phase)] = true
	after := time.Duration(s.plan.Proposal.Spec.Deadlines.Round)
	return []Effect{SetDeadline{Query: s.Query, Slot: s.Slot, Phase: phase, After: after}}
}

// departed returns the end of the study that a refusal asks for, where one does. It is asked for
// until the log holds it: another entry may be on its way when a site says no.
func (s leader) departed() *Entry {
	l := &s.live
	if s.Status == StatusSetup || s.waits() {
		for _, d := range l.left {
			if d.code != "" && !(s.Status == StatusRunning && d.mends()) {
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

// propose returns one entry to the log, and no second until the first is
// committed: the log then decides nothing that this leader did not mean.
func (s leader) propose(e Entry) []Effect {
	if s.live.proposing || !s.live.leading || s.Terminal() {
		return nil
	}
	s.live.proposing = true
	return []Effect{Propose{s.entry(e)}}
}

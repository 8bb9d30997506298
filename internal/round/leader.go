package round

import (
	"slices"

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
		if e.Failed {
			return s.propose(unprepared(e.Culprit))
		}
	case Drawn:
		if e.Graph == nil {
			return s.propose(unprepared(e.Culprit))
		}
	case Refused:
		switch {
		case s.Status != StatusSetup && s.Status != StatusRunning:
		case e.Code == study.CodeHeld && s.open(e.Query, e.Slot):
			return s.doubt(e.Site, e.Held)
		case e.refuted():
			return []Effect{Doubt{e.Site, study.CodeBadRefusal}}
		}
	case Disconnected:
		return s.unlinked(e.Site)
	case Expired:
		if s.open(e.Query, e.Slot) && e.Phase == s.timed() {
			return s.passed(e)
		}
	}
	return nil
}

// unlinked reports, once, that queries go on without a site that missed deadlines while it had a
// link and has now lost it: no later deadline would report it.
func (s leader) unlinked(site int) []Effect {
	k := &s.live.links[site]
	if s.Status != StatusRunning || !k.absent() || k.barred || k.told || slices.Contains(s.WaitingFor(), site) {
		return nil
	}
	k.told = true
	return []Effect{Late{Query: s.Query, Phase: PhaseUpload, Without: []string{s.plan.Proposal.Roster[site].Name}}}
}

// passed reports for which sites the open query still waits after a deadline, and, once each,
// without which it goes on.
func (s leader) passed(e Expired) []Effect {
	late, waits := Late{Query: e.Query, Phase: e.Phase}, s.WaitingFor()
	for i, in := range s.plan.Proposal.Roster {
		switch k := &s.live.links[i]; {
		case slices.Contains(waits, i):
			late.Sites = append(late.Sites, in.Name)
		case e.Phase == PhaseUpload && k.absent() && !k.told && !k.barred:
			k.told = true
			late.Without = append(late.Without, in.Name)
		}
	}
	if len(late.Sites)+len(late.Without) == 0 {
		return nil
	}
	return []Effect{late}
}

// unprepared ends a study whose setup failed. If no site is at fault, none is named.
func unprepared(culprit study.Seat) Entry {
	code := study.CodeBadAnnouncement
	if culprit == study.Nobody {
		code = study.CodeInternal
	}
	return Entry{Kind: EntryEnded, Code: code, Culprit: culprit}
}

// effects returns what the state as a whole asks for: level-triggered, so that no
// lost message or event can leave the study waiting for something nobody was asked.
func (s leader) effects() []Effect {
	if s.plan == nil || !s.live.leading {
		return nil
	}
	if s.Status == StatusRunning && s.departed() != nil {
		return s.advance() // no site is charged for a query of a study that ends
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

// propose returns one entry to the log, and no second until the first is
// committed: the log then decides nothing that this leader did not mean.
func (s leader) propose(e Entry) []Effect {
	if s.live.proposing || !s.live.leading || s.Terminal() {
		return nil
	}
	s.live.proposing = true
	return []Effect{Propose{s.entry(e)}}
}

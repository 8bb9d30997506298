package round

import "covey/internal/study"

// departure is a site's refusal. The zero departure means that the site has not refused.
type departure struct {
	code    study.Code
	culprit study.Seat
	accuser study.Seat // as in Entry
	again   bool       // it was asked again since
}

// refuted reports whether a site accuses another without proof. Sites are shown announcements,
// nonces, confirmations and boxes only once the leader has checked them all, boxes for their form;
// a site that finds wrong shares in a box, or two boxes of one sender, can prove it.
func (e Refused) refuted() bool {
	return accuses(e.Code) && e.Culprit != study.Nobody && e.Culprit != study.SeatOf(e.Site) && !e.Proven
}

// accuses reports whether a refusal with the code is about another site than the one that refuses.
func accuses(code study.Code) bool {
	switch code {
	case study.CodeBadAnnouncement, study.CodeBadConfirmation, study.CodeBadShare, study.CodeBadBox:
		return true
	}
	return false
}

// departure is what a refusal leaves on record. A site is believed about itself. What it says about
// another site is an accusation, and only of something that it can know. A site is named for
// certain only if the leader caught it itself.
func (e Refused) departure() departure {
	switch {
	case !accuses(e.Code):
		return departure{code: e.Code, culprit: study.SeatOf(e.Site)}
	case e.Proven:
		return departure{code: e.Code, culprit: e.Culprit}
	case e.refuted():
		return departure{code: study.CodeBadRefusal, culprit: study.SeatOf(e.Site)}
	}
	return departure{code: e.Code, accuser: study.SeatOf(e.Site)}
}

// observe notes a site's refusal. A site that cannot take part ends a setup, and a study that waits
// for every site, unless the site may fix it (R24). A study that continues goes on without it, or
// ends if too many have left for good.
func (e Refused) observe(s *State) {
	switch s.Status {
	case StatusSetup:
		s.live.links[e.Site].left = e.departure()
	case StatusRunning:
		s.refused(e)
	case StatusSigning:
		s.unsigned(e)
	}
}

// refused notes a no while the study runs.
func (s *State) refused(e Refused) {
	k := &s.live.links[e.Site]
	switch e.Code {
	case study.CodeHeld:
		s.hold(e)
	case study.CodeOutOfOrder:
		// An answer to something that is over, or of a site that was away for several queries:
		// it needs every release. It is told one at a time, each once a link and slot,
		// so that what waits for a site stays small and it is not answered forever.
		if s.open(e.Query, e.Slot) {
			k.lack(e.Lacks, len(s.Releases))
		}
	case study.CodeFinal:
		// An answer to something that is over.
	default:
		k.left = e.departure()
	}
}

// lack notes which release a site says it needs next, as Refused has it.
func (k *link) lack(lacks, releases int) {
	if has := lacks - 1; has >= k.caught && has < releases {
		k.lacks, k.caught = lacks, lacks
	}
}

// departed returns the end of the study that a refusal asks for, where one does. It is asked for
// until the log holds it: another entry may be on its way when a site says no.
func (s leader) departed() *Entry {
	if s.Status == StatusSetup || s.waits() {
		for i := range s.live.links {
			if d := s.live.links[i].left; d.code != "" && !(s.Status == StatusRunning && d.mends()) {
				return &Entry{Kind: EntryEnded, Code: d.code, Culprit: d.culprit, Accuser: d.accuser}
			}
		}
	}
	if s.Status == StatusRunning {
		here, last := s.plan.Thresholds.Sites, departure{}
		for i := range s.live.links {
			if d := s.live.links[i].left; d.code == study.CodeLeft || d.code == study.CodeRolledBack {
				here, last = here-1, d // for good, whatever link comes
			}
		}
		// The last sum is opened all the same where the others can.
		if here < s.plan.Thresholds.MinSurvivors && !(s.Survivors != nil && s.plan.Queries.Left(s.Query) == 1 && s.spares()) {
			return &Entry{Kind: EntryEnded, Code: last.code, Culprit: last.culprit}
		}
	}
	left := s.plan.Thresholds.Sites
	for _, w := range s.live.slot.words {
		if w.spent {
			left--
		}
	}
	if left < s.plan.Thresholds.MinSurvivors {
		// Nobody is named: the log lost a slot, and those that sent shares in it did as they
		// should.
		return &Entry{Kind: EntryEnded, Code: study.CodeHeld}
	}
	return nil
}

package round

import (
	"slices"

	"covey/internal/study"
)

// Approvals: what a site may say on a proposal and when it counts, and for how long all are waited
// for.

// withdraws reports whether a verdict takes an approval back: its operator did, or it expired by
// the site's own clock.
func withdraws(v study.Verdict, code study.Code) bool {
	return v == study.VerdictRejected && (code == study.CodeWithdrawn || code == study.CodeExpired)
}

// decides reports whether a site's verdict changes something. Its first one does, while sites
// decide. After an approval nothing does but a withdrawal: any other verdict is an older one that
// comes late. Withdrawals count until the setup is complete: a site whose setup has not begun does
// not know yet that it was the last to be waited for.
func (s *State) decides(site int, v study.Verdict, code study.Code) bool {
	if v == study.VerdictPending || site < 0 || site >= len(s.Verdicts) {
		return false
	}
	switch s.Status {
	case StatusProposed:
		return s.Verdicts[site] == study.VerdictPending || withdraws(v, code)
	case StatusSetup:
		return withdraws(v, code)
	}
	return false
}

func (s *State) applyDecided(e Entry, stale error) error {
	if !s.decides(e.Site, e.Verdict, e.Code) {
		return stale
	}
	s.Verdicts = slices.Clone(s.Verdicts)
	s.Verdicts[e.Site] = e.Verdict
	approved := 0
	for _, v := range s.Verdicts {
		if v == study.VerdictApproved {
			approved++
		}
	}
	switch {
	case e.Verdict == study.VerdictRejected:
		s.Status, s.Code, s.Culprit = StatusEnded, e.Code, e.Site
	case approved == len(s.Verdicts):
		s.Status = StatusSetup
	}
	return nil
}

// expiry asks for the proposal's expiry once, and ends a study that it found without all approvals.
func (s *State) expiry() []Effect {
	at := s.plan.Proposal.Expires()
	switch {
	case at.IsZero():
		return nil
	case s.live.lapsed:
		return s.propose(Entry{Kind: EntryEnded, Code: study.CodeExpired})
	case !s.live.dated:
		s.live.dated = true
		return []Effect{SetExpiry{At: at}}
	}
	return nil
}

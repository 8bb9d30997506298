package round

import (
	"slices"

	"covey/internal/study"
)

// Approvals: what a site may say about a proposal, when that counts, and how long the study waits
// for all sites.

// withdraws reports whether a verdict takes an approval back: its operator did, or it expired by
// the site's own clock.
func withdraws(v study.Verdict, code study.Code) bool {
	return v == study.VerdictRejected && (code == study.CodeWithdrawn || code == study.CodeExpired)
}

// decides reports whether a site's verdict changes something. Its first one does, while sites
// decide. After an approval nothing does but a withdrawal: any other verdict is an older one that
// comes late. Withdrawals count until the setup is complete: a site whose setup has not begun does
// not know yet that it was the last to be waited for.
func (d *Durable) decides(site int, v study.Verdict, code study.Code) bool {
	if v == study.VerdictPending || site < 0 || site >= len(d.Verdicts) {
		return false
	}
	switch d.Status {
	case StatusProposed:
		return d.Verdicts[site] == study.VerdictPending || withdraws(v, code)
	case StatusSetup:
		return withdraws(v, code)
	}
	return false
}

func (d *Durable) decided(e Entry, stale error) error {
	if !d.decides(e.Site, e.Verdict, e.Code) {
		return stale
	}
	d.Verdicts = slices.Clone(d.Verdicts)
	d.Verdicts[e.Site] = e.Verdict
	approved := 0
	for _, v := range d.Verdicts {
		if v == study.VerdictApproved {
			approved++
		}
	}
	switch {
	case e.Verdict == study.VerdictRejected:
		d.Status, d.Code, d.Culprit = StatusEnded, e.Code, e.Site
	case approved == len(d.Verdicts):
		d.Status = StatusSetup
	}
	return nil
}

// expiry says what is known of the proposal's expiry.
type expiry struct{ set, passed bool }

func (Lapsed) observe(s *State) { s.live.expiry.passed = true }

// expiry asks for the proposal's expiry once, and ends a study that it found without all approvals.
func (s leader) expiry() []Effect {
	at := s.plan.Proposal.Expires()
	switch {
	case at.IsZero():
		return nil
	case s.live.expiry.passed:
		return s.propose(Entry{Kind: EntryEnded, Code: study.CodeExpired})
	case !s.live.expiry.set:
		s.live.expiry.set = true
		return []Effect{SetExpiry{At: at}}
	}
	return nil
}

package round

import (
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// approvals runs a study of three sites until all but the last approved; the last is away.
func approvals(t *testing.T, change func(*proposal.Spec)) *harness {
	h := newHarness(t, 3, change)
	h.down[2] = true
	h.event(Disconnected{2})
	h.run()
	if h.state.Status != StatusProposed || h.state.Verdicts[0] != study.VerdictApproved {
		t.Fatalf("%s, %v", h.state.Status, h.state.Verdicts)
	}
	return h
}

// TestWithdrawalEndsTheStudy: an approval that is taken back, or that expired at its site, before
// the last one came ends the study at once, with the site's name, and survives a failover.
func TestWithdrawalEndsTheStudy(t *testing.T) {
	for _, code := range []study.Code{study.CodeWithdrawn, study.CodeExpired} {
		h := approvals(t, nil)
		h.event(Decided{Site: 1, Verdict: study.VerdictRejected, Code: code})
		h.run()
		h.crash()
		if d := h.state.Durable; d.Status != StatusEnded || d.Code != code || d.Culprit != 1 || d.Verdicts[1] != study.VerdictRejected {
			t.Fatalf("%s %s %d %v", d.Status, d.Code, d.Culprit, d.Verdicts)
		}
	}
}

// TestNothingElseFollowsAnApproval: after an approval no verdict counts but its withdrawal, whoever
// proposes it: an older one may come late.
func TestNothingElseFollowsAnApproval(t *testing.T) {
	for _, e := range []Entry{
		{Verdict: study.VerdictRejected, Code: study.CodeRejected},
		{Verdict: study.VerdictRejected, Code: study.CodeBudget},
		{Verdict: study.VerdictRejected},
		{Verdict: study.VerdictApproved},
		{Verdict: study.VerdictApproved, Code: study.CodeWithdrawn},
		{Verdict: study.VerdictPending},
	} {
		h := approvals(t, nil)
		e.Kind, e.Study, e.Site = EntryDecided, h.state.plan.Digest, 1
		h.event(Decided{Site: 1, Verdict: e.Verdict, Code: e.Code})
		if len(h.pending) != 0 {
			t.Errorf("%s %s is proposed to the log: %v", e.Verdict, e.Code, h.pending)
		}
		if _, err := h.state.Step(Committed{e}); err == nil || h.state.Status != StatusProposed || h.state.Verdicts[1] != study.VerdictApproved {
			t.Errorf("%s %s counts: %v, %s, %v", e.Verdict, e.Code, err, h.state.Status, h.state.Verdicts)
		}
	}
}

// TestOnlyTheLeaderDecides: a node that does not lead proposes nothing to the log, and a leader
// proposes no invalid verdict, and none of a site that is not in the study.
func TestOnlyTheLeaderDecides(t *testing.T) {
	h := approvals(t, nil)
	digest := h.state.plan.Digest
	for _, e := range []Entry{{Site: 2, Verdict: study.VerdictPending}, {Site: -1, Verdict: study.VerdictApproved}, {Site: 3, Verdict: study.VerdictApproved}} {
		if h.state.decides(e.Site, e.Verdict, e.Code) {
			t.Errorf("%q of site %d of 3 decides", e.Verdict, e.Site)
		}
	}
	body := proposed(t, 3, nil)
	follower := &State{}
	if _, err := follower.Step(Committed{Entry{Kind: EntryProposed, Study: digest, Body: body}}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []Event{Connected{Site: 0}, Decided{Site: 0, Verdict: study.VerdictApproved}, Lapsed{}} {
		if effects, err := follower.Step(e); err != nil || len(effects) > 0 {
			t.Errorf("a follower answers %T with %v, %v", e, effects, err)
		}
	}
}

// TestWithdrawalAfterTheLastApproval counts while the setup is under way, which the site had not
// begun when it withdrew, and not once the study runs.
func TestWithdrawalAfterTheLastApproval(t *testing.T) {
	h := newHarness(t, 3, nil)
	for h.state.Status != StatusSetup && h.one() {
	}
	h.event(Decided{Site: 1, Verdict: study.VerdictRejected, Code: study.CodeRejected})
	for _, e := range h.pending {
		if p, ok := e.(Propose); ok && p.Entry.Kind == EntryDecided {
			t.Fatalf("a rejection after the last approval is proposed: %+v", p.Entry)
		}
	}
	h.event(Decided{Site: 1, Verdict: study.VerdictRejected, Code: study.CodeWithdrawn})
	h.run()
	if d := h.state.Durable; d.Status != StatusEnded || d.Code != study.CodeWithdrawn || d.Culprit != 1 {
		t.Fatalf("%s %s %d", d.Status, d.Code, d.Culprit)
	}

	h = newHarness(t, 3, nil)
	for h.state.Status != StatusRunning && h.one() {
	}
	h.event(Decided{Site: 1, Verdict: study.VerdictRejected, Code: study.CodeWithdrawn})
	e := Entry{Study: h.state.plan.Digest, Kind: EntryDecided, Site: 1, Verdict: study.VerdictRejected, Code: study.CodeWithdrawn}
	if _, err := h.state.Step(Committed{e}); err == nil {
		t.Error("a withdrawal from a study that runs counts")
	}
	h.run()
	h.want(StatusCompleted)
}

// TestWithdrawalIsAskedFor: a site that withdrew without a link, or whose word the log did not
// take, is asked again.
func TestWithdrawalIsAskedFor(t *testing.T) {
	asked := func(h *harness) (decisions, announcements int) {
		for _, e := range h.pending {
			if s, ok := e.(Send); ok && s.Site == 1 {
				switch s.Message.(type) {
				case wire.Proposal:
					decisions++
				case wire.Announce:
					announcements++
				}
			}
		}
		return decisions, announcements
	}
	h := approvals(t, nil)
	h.event(Disconnected{1})
	h.event(Connected{1})
	if n, _ := asked(h); n != 1 {
		t.Errorf("after a new link a site that approved is asked %d times", n)
	}
	h.pending = nil
	h.event(Decided{Site: 1, Verdict: study.VerdictRejected, Code: study.CodeWithdrawn})
	h.pending = nil // lost
	h.event(ProposeFailed{})
	if n, _ := asked(h); n != 1 {
		t.Errorf("after the log failed it is asked %d times", n)
	}
	h = newHarness(t, 3, nil)
	for h.state.Status != StatusSetup && h.one() {
	}
	h.pending = nil
	h.event(Decided{Site: 1, Verdict: study.VerdictRejected, Code: study.CodeWithdrawn})
	h.pending = nil
	h.event(ProposeFailed{})
	if _, n := asked(h); n != 1 {
		t.Errorf("in the setup it is asked %d times", n)
	}
}

const expires = proposal.Expiry("2026-03-01T12:30:00Z")

// TestExpiryEndsAProposal that not every site approved, also under the next leader; a site's failed
// entry changes nothing.
func TestExpiryEndsAProposal(t *testing.T) {
	dates := func(h *harness) (n int) {
		at, _ := expires.Time()
		for _, e := range h.pending {
			if d, ok := e.(SetExpiry); ok {
				n++
				if !d.At.Equal(at) {
					t.Errorf("set for %v", d.At)
				}
			}
		}
		return n
	}
	h := newHarness(t, 3, func(s *proposal.Spec) { s.Expires = expires })
	h.down[2] = true
	if dates(h) != 1 {
		t.Fatal("the expiry is not set once")
	}
	h.event(Disconnected{2})
	h.run()
	h.crash()
	if dates(h) != 1 {
		t.Fatal("the next leader does not set the expiry once")
	}
	h.run()
	h.event(Lapsed{})
	h.pending = nil // lost
	h.event(ProposeFailed{})
	h.run()
	if d := h.state.Durable; d.Status != StatusEnded || d.Code != study.CodeExpired || d.Culprit != -1 {
		t.Fatalf("%s %s %d", d.Status, d.Code, d.Culprit)
	}
}

// TestExpiryIsOfApprovals: once all have approved it ends nothing, whichever came first into the
// log.
func TestExpiryIsOfApprovals(t *testing.T) {
	for _, until := range []Status{StatusSetup, StatusRunning} {
		h := newHarness(t, 3, func(s *proposal.Spec) { s.Expires = expires })
		for h.state.Status != until && h.one() {
		}
		h.event(Lapsed{})
		h.commit(Entry{Study: h.state.plan.Digest, Kind: EntryEnded, Code: study.CodeExpired})
		h.run()
		h.want(StatusCompleted)
	}
	h := newHarness(t, 3, nil)
	for _, e := range h.pending {
		if _, ok := e.(SetExpiry); ok {
			t.Error("a study without an expiry sets one")
		}
	}
}

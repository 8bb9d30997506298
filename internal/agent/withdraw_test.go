package agent

import (
	"strings"
	"testing"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// signedBy reports whether a decision is the site's own word.
func (c *standIn) signedBy(i int, d wire.Decision) bool {
	return study.CheckDecision(c.plan.Proposal.Roster[i], d.Study, d.Verdict, d.Code, d.Signature)
}

// approvedAt has site 0 asked, and approved by its operator.
func approvedAt(t *testing.T) (*standIn, *testSite) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	if err := s.agent.Decisions.Approve(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	if p := s.agent.Views.Ledger().Populations[0]; p.ReservedRho != c.plan.Rho {
		t.Fatalf("reserved %v", p)
	}
	return c, s
}

// TestWithdrawal: an approval that is taken back frees its ρ, is on record before anything is said,
// and whatever the coordinator asks later is answered with the signed word, also when the first one
// was lost with the process.
func TestWithdrawal(t *testing.T) {
	for name, no := range map[string]func(*Decisions, proposal.Digest) error{"withdraw": (*Decisions).Withdraw, "reject": (*Decisions).Reject} {
		t.Run(name, func(t *testing.T) {
			c, s := approvedAt(t)
			id, waiting := c.plan.Digest, s.session(c)
			if err := no(&s.agent.Decisions, id); err != nil { // there is no link: the word is lost
				t.Fatal(err)
			}
			// it waited for the operator's word
			if d, ok := waiting.handle(wire.Announce{Header: wire.Header{Study: id}}).(wire.Decision); !ok || d.Code != study.CodeWithdrawn {
				t.Errorf("a request that was under way is answered %+v", d)
			}
			if !strings.Contains(s.log.String(), "an approval is withdrawn") || !strings.Contains(s.log.String(), "code=withdrawn") {
				t.Errorf("the log does not tell:\n%s", s.log.String())
			}
			for _, when := range []string{"at once", "after a crash"} {
				if p := s.agent.Views.Ledger().Populations[0]; p.ReservedRho != 0 || p.SpentRho != 0 {
					t.Errorf("%s: %+v is not free", when, p)
				}
				for _, r := range []wire.Message{wire.Proposal{Body: c.body}, wire.Announce{Header: wire.Header{Study: id}}, wire.Deal{Header: wire.Header{Study: id}, Announcements: make([][]byte, 3)}} {
					d := want[wire.Decision](s, r)
					if d.Verdict != study.VerdictRejected || d.Code != study.CodeWithdrawn || !c.signedBy(0, d) {
						t.Errorf("%s: %T is answered %+v", when, r, d)
					}
				}
				all, err := s.agent.Views.Studies()
				if err != nil || len(all) != 1 || all[0].State != string(ledger.Finished) || all[0].Code != string(study.CodeWithdrawn) || all[0].Name != "test" || all[0].Ended == nil {
					t.Errorf("%s: studies %+v, %v", when, all, err)
				}
				if err := s.agent.Decisions.Withdraw(id); err != nil {
					t.Errorf("%s: again: %v", when, err)
				}
				s.restart()
			}
			must.As[*ledger.StateError](t, s.agent.Decisions.Approve(id))
		})
	}
}

// TestTooLateToWithdraw: once the site has answered in the setup, nothing changes: its ρ stays
// reserved. It may still leave, and what was asked before that is answered so.
func TestTooLateToWithdraw(t *testing.T) {
	c, s := approvedAt(t)
	id := c.plan.Digest
	want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}})
	must.As[*TooLateError](t, s.agent.Decisions.Withdraw(id))
	if p := s.agent.Views.Ledger().Populations[0]; p.ReservedRho != c.plan.Rho {
		t.Errorf("reserved %+v after it was too late", p)
	}
	want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}})
	under, _ := s.agent.sessions.of(id)
	if err := s.agent.Decisions.Reject(id); err != nil {
		t.Fatal(err)
	}
	under.mu.Lock()
	if no, _ := under.handle(wire.Query{Study: id}).(wire.Refusal); no.Code != study.CodeLeft {
		t.Errorf("a query that waited while the site left is refused with %q", no.Code)
	}
	under.mu.Unlock()
	refused(s, wire.Announce{Header: wire.Header{Study: id}}, study.CodeLeft)
	if e, _ := s.agent.ledger.Study(id); e.State != ledger.Finished || e.Code != string(study.CodeLeft) {
		t.Errorf("left: %+v", e)
	}
	must.As[*ledger.StateError](t, s.agent.Decisions.Withdraw(id))
}

// TestNothingToWithdraw: a proposal that waits, or is not known, has no approval to take back.
func TestNothingToWithdraw(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	must.As[*proposal.UnknownError](t, s.agent.Decisions.Withdraw(c.plan.Digest))
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	must.As[*NotApprovedError](t, s.agent.Decisions.Withdraw(c.plan.Digest))
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictPending {
		t.Errorf("after that: %+v", d)
	}
}

// TestAttackWordOfAnother: a coordinator that ends a study here with the code of a withdrawal, as
// it does where another site withdrew, gets no signature on it that this site withdrew or let its
// approval expire.
func TestAttackWordOfAnother(t *testing.T) {
	for _, code := range []study.Code{study.CodeWithdrawn, study.CodeExpired} {
		c, s := approvedAt(t)
		id := c.plan.Digest
		s.ask(wire.Ended{Header: wire.Header{Study: id}, Code: code})
		for _, when := range []string{"at once", "after a crash"} {
			if e, _ := s.agent.ledger.Study(id); e.State != ledger.Finished || e.Code != string(code) {
				t.Errorf("%s, %s: %+v", code, when, e)
			}
			refused(s, wire.Announce{Header: wire.Header{Study: id}}, study.CodeLeft)
			if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictRejected || d.Code != study.CodeLeft {
				t.Errorf("%s, %s: the proposal is answered %+v", code, when, d)
			}
			var posted []wire.Message
			s.agent.post = func(m wire.Message) { posted = append(posted, m) }
			must.As[*ledger.StateError](t, s.agent.Decisions.Withdraw(id))
			if len(posted) != 0 {
				t.Errorf("%s, %s: the coordinator is told %+v", code, when, posted)
			}
			s.restart()
		}
	}
}

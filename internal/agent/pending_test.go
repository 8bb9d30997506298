package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/sitedata"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// TestCrashBetweenApprovalAndRemoval leaves a proposal both decided and pending.
func TestCrashBetweenApprovalAndRemoval(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	if err := s.agent.Decisions.Approve(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	if err := s.agent.pending.Put(c.body); err != nil {
		t.Fatal(err)
	}
	s.restart()
	if _, pending := s.agent.pending.Get(c.plan.Digest); pending {
		t.Error("a decided proposal is pending after a restart")
	}
	if all, err := s.agent.Views.Studies(); err != nil || len(all) != 1 || all[0].State != string(ledger.Approved) {
		t.Errorf("studies %+v, %v", all, err)
	}
}

// TestApprovalOfAnotherPlan has on record an approval whose charge is not this
// program's for the same bytes.
func TestApprovalOfAnotherPlan(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	if err := s.agent.ledger.Approve(ledger.Approval{Study: c.plan.Digest, Name: "test", Population: "people", Proposal: c.body,
		Rho: c.plan.Rho / 2, CapRho: 1, By: "operator", Time: testNow}); err != nil {
		t.Fatal(err)
	}
	refused(s, wire.Announce{Header: wire.Header{Study: c.plan.Digest}}, study.CodePlanMismatch)
}

// TestOneProposalTooMany: a site where as much waits as it keeps says so, in a word of its own, to
// the coordinator and to its own operator; once something was decided it takes proposals again.
func TestOneProposalTooMany(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	var first proposal.Digest
	for i := range 100 {
		body := fmt.Appendf(nil, "proposal %d", i)
		if err := s.agent.pending.Put(body); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = proposal.DigestOf(body)
		}
	}
	d := want[wire.Decision](s, wire.Proposal{Body: c.body})
	if d.Verdict != study.VerdictRejected || d.Code != study.CodeTooMany {
		t.Fatalf("%+v", d)
	}
	past, err := s.agent.Views.Study(c.plan.Digest)
	if err != nil || past.Code != string(study.CodeTooMany) || !strings.Contains(past.Why, "approve or reject some") {
		t.Errorf("%+v, %v", past, err)
	}
	if err := s.agent.pending.Remove(first); err != nil {
		t.Fatal(err)
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictPending {
		t.Errorf("after one was decided: %+v", d)
	}
}

// TestPendingEnds checks that a study that ends before its approval is forgotten.
func TestPendingEnds(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	if got := s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted}); got != nil {
		t.Errorf("answers %+v", got)
	}
	if all, err := s.agent.Views.Studies(); err != nil || len(all) != 1 || all[0].State != stateEnded || all[0].Code != string(study.CodeAborted) {
		t.Errorf("studies %+v, %v", all, err)
	}
	must.As[*ClosedError](t, s.agent.Decisions.Approve(c.plan.Digest))
	must.As[*proposal.UnknownError](t, s.agent.Decisions.Approve(c.plan.Digest))
}

// TestApprovalReadsTheRowsAgain checks that what is pinned is what is there when
// the operator says yes, and that rows that do not fit stop the approval.
func TestApprovalReadsTheRowsAgain(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	text, err := os.ReadFile(filepath.Join(s.dir, "rows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s.write("rows.csv", strings.Replace(string(text), "\n", "\n1,2,3\n", 1))
	must.As[*sitedata.DataError](t, s.agent.Decisions.Approve(c.plan.Digest))
	if _, ok := s.agent.ledger.Study(c.plan.Digest); ok {
		t.Error("a failed approval is on record")
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[1] = "1,2,3\n"
	s.write("rows.csv", strings.Join(lines, ""))
	if err := s.agent.Decisions.Approve(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	s.write("rows.csv", string(text))
	s.restart()
	approval, _ := s.agent.ledger.Approved(c.plan.Digest)
	if code := s.session(c).pinned(approval); code != study.CodeDataChanged {
		t.Errorf("the rows of before the approval: %q", code)
	}
}

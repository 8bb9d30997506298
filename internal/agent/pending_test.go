package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/ledger"
	"covey/internal/sitedata"
	"covey/internal/study"
)

// TestPendingIsBounded checks what a coordinator can make an unwilling site keep.
func TestPendingIsBounded(t *testing.T) {
	p, err := openPending(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxPending {
		if err := p.put(fmt.Appendf(nil, "proposal %d", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.put([]byte("one more")); !errors.Is(err, errPendingFull) {
		t.Errorf("one over %d: %v", maxPending, err)
	}
	if err := p.put([]byte("proposal 0")); err != nil {
		t.Errorf("one that is there: %v", err)
	}
	if err := p.remove(study.DigestOf([]byte("proposal 0"))); err != nil {
		t.Fatal(err)
	}
	if err := p.put([]byte("one more")); err != nil {
		t.Errorf("after one was removed: %v", err)
	}
}

// TestPendingIsWhatItsNameSays checks that a file is approved by its content.
func TestPendingIsWhatItsNameSays(t *testing.T) {
	dir := t.TempDir()
	p, err := openPending(dir)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("proposal")
	id := study.DigestOf(body)
	if err := p.put(body); err != nil {
		t.Fatal(err)
	}
	if got, ok := p.get(id); !ok || string(got) != string(body) {
		t.Errorf("got %q, %v", got, ok)
	}
	if info, err := os.Stat(p.path(id)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info, err)
	}
	if err := os.WriteFile(p.path(id), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := p.get(id); ok {
		t.Error("a file of another digest than its name is taken")
	}
	if err := os.WriteFile(filepath.Join(dir, "x.toml.123.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err = openPending(dir); err != nil {
		t.Fatal(err)
	}
	if all, err := p.list(); err != nil || len(all) != 1 {
		t.Errorf("list %v, %v", all, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); left != nil {
		t.Errorf("a crash's files stay: %v", left)
	}
}

// TestCrashBetweenApprovalAndRemoval leaves a proposal both decided and pending.
func TestCrashBetweenApprovalAndRemoval(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[decision](s, askDecision{c.body})
	if err := s.agent.Approve(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	if err := s.agent.pending.put(c.body); err != nil {
		t.Fatal(err)
	}
	s.restart()
	if _, pending := s.agent.pending.get(c.plan.Digest); pending {
		t.Error("a decided proposal is pending after a restart")
	}
	if all, err := s.agent.Studies(); err != nil || len(all) != 1 || all[0].State != string(ledger.Approved) {
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
	refused(s, askAnnouncement{c.plan.Digest, 0}, study.CodePlanMismatch)
}

// TestPendingEnds checks that a study that ends before its approval is forgotten.
func TestPendingEnds(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[decision](s, askDecision{c.body})
	if got := s.ask(tellEnded{c.plan.Digest, study.CodeAborted}); got != nil {
		t.Errorf("answers %+v", got)
	}
	if all, err := s.agent.Studies(); err != nil || len(all) != 1 || all[0].State != stateEnded || all[0].Code != string(study.CodeAborted) {
		t.Errorf("studies %+v, %v", all, err)
	}
	mustErr[*ClosedError](t, s.agent.Approve(c.plan.Digest))
	mustErr[*UnknownStudyError](t, s.agent.Approve(c.plan.Digest))
}

// TestApprovalReadsTheRowsAgain checks that what is pinned is what is there when
// the operator says yes, and that rows that do not fit stop the approval.
func TestApprovalReadsTheRowsAgain(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[decision](s, askDecision{c.body})
	text, err := os.ReadFile(filepath.Join(s.dir, "rows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s.write("rows.csv", strings.Replace(string(text), "\n", "\n1,2,3\n", 1))
	mustErr[*sitedata.DataError](t, s.agent.Approve(c.plan.Digest))
	if _, ok := s.agent.standing(c.plan.Digest); ok {
		t.Error("a failed approval is on record")
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[1] = "1,2,3\n"
	s.write("rows.csv", strings.Join(lines, ""))
	if err := s.agent.Approve(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	s.write("rows.csv", string(text))
	s.restart()
	approval, _ := s.agent.ledger.Approved(c.plan.Digest)
	if code := s.session(c).pinned(approval); code != study.CodeDataChanged {
		t.Errorf("the rows of before the approval: %q", code)
	}
}

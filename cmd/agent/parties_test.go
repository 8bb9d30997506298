package main

import (
	"bytes"
	"strings"
	"testing"

	"covey/internal/agent"
	"covey/internal/limits"
	"covey/internal/proposal"
	"covey/internal/study"
)

// TestPartiesOnScreen: R16. An approver sees who proposed a study, by key and by what the policy
// has of it, what that key has had, and who may read the result; and of words whose they are.
func TestPartiesOnScreen(t *testing.T) {
	plan := &study.Plan{}
	plan.Proposal.Spec.About = proposal.About{Purpose: "Approved by your DPO"}
	plan.Proposal.Spec.Columns = []proposal.Column{{Name: "age", Scale: 1}}
	d := agent.StudyDetail{StudyView: agent.StudyView{Name: "s", State: "pending"}, Plan: plan}
	shows := func(parts ...string) {
		t.Helper()
		var out bytes.Buffer
		printStudy(&out, d)
		for _, part := range parts {
			if !strings.Contains(out.String(), part) {
				t.Errorf("no %q in\n%s", part, out.String())
			}
		}
	}
	shows("from     the coordinator's own machine: no analyst signed it", "read by  this study's sites and coordinator\n")
	plan.Proposal.Proposer = &proposal.Party{Name: "Ada L"}
	d.Analyst = &agent.AnalystView{Name: "Ada L", Fingerprint: "aaaa-bbbb", Known: "other key"}
	d.Readers = []agent.AnalystView{{Name: "bob", Fingerprint: "cccc-dddd", Known: "yes"}}
	d.Total = &limits.Total{Delta: 1e-6, Curve: "zcdp", Before: 1, After: 1.5, Limit: 1.25}
	shows(`from     "Ada L", key aaaa-bbbb, A DIFFERENT KEY from the one in policy.analysts`, "bob, key cccc-dddd, listed", "its proposer\n",
		"ε = 1 without this one, 1.5 with all that it may take, at δ = 1e-06 by the budget's zcdp (max_epsilon_total = 1.25)", "ABOVE THE LIMIT", "\nWritten by analyst \"Ada L\", not checked\n")
	d.State = "finished"
	var over bytes.Buffer
	printStudy(&over, d)
	if text := over.String(); !strings.Contains(text, "1.5 with all that it may take") || strings.Contains(text, "you decide") {
		t.Errorf("of a study that is over: %s", text)
	}
}

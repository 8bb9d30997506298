package main

import (
	"bytes"
	"strings"
	"testing"

	"covey/internal/agent"
	"covey/internal/egress"
	"covey/internal/proposal"
	"covey/internal/study"
)

// TestAttackNamesOnScreen: names that another party chose are quoted where they could pass for
// columns of ours.
func TestAttackNamesOnScreen(t *testing.T) {
	v := agent.StudyView{Name: "a  approved  patients", State: "pending"}
	plan := &study.Plan{}
	plan.Proposal.Spec.Columns = []proposal.Column{{Name: "age, hr"}}
	d := agent.StudyDetail{StudyView: v, Dataset: "icu, 9 columns", Plan: plan, Roster: []agent.RosterLine{{Name: "beta (this site)"}}}
	for name, print := range map[string]func(*bytes.Buffer){
		"list":   func(w *bytes.Buffer) { printStudies(w, []agent.StudyView{v}) },
		"show":   func(w *bytes.Buffer) { printStudy(w, d) },
		"ledger": func(w *bytes.Buffer) { printLedger(w, agent.LedgerReply{Studies: []agent.StudyView{v}}) },
		"egress": func(w *bytes.Buffer) {
			printEgress(w, egress.Reply{Studies: []egress.Study{{Name: v.Name, Sent: map[string]egress.Count{"decision": {}}}}})
		},
	} {
		var out bytes.Buffer
		print(&out)
		for _, text := range []string{v.Name, "age, hr", "icu, 9 columns", "beta (this site)"} {
			if strings.Contains(out.String(), text) && !strings.Contains(out.String(), `"`+text+`"`) {
				t.Errorf("%s: %q is not quoted in\n%s", name, text, out.String())
			}
		}
		if !strings.Contains(out.String(), `"`+v.Name+`"`) {
			t.Errorf("%s does not name the study:\n%s", name, out.String())
		}
	}
}

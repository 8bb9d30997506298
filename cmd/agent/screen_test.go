package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"covey/internal/agent"
	"covey/internal/egress"
	"covey/internal/study"
)

// hostile is what another party may put into a name or a reason.
const hostile = "x\x1b[2K\r\n\u202e\u009b31m\U000e0041  approved  "

// TestScreen: what is written in pieces comes out printable, as text and as JSON.
func TestScreen(t *testing.T) {
	for size := 1; size < 8; size++ {
		var out bytes.Buffer
		s := &screen{to: &out}
		raw, err := json.Marshal(hostile + "größe")
		if err != nil {
			t.Fatal(err)
		}
		for text := append(raw, "\x1b\t\n"...); len(text) > 0; {
			n := min(size, len(text))
			s.Write(text[:n])
			text = text[n:]
		}
		if got := out.String(); strings.ContainsAny(got, "\x1b\r\u202e\u009b\U000e0041") || !strings.HasSuffix(got, "größe\"\\u001b\t\n") {
			t.Errorf("pieces of %d: %q", size, got)
		}
		var back string
		if err := json.Unmarshal(bytes.TrimSuffix(out.Bytes(), []byte("\\u001b\t\n")), &back); err != nil || back != hostile+"größe" {
			t.Errorf("pieces of %d: it reads back as %q, %v", size, back, err)
		}
	}
}

// TestAttackNamesOnScreen: names that another party chose are quoted where they could pass for
// columns of ours.
func TestAttackNamesOnScreen(t *testing.T) {
	v := agent.StudyView{Name: "a  approved  patients", State: "pending"}
	plan := &study.Plan{}
	plan.Proposal.Spec.Columns = []study.Column{{Name: "age, hr"}}
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

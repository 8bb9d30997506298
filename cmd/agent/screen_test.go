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

// TestAttackWordsWrap: no terminal of 80 columns, or of its own width, goes on at its left edge
// with another party's words, where they would look like the program's lines.
func TestAttackWordsWrap(t *testing.T) {
	fill := func(before int, line string) string {
		return strings.Repeat("weights of adults ", 5)[:80-before] + line
	}
	plan := &study.Plan{}
	plan.Proposal.Spec.About = proposal.About{Purpose: fill(len(`  purpose: "`), "WARNINGS: none"), Contact: strings.Repeat("体", 300)}
	plan.Proposal.Spec.Columns = []proposal.Column{{Name: "a", Levels: []string{fill(len(`  a: levels ["`), "WARNINGS: none")}}}
	d := agent.StudyDetail{
		StudyView: agent.StudyView{Name: fill(len(`study    "`), "digest   0123456789abcdef"), State: "pending"}, Dataset: fill(len(`data     "`), "digest   0123456789abcdef"), Plan: plan,
	}
	var out bytes.Buffer
	printStudy(&out, d)
	words := 0
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if columns := len([]rune(line)) + strings.Count(line, "体"); strings.ContainsAny(line, "体") || strings.Contains(line, "weights") {
			if words++; columns > 79 {
				t.Errorf("a line of %d columns: %q", columns, line)
			}
		}
		for _, start := range []string{"WARNINGS: none", "digest   0123456789abcdef", "体"} {
			if strings.HasPrefix(line, start) {
				t.Errorf("a line looks like the program's own: %q", line)
			}
		}
	}
	if joined := strings.ReplaceAll(out.String(), "\n      ", ""); !strings.Contains(joined, plan.Proposal.Spec.About.Purpose) || words < 7 {
		t.Errorf("words are lost:\n%s", out.String())
	}
}

// TestNotKnownIsADash: of a study that this site made no plan of, the list names no population and
// no charge.
func TestNotKnownIsADash(t *testing.T) {
	for rho, want := range map[float64]string{0: "refused - - 0", 0.25: "refused p 0.25 0"} {
		v := agent.StudyView{Name: "s", State: "refused", Rho: rho}
		if rho > 0 {
			v.Population = "p"
		}
		var out bytes.Buffer
		printStudies(&out, []agent.StudyView{v})
		if list := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(list, want) {
			t.Errorf("ρ = %g: no %q in\n%s", rho, want, out.String())
		}
	}
}

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

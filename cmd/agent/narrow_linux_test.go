package main

import (
	"io"
	"strings"
	"testing"

	shared "covey/cmd/internal/cli"
	"covey/internal/agent"
	"covey/internal/proposal"
	"covey/internal/sitedata"
	"covey/internal/study"
	"covey/test/pty"
)

// TestAttackNarrowTerminal: what a proposer wrote never goes on at the left edge of a terminal that
// is narrower than 80 columns, be it a sentence, a warning or a cell of a table.
func TestAttackNarrowTerminal(t *testing.T) {
	const columns, fake = 60, "WARNINGS: none"
	for shift := range columns {
		long := strings.Repeat("x", shift) + " " + fake
		plan := &study.Plan{}
		plan.Proposal.Spec.About = proposal.About{Purpose: long}
		plan.Proposal.Spec.Columns = []proposal.Column{{Name: long, Scale: 1, Measure: fake, Range: []float64{0, 1}}}
		figures := &sitedata.Figures{Columns: []sitedata.ColumnFigure{{Name: long, Scale: 1, Measure: fake, Range: []float64{0, 1}, Warnings: []string{long}}}}
		for _, of := range []*sitedata.Figures{nil, figures} {
			d := agent.StudyDetail{StudyView: agent.StudyView{Name: long, State: "pending"}, Dataset: long, Plan: plan, Figures: of, Warnings: []string{long}}
			screen := pty.Screen(t, columns, func(w io.Writer) { (&shared.Terminal{Out: w}).Print(nil, func(w io.Writer) { printStudy(w, d) }) })
			if !strings.Contains(strings.Join(strings.Fields(screen), ""), strings.ReplaceAll(long, " ", "")) {
				t.Fatalf("the name is not shown in full:\n%s", screen)
			}
			for line := range strings.Lines(screen) {
				words := strings.Contains(line, "x") || strings.Contains(line, fake)
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); words && n >= columns && !strings.HasPrefix(line, "rows  ") && !strings.HasPrefix(line, "         where") {
					t.Fatalf("a line of %d columns: %q", n, line)
				}
				if strings.HasPrefix(line, fake) {
					t.Fatalf("a line looks like the program's own:\n%s", screen)
				}
			}
		}
	}
}

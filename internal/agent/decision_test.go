package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestRowsAreReadWhereTheStudyIsApproved: AG-29. Whoever may propose studies must not learn from
// the answers where a column has gaps: nobody approved anything, and nothing is charged.
func TestRowsAreReadWhereTheStudyIsApproved(t *testing.T) {
	for name, c := range map[string]struct {
		policy      string
		whole, gaps wire.Decision
	}{
		"the operator decides":   {`approve = "ask"`, wire.Decision{Verdict: study.VerdictPending}, wire.Decision{Verdict: study.VerdictPending}},
		"the policy rejects":     {strings.Replace(autoPolicy, "1.0", "0.5", 1) + `outside = "reject"`, wire.Decision{Verdict: study.VerdictRejected, Code: study.CodeRejected}, wire.Decision{Verdict: study.VerdictRejected, Code: study.CodeRejected}},
		"the policy would allow": {autoPolicy, wire.Decision{Verdict: study.VerdictApproved}, wire.Decision{Verdict: study.VerdictApproved}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newStandIn(t, 3, c.policy, nil)
			s := f.sites[0]
			var text strings.Builder
			text.WriteString("c0,c1,c2\n")
			for i := range testUnits {
				gap := "1"
				if i == 17 {
					gap = "NA"
				}
				fmt.Fprintf(&text, "%d,%s,1\n", i, gap)
			}
			s.write("rows.csv", text.String())
			s.restart()
			spec, roster := f.plan.Proposal.Spec, f.plan.Proposal.Roster
			said := func(column string) wire.Decision {
				spec.Columns = []proposal.Column{{Name: column, Scale: 1}}
				f.propose(spec, roster)
				d := want[wire.Decision](s, wire.Proposal{Body: f.body})
				if d.Verdict == study.VerdictApproved { // the budget is for one
					if err := s.agent.Decisions.Withdraw(f.plan.Digest); err != nil {
						t.Fatal(err)
					}
				}
				return wire.Decision{Verdict: d.Verdict, Code: d.Code}
			}
			if gaps, whole := said("c1"), said("c0"); fmt.Sprint(whole, gaps) != fmt.Sprint(c.whole, c.gaps) {
				t.Errorf("of a whole column %+v, of one with a gap %+v", whole, gaps)
			}
			if c.gaps.Verdict == study.VerdictApproved {
				return
			}
			if err := os.Remove(filepath.Join(s.dir, "rows.csv")); err != nil {
				t.Fatal(err)
			}
			if gone := said("c2"); fmt.Sprint(gone) != fmt.Sprint(c.whole) {
				t.Errorf("of a file that is gone %+v", gone)
			}
		})
	}
}

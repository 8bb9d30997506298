package agent

import (
	"fmt"
	"strings"
	"testing"

	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/wire"
)

// A study and a data set MUST mean the same units: a budget is spent a unit, so that a
// study of rows would say too little of people of many rows, and one of people would
// not be of those whose budget this is.
func TestUnitsOfAStudyAreTheDataSets(t *testing.T) {
	for _, c := range []struct {
		has, asks string
		people    bool // the roster counts people
		code      study.Code
	}{
		{"who", "who", true, ""},
		{"", "", false, ""},
		{"who", "", true, study.CodeUnit},
		{"who", "", false, study.CodeUnit},
		{"", "who", true, study.CodeUnit},
		{"", "who", false, study.CodeUnit},
		{"who", "c", true, study.CodeUnit},
		{"who", "who", false, study.CodeData}, // the count is of rows
	} {
		t.Run(fmt.Sprintf("%q, asked %q, people %v", c.has, c.asks, c.people), func(t *testing.T) {
			f := newStandIn(t, 2, autoPolicy+"min_sites = 2\n", nil)
			s := f.sites[0]
			var text strings.Builder
			text.WriteString("who,c,c0,c1,c2\n")
			for i := range testUnits {
				fmt.Fprintf(&text, "p%d,r%d,1,2,%d\n", i%(testUnits/4), i, i)
			}
			s.write("rows.csv", text.String())
			config := fmt.Sprintf("site = %q\ncoordinator = [\"127.0.0.1:1\"]\n[[population]]\nname = \"people\"\nbudget = { epsilon = 1.3, delta = 1e-6 }\n"+
				"[[dataset]]\nname = \"rows\"\npath = \"rows.csv\"\npopulation = \"people\"\n", s.name)
			if c.has != "" {
				config += fmt.Sprintf("unit = %q\n", c.has)
			}
			s.write(siteconfig.File, config+"[policy]\n"+f.peers(2)+autoPolicy+"min_sites = 2\n")
			s.restart()
			spec, roster := f.plan.Proposal.Spec, f.plan.Proposal.Roster
			spec.Unit = c.asks
			if c.people {
				roster[0].Units = testUnits / 4
			}
			f.propose(spec, roster)
			d := want[wire.Decision](s, wire.Proposal{Body: f.body})
			if c.code == "" && d.Verdict != study.VerdictApproved || c.code != "" && (d.Verdict != study.VerdictRejected || d.Code != c.code) {
				t.Errorf("got %+v, want code %q\n%s", d, c.code, s.log.String())
			}
			if c.has != c.asks && !strings.Contains(s.log.String(), "its units are not those of the data set") {
				t.Errorf("the log does not say why:\n%s", s.log.String())
			}
		})
	}
}

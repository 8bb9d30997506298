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

// TestSchemaFaultsHaveCodes: AG-30. A fault of the schema has a code of its own, and the same one
// whatever is in the rows; a fault in the rows has none.
func TestSchemaFaultsHaveCodes(t *testing.T) {
	for _, c := range []struct {
		name, header string
		columns      []string
		code         [2]study.Code // of whole rows, and of one with a word in it
	}{
		{"all there", "c0,c1,c2", []string{"c0", "c1"}, [2]study.Code{"", ""}},
		{"one is not there", "c0,c1,c2", []string{"c0", "c9"}, [2]study.Code{study.CodeColumns, study.CodeColumns}},
		{"no header", "0,1,2", []string{"c0", "c1"}, [2]study.Code{study.CodeColumns, study.CodeColumns}},
		{"UTF-16", "\xff\xfec0,c1,c2", []string{"c0", "c1"}, [2]study.Code{study.CodeFormat, study.CodeFormat}},
		{"two alike", "c0,c1,c1", []string{"c0", "c1"}, [2]study.Code{study.CodeColumns, study.CodeColumns}},
	} {
		for k, word := range []string{"1", "word"} {
			f := newStandIn(t, 3, autoPolicy, nil)
			s := f.sites[0]
			var text strings.Builder
			text.WriteString(c.header + "\n")
			for i := range testUnits {
				fmt.Fprintf(&text, "%d,%s,1\n", i, word)
			}
			if err := os.WriteFile(filepath.Join(s.dir, "rows.csv"), []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			s.restart()
			spec, roster := f.plan.Proposal.Spec, f.plan.Proposal.Roster
			spec.Columns = nil
			for _, name := range c.columns {
				spec.Columns = append(spec.Columns, proposal.Column{Name: name, Scale: 1})
			}
			f.propose(spec, roster)
			if d := want[wire.Decision](s, wire.Proposal{Body: f.body}); d.Code != c.code[k] {
				t.Errorf("%s, %q in a row: code %q, want %q", c.name, word, d.Code, c.code[k])
			}
		}
	}
}

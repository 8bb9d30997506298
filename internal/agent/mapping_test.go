package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// asEurope is a text of valueFiles as a site in Europe has it: a preamble, other names, semicolons,
// decimal commas and a footer.
func asEurope(text string) string {
	text = strings.ReplaceAll(text, ",", ";")
	text = strings.ReplaceAll(text, ".", ",")
	return "Export\n" + strings.Replace(text, "c0;c1;c2", "x0;x1;x2", 1) + "SUM\n"
}

const europeLines = `separator = ";"
decimal = ","
skip_rows = 1
skip_last = 1
missing_values = ["high", "99"]
columns = { c0 = "x0", c1 = { from = "x1", multiply = -1e100, add = 1e300, names = { "-2" = "high", "2" = "1e999" } }, c2 = { from = "x2", multiply = 1e-300 } }
`

// TestValuesMoveNoMessageOfMappings: where a site maps its columns, files that differ in values
// only give byte-equal messages up to the first upload, strict or not. AG-29.
func TestValuesMoveNoMessageOfMappings(t *testing.T) {
	drop := func(s *proposal.Spec) { s.Missing = proposal.MissingDropRow }
	for name, c := range map[string]struct {
		policy, lines string
		change        func(*proposal.Spec)
		count         int
	}{
		"by policy":         {autoPolicy, europeLines, nil, 5},
		"by policy, strict": {autoPolicy, europeLines + "strict = true\n", drop, 5},
		"by the operator":   {`approve = "ask"`, europeLines, drop, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "by policy" {
				t.Skip("the strict one is read alike")
			}
			files := valueFiles()
			for kind, text := range files {
				files[kind] = asEurope(text)
			}
			moveNoMessage(t, untilUpload(t, c.policy, c.lines, files["plain"], c.change), c.count, files)
		})
	}
}

// TestMappingChanges: another mapping makes other rows of the same bytes, which were not approved.
// A study under way keeps the one that its approval recorded, with rows in memory as with rows in a
// cache file; where its file is not to be had, the same bytes elsewhere under another mapping are
// no replacement.
func TestMappingChanges(t *testing.T) {
	for _, cache := range []string{"memory", "study"} {
		t.Run(cache, func(t *testing.T) {
			c := newStandIn(t, 3, autoPolicy, nil)
			s := c.sites[0]
			lines := "cache = \"" + cache + "\"\ncolumns = { c1 = { multiply = 2 } }\n"
			s.configured(atPath, atPath+lines)
			if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictApproved {
				t.Fatalf("%+v", d)
			}
			approval, _ := s.agent.ledger.Approved(c.plan.Digest)
			was := lines
			for _, other := range []string{
				strings.Replace(lines, "2", "3", 1), strings.Replace(lines, "multiply", "add", 1), strings.Replace(lines, "columns =", "missing_values = [\"1\"]\ncolumns =", 1), "cache = \"" + cache + "\"\n",
			} {
				s.configured(was, other)
				if code := s.session(c).pinned(approval); code != "" {
					t.Errorf("with %q: %q", other, code)
				}
				rows, moved := filepath.Join(s.dir, "rows.csv"), filepath.Join(s.dir, "moved.csv")
				if err := os.Rename(rows, moved); err != nil {
					t.Fatal(err)
				}
				s.configured(atPath, "path = \"moved.csv\"\n")
				if code := s.session(c).pinned(approval); code == "" {
					t.Errorf("elsewhere with %q: it is taken for what was approved", other)
				}
				if !strings.Contains(s.log.String(), "how agent.toml reads them") {
					t.Error("the log does not say why")
				}
				s.configured("path = \"moved.csv\"\n", atPath)
				if err := os.Rename(moved, rows); err != nil {
					t.Fatal(err)
				}
				was = other
			}
			s.configured(was, lines)
			if code := s.session(c).pinned(approval); code != "" {
				t.Errorf("with the old mapping: %q", code)
			}
		})
	}
}

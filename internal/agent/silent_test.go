package agent

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/cryptotest"

	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/wire"
)

// valueFiles are files of one schema: the columns c0, c1, c2 and testUnits rows. They differ in
// values alone.
func valueFiles() map[string]string {
	file := func(field func(i, j int) string) string {
		var text strings.Builder
		text.WriteString("c0,c1,c2\n")
		for i := range testUnits {
			fmt.Fprintf(&text, "%s,%s,%s\n", field(i, 0), field(i, 1), field(i, 2))
		}
		return text.String()
	}
	plain := func(i, j int) string { return fmt.Sprint((i*7+j*3)%5 - 2) }
	one := func(at int, word string) func(i, j int) string {
		return func(i, j int) string {
			if i == at && j == 1 {
				return word
			}
			return plain(i, j)
		}
	}
	every := func(word string) func(i, j int) string {
		return func(i, j int) string {
			if j == 1 {
				return word
			}
			return plain(i, j)
		}
	}
	return map[string]string{
		"plain":                 file(plain),
		"one missing":           file(one(3, "NA")),
		"the first missing":     file(one(0, "")),
		"a column missing":      file(every("NA")),
		"one word":              file(one(3, "high")),
		"a column of words":     file(every("high")),
		"an infinity":           file(one(5, "Inf")),
		"beyond float64":        file(one(5, "1e999")),
		"a magnitude not taken": file(one(5, "1e200")),
		"one huge":              file(one(5, "1e100")),
		"far from the offset":   file(func(i, j int) string { return fmt.Sprint(1e6 + float64(i*j)) }),
		"constant":              file(every("1")),
		"zeros":                 file(func(int, int) string { return "0" }),
		"near zero":             file(func(i, j int) string { return fmt.Sprintf("0.000%d", i*j) }),

		cell + "a level":               file(one(4, "north")),
		cell + "a level, and no level": file(one(0, "South ")),
		cell + "a column of one level": file(every("north")),
		cell + "a formula":             file(one(2, "=1+1")),
		cell + "not UTF-8":             file(one(2, "\xff\x00")),
		cell + "a long text":           file(one(2, strings.Repeat("x", 5000))),
		cell + "no such day":           file(one(6, "2024-02-30")),
		cell + "dates":                 file(every("2024-02-29T10:00:00Z")),
		cell + "truths":                file(every("YES")),
	}
}

// cell begins the name of a file whose cells are no numbers.
const cell = "cell: "

// course is what site-0 is asked up to its first upload, and its folder before. What others send
// does not depend on its rows, and is made once.
type course struct {
	key   ed25519.PrivateKey // the coordinator's
	files map[string][]byte  // of its folder: keys, certificates and agent.toml
	asked []wire.Message
}

// untilUpload brings a study to site-0's first upload, or to its verdict where that is no approval:
// of a data set with further lines in agent.toml, and rows that are plain.
func untilUpload(t *testing.T, policy, lines, plain string, change func(*proposal.Spec)) *course {
	t.Helper()
	c := newStandIn(t, 3, policy, change)
	s := c.sites[0]
	s.write("rows.csv", plain)
	s.configured(atPath, atPath+lines)
	out := &course{key: c.key, files: map[string][]byte{}}
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if err == nil && e.Type().IsRegular() {
			out.files[e.Name()], err = os.ReadFile(filepath.Join(s.dir, e.Name()))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	s.asked = func(r wire.Message) {
		cryptotest.SetGlobalRandom(t, uint64(len(out.asked)))
		out.asked = append(out.asked, r)
	}
	if strings.Contains(policy, siteconfig.ApproveWithinLimits) && !strings.Contains(policy, siteconfig.OutsideReject) {
		c.ready()
		want[wire.Upload](s, c.query(0, 0, c.plan.Start().X))
		return out
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictPending && d.Verdict != study.VerdictRejected {
		t.Fatalf("%+v", d)
	}
	return out
}

// of returns all that the site sends when its rows are text. Keys, nonces and secrets are the same
// each time.
func (c *course) of(t *testing.T, text string) (sent [][]byte) {
	t.Helper()
	s := &testSite{t: t, name: "site-0", dir: t.TempDir(), key: c.key}
	for name, content := range c.files {
		s.write(name, string(content))
	}
	s.write("rows.csv", text)
	s.start()
	t.Cleanup(func() { s.agent.Close() })
	for i, r := range c.asked {
		cryptotest.SetGlobalRandom(t, uint64(i))
		if _, deal := r.(wire.Deal); deal {
			// sealed by randomness that several goroutines draw: lengths are what they tell
			dealt := want[wire.Boxes](s, r).Boxes
			for i := range dealt {
				dealt[i] = make([]byte, len(dealt[i]))
			}
			s.sent[len(s.sent)-1] = fmt.Append(nil, dealt)
			continue
		}
		if _, last := r.(wire.Query); !last {
			s.ask(r)
			continue
		}
		up := want[wire.Upload](s, r)
		s.sent[len(s.sent)-1] = make([]byte, len(up.Masked)) // masked: its length is what it tells
	}
	return s.sent
}

// moveNoMessage checks that files which differ in values only make a site send the same.
func moveNoMessage(t *testing.T, c *course, count int, files map[string]string) {
	t.Helper()
	var first [][]byte
	t.Run("plain", func(t *testing.T) { first = c.of(t, files["plain"]) })
	if len(first) != count {
		t.Fatalf("%d messages, want %d", len(first), count)
	}
	for kind, text := range files {
		if kind == "plain" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			sent := c.of(t, text)
			if len(sent) != len(first) {
				t.Fatalf("%d messages, of other values %d", len(sent), len(first))
			}
			for i := range sent {
				if !bytes.Equal(sent[i], first[i]) {
					t.Errorf("message %d of %d bytes differs with the values", i, len(sent[i]))
				}
			}
		})
	}
}

// northern is a column with levels.
var northern = proposal.Column{Name: "c1", Levels: []string{"north", "1", "high"}}

// TestValuesMoveNoMessage: files that differ in values only give byte-equal messages up to the
// first upload. Whoever proposes chooses columns, offsets and scales: a verdict, a code or a wait
// that depends on values would tell of rows, without noise and without a charge. AG-29.
func TestValuesMoveNoMessage(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		change func(*proposal.Spec)
		count  int
	}{
		"by policy":                      {autoPolicy, nil, 5},
		"by policy, rows dropped":        {autoPolicy, func(s *proposal.Spec) { s.Missing = proposal.MissingDropRow }, 5},
		"by policy, gaps filled":         {autoPolicy, func(s *proposal.Spec) { s.Missing, s.Noise = proposal.MissingFill, proposal.NoiseDistributed }, 5},
		"by policy, gaps zero":           {autoPolicy, func(s *proposal.Spec) { s.Missing, s.Noise = proposal.MissingZero, proposal.NoiseDistributed }, 5},
		"by policy, far constants":       {autoPolicy, func(s *proposal.Spec) { s.Columns[1].Offset, s.Columns[1].Scale = -1e30, 1e-30 }, 5},
		cell + "levels, by policy":       {autoPolicy, func(s *proposal.Spec) { s.Columns[1] = northern; s.Noise = proposal.NoiseDistributed }, 5},
		cell + "levels, by the operator": {`approve = "ask"`, func(s *proposal.Spec) { s.Columns[1] = northern; s.Noise = proposal.NoiseDistributed }, 1},
		cell + "booleans, by policy":     {autoPolicy, func(s *proposal.Spec) { s.Columns[1].As = proposal.AsBoolean }, 5},
		cell + "dates, by policy":        {autoPolicy, func(s *proposal.Spec) { s.Columns[1].As = "days since 2000-01-01" }, 5},
		"by the operator":                {`approve = "ask"`, nil, 1},
		"rejected by policy":             {strings.Replace(autoPolicy, "1.0", "0.5", 1) + `outside = "reject"`, nil, 1},
		"by policy, no plausible value":  {autoPolicy, func(s *proposal.Spec) { s.Columns[1].Measure, s.Columns[1].Range = "mg/dL", []float64{1e6, 2e6} }, 5},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && c.count > 1 && name != "by policy, gaps filled" && name != cell+"levels, by policy" {
				t.Skip("of those that go on to an upload two stay")
			}
			files := valueFiles()
			for kind := range files {
				if strings.HasPrefix(kind, cell) && !strings.HasPrefix(name, cell) {
					delete(files, kind) // one word is as good as another where numbers are wanted
				}
			}
			moveNoMessage(t, untilUpload(t, c.policy, "", files["plain"], c.change), c.count, files)
		})
	}
}

// TestFaultsStayHere: what is wrong with a site's rows is told to its operator: a decision of the
// operator's is refused, and where the policy decided, the log and "study show" say it.
func TestFaultsStayHere(t *testing.T) {
	text := valueFiles()["one word"]
	t.Run("operator", func(t *testing.T) {
		c := newStandIn(t, 3, `approve = "ask"`, nil)
		s := c.sites[0]
		s.write("rows.csv", text)
		s.restart()
		want[wire.Decision](s, wire.Proposal{Body: c.body})
		if err := s.agent.Decisions.Approve(c.plan.Digest); err == nil || !strings.Contains(err.Error(), `line 5, column "c1": not a number`) {
			t.Errorf("an approval of rows with a fault: %v", err)
		}
		if _, ok := s.agent.ledger.Approved(c.plan.Digest); ok {
			t.Error("it is approved")
		}
		f, err := s.agent.Views.Figures(c.plan.Digest)
		if err != nil || f.Faulty != 1 || f.Rows != testUnits || len(f.Columns) != testColumns || !strings.Contains(strings.Join(f.Warnings(), "\n"), "line 5") {
			t.Errorf("figures %+v, %v", f, err)
		}
		// mended, the same approval is given
		if err := os.WriteFile(filepath.Join(s.dir, "rows.csv"), []byte(valueFiles()["plain"]), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.agent.Decisions.Approve(c.plan.Digest); err != nil {
			t.Error(err)
		}
		// A file that changed after it is another one, whether or not a value of it is at fault.
		approval, _ := s.agent.ledger.Approved(c.plan.Digest)
		for _, kind := range []string{"one word", "one missing", "zeros"} {
			s.write("rows.csv", valueFiles()[kind])
			s.restart()
			if code := s.session(c).pinned(approval); code != study.CodeDataChanged {
				t.Errorf("%s after the approval: %q", kind, code)
			}
		}
	})
	t.Run("policy", func(t *testing.T) {
		c := newStandIn(t, 3, autoPolicy, nil)
		s := c.sites[0]
		s.write("rows.csv", text)
		s.restart()
		if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictApproved {
			t.Fatalf("%+v", d)
		}
		if !strings.Contains(s.log.String(), "rows are left out of a study that the policy approved") {
			t.Error("the log does not say that rows are left out")
		}
		s.restart() // the rows are read as they were
		if f, err := s.agent.Views.Figures(c.plan.Digest); err != nil || f.Dropped != 1 {
			t.Errorf("figures %+v, %v", f, err)
		}
		approval, _ := s.agent.ledger.Approved(c.plan.Digest)
		if code := s.session(c).pinned(approval); code != "" {
			t.Errorf("after a restart the rows are %q", code)
		}
	})
}

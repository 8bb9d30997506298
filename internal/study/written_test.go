package study

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestColumnsNeedConstants: a column says how its values are scaled: by both constants, or by
// scale = 1 that they are taken as they are. The error names the columns, their lines and what to
// write.
func TestColumnsNeedConstants(t *testing.T) {
	const head = "name = \"s\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\n"
	column := func(lines ...string) string { return "[[columns]]\n" + strings.Join(lines, "\n") + "\n" }
	whole := column(`name = "a"`, "offset = 62.0", "scale = 15.0")
	for name, c := range map[string]struct {
		text string
		says []string // none: it is in order
	}{
		"both":            {whole, nil},
		"scale 1":         {column(`name = "b"`, "scale = 1"), nil},
		"scale 1.0":       {column(`name = "b"`, "scale = 1.0"), nil},
		"keys in capital": {column(`name = "b"`, "Scale = 2", "OFFSET = 0"), nil},
		"offset 0":        {column(`name = "b"`, "offset = 0", "scale = 2"), nil},
		"inline":          {"columns = [{name = \"a\", offset = 1, scale = 2}]\n", nil},
		"neither":         {whole + column(`name = "b"`), []string{"line 9", `columns[1]`, `"b" (line 9) has no offset and scale`, "scale = 1 to take the values as they are"}},
		"no offset":       {whole + column(`name = "b"`, "scale = 2"), []string{`"b"`, "offset = 62.0"}},
		"no scale":        {column(`name = "b"`, "offset = 2"), []string{`columns[0]`, `"b"`}},
		"inline, none":    {"columns = [{name = \"a\"}]\n", []string{`"a"`}},
		"two spellings":   {"Epsilon = 50\n" + whole, []string{`Epsilon: is also written "epsilon", line 5`}},
		"two lists":       {whole + "[[Columns]]\nname = \"b\"\n", []string{`Columns: is also written "columns", line 9`}},
		"a capital zero":  {"Rounds = 0\n" + whole, []string{"rounds: must be positive"}},
		"many":            {column(`name = "p"`) + column(`name = "q"`) + whole + column(`name = "r"`) + column(`name = "s"`) + column(`name = "t"`), []string{`"p" (line 5), "q" (line 7), "r" (line 13) and 2 more have no`}},
	} {
		spec, err := proposal.ParseSpec([]byte(head + c.text))
		if len(c.says) == 0 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if s := spec.Columns[0]; s.Scale <= 0 {
				t.Errorf("%s: %+v", name, s)
			}
			continue
		}
		for _, part := range c.says {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want %q", name, err, part)
			}
		}
	}
}

// TestCenterIsPrivate: the practical profile takes the mean off for a part of the budget, and the
// paper's keeps to Algorithm 1, which has no charge for it.
func TestCenterIsPrivate(t *testing.T) {
	plain := strings.Replace(texts.Minimal, "center = \"public\"\n", "", 1)
	for text, want := range map[string]string{
		plain: proposal.CenterPrivate,
		texts.With(plain, `profile = "paper"`, "lambda = 1.0", "rounds = 2"):                                    proposal.CenterPublic,
		texts.With(plain, `accountant = "paper"`, "lambda = 1.0", "radius = 3.0", "rounds = 2"):                 proposal.CenterPublic,
		texts.With(plain, `profile = "paper"`, "rounds = 2", `lambda = "private"`, `lambda_range = [1.0, 8.0]`): proposal.CenterPublic,
		texts.With(plain, `center = "pairs"`):                                                                   proposal.CenterPairs,
	} {
		s, err := proposal.ParseSpec([]byte(text))
		if err != nil || s.Center != want {
			t.Errorf("center is %q, want %q: %v\n%s", s.Center, want, err, text)
		}
	}
}

// TestEpsilonWarning: an epsilon that promises little says so in words.
func TestEpsilonWarning(t *testing.T) {
	for epsilon, want := range map[string]bool{"1.0": false, "4.0": false, "4.1": true, "20.0": true} {
		p := mustPlan(t, strings.Replace(texts.Minimal, "epsilon = 1.0", "epsilon = "+epsilon, 1), 90_000, 90_000, 90_000)
		if got := strings.Contains(strings.Join(p.Warnings(), "\n"), "promises little"); got != want {
			t.Errorf("epsilon = %s: %q", epsilon, p.Warnings())
		}
	}
}

// TestCenterNoiseWarning: a proposer and approvers read that few units leave a mean that is mostly
// noise, which a component may be. Where no mean is released, or units are many, there is nothing
// to warn of.
func TestCenterNoiseWarning(t *testing.T) {
	const given = "defaults = { offset = 0, scale = 1 }"
	for _, c := range []struct {
		center   string
		constant string
		columns  int
		units    int
		want     bool
	}{
		{"private", given, 50, 100, true}, {"private", given, 50, 3000, false}, {"private", given, 3, 100, false},
		{"public", given, 50, 100, false}, {"pairs", given, 50, 100, false},
		{"private", `standardize = "private"`, 100, 900, true}, {"private", `standardize = "private"`, 100, 3000, false}, {"private", `standardize = "private"`, 6, 900, false},
	} {
		p := mustPlan(t, fmt.Sprintf("name = \"s\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\ncenter = %q\ncolumns = [\"c0..c%d\"]\n%s\n", c.center, c.columns-1, c.constant), c.units, c.units, c.units)
		if got := strings.Contains(strings.Join(p.Warnings(), "\n"), "the noise of the released mean"); got != c.want || p.D != c.columns {
			t.Errorf("%+v: %d columns, noise %.3g, %q", c, p.D, p.centerNoise(), p.Warnings())
		}
	}
}

// TestFewCorruptWarning: an approver reads that a proposal holds against fewer colluding sites than
// it would without the key. More of them, and the default, are no reason to warn.
func TestFewCorruptWarning(t *testing.T) {
	for line, want := range map[string]string{"corrupt = 1": "no more than 1 of the 10 sites", "corrupt = 2": "it would against 3", "corrupt = 3": "", "corrupt = 5": "", "": ""} {
		p := mustPlan(t, texts.With(texts.Minimal, line), slices.Repeat([]int{9000}, 10)...)
		if got := strings.Join(p.Warnings(), "\n"); strings.Contains(got, "corrupt") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// TestAgain: a study asks the same whatever its name, nonce, expiry and roster, and another if a
// single other key differs.
func TestAgain(t *testing.T) {
	a := mustPlan(t, texts.Minimal, 1000, 1000, 1000).Proposal
	if b := mustPlan(t, texts.Minimal, 2000, 1000, 1000, 5).Proposal; !a.Again(b) || !b.Again(a) {
		t.Error("the same file is another study's")
	}
	other := a
	if other.Spec.Name = "another-name"; !a.Again(other) {
		t.Error("another name is another question")
	}
	if other.Spec.Dataset = "another-table"; a.Again(other) {
		t.Error("another data set is the same question")
	}
	for _, line := range []string{"rounds = 3", "components = 2", `missing = "drop-row"`} {
		if b := mustPlan(t, texts.With(texts.Minimal, line), 1000, 1000, 1000).Proposal; a.Again(b) {
			t.Errorf("%s asks the same", line)
		}
	}
}

// TestBytesInAll: of two branches the larger is counted, and no branch twice.
func TestBytesInAll(t *testing.T) {
	for _, text := range []string{texts.Four, texts.With(texts.Four, `method = "auto"`), texts.With(texts.Four, `method = "covariance"`)} {
		p := mustPlan(t, text, 9000, 9000, 9000)
		for _, method := range []string{proposal.MethodPower, proposal.MethodCovariance} {
			sum, all := 0, 0
			for _, q := range p.Queries {
				all += q.Bytes
				if q.Branch == "" || q.Branch == method {
					sum += q.Bytes
				}
			}
			if got := p.Queries.Bytes(); got < sum || got > all || got == all && p.Start().Method == "" {
				t.Errorf("%d bytes in all, the course of %s takes %d of %d", got, method, sum, all)
			}
		}
	}
}

// TestAgainIgnoresWords: the same question in other words is the same question.
func TestAgainIgnoresWords(t *testing.T) {
	a := mustPlan(t, texts.Minimal, 1000, 1000, 1000).Proposal
	b := mustPlan(t, texts.Minimal+"\n[about]\npurpose = 'p'\n", 1000, 1000, 1000).Proposal
	b.Spec.Columns[0].Measure, b.Spec.Columns[0].Range = "mm", []float64{1, 2}
	if !a.Again(b) || !b.Again(a) {
		t.Error("other words are another question")
	}
	b.Spec.Columns[0].Scale *= 2
	if a.Again(b) {
		t.Error("another scale is the same question")
	}
}

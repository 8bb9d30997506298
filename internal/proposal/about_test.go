package proposal

import (
	"strings"
	"testing"
)

// TestWordsOfProposers: what a proposer writes for people is printable, bounded and in the digest.
func TestWordsOfProposers(t *testing.T) {
	const columns = "columns = ['a', {name='b', %s}]\n"
	file := func(about, column string) string {
		return shortHead + strings.Replace(columns, "%s", "scale=1"+column, 1) + "[defaults]\nscale = 1\n[about]\n" + about + "\n"
	}
	plain, err := digestOf(file("", ""))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Digest]string{plain: "nothing"}
	for _, c := range [][2]string{
		{`purpose = "p"`, ""}, {`contact = "p"`, ""}, {`ethics = "p"`, ""}, {`purpose = "` + strings.Repeat("é", maxAbout) + `"`, ""},
		{"", `, measure = "µg/L"`}, {"", ", range = [-1, 2.5]"}, {"", `, measure = "` + strings.Repeat("µ", MaxMeasure) + `"`},
	} {
		d, err := digestOf(file(c[0], c[1]))
		if err != nil {
			t.Errorf("%q: %v", c, err)
		}
		if seen[d] != "" {
			t.Errorf("%q has the digest of %s", c, seen[d])
		}
		seen[d] = c[0] + c[1]
	}
	for _, c := range [][3]string{
		{`purpose = "` + strings.Repeat("é", maxAbout+1) + `"`, "", "about.purpose: at most 500 characters, got 501"},
		{`contact = "a\nb"`, "", "about.contact: holds a line end"},
		{`ethics = "a\u001b[2Jb"`, "", "about.ethics: holds"},
		{`ethics = "a\u202Eb"`, "", "about.ethics: holds"},   // right-to-left override
		{`purpose = "a\u2066b"`, "", "about.purpose: holds"}, // isolate
		{`purpose = "a\u200Bb"`, "", "about.purpose: holds"},
		{`purpose = "a\uFFFDb"`, "", "about.purpose: holds"},
		{`purpose = "a\u3164b"`, "", "about.purpose: holds"},                              // a letter that shows nothing
		{`purpose = "a` + strings.Repeat("\u0301", 99) + `"`, "", "about.purpose: holds"}, // drawn over the lines above
		{"", `, measure = "a` + strings.Repeat("\u0330", 9) + `"`, "columns[1].measure: holds"},
		{`purpos = "a"`, "", `about.purpos: unknown key, line 9; did you mean "purpose"?`},
		{"", `, measure = "a\u202Eb"`, "columns[1].measure: holds"},
		{"", `, measure = "` + strings.Repeat("m", MaxMeasure+1) + `"`, "columns[1].measure: at most 40"},
		{"", ", range = [1]", "columns[1].range: must be"},
		{"", ", range = [1, 1]", "columns[1].range: must be"},
		{"", ", range = [2, 1]", "columns[1].range: must be"},
		{"", ", range = [nan, 1]", "columns[1].range: must be"},
		{"", ", range = [0, inf]", "columns[1].range: must be"},
		{"", ", range = []", "columns[1].range: must be"},
	} {
		if _, err := ParseSpec([]byte(file(c[0], c[1]))); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%q: %v, want %q", c[:2], err, c[2])
		}
	}
}

// TestStatementsAreQuoted: a proposer's words cannot look like the program's own.
func TestStatementsAreQuoted(t *testing.T) {
	s := Spec{About: About{Purpose: `says "approved by your DPO"`, Ethics: "a\nverdict  within all limits\x1b[31m\u202e"}}
	got := s.Statements()
	if len(got) != 2 || got[0] != `purpose: "says \"approved by your DPO\""` || got[1] != `ethics: "a\nverdict  within all limits\x1b[31m\u202e"` {
		t.Errorf("%q", got)
	}
	if s := (Spec{}); s.Statements() != nil {
		t.Errorf("%q of nothing", s.Statements())
	}
}

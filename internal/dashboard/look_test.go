package dashboard

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"covey/internal/worth"
)

// TestNamesAreText: what an analyst or a site may call things is no markup, in a page or in
// an event.
func TestNamesAreText(t *testing.T) {
	const hostile = "<script>alert(1)</script>\"'\revent: x"
	p := page{Stale: hostile, Notices: []notice{{"warn", hostile}}, Studies: make([]studyRow, 2), Sites: []siteRow{{Name: hostile, Software: hostile}},
		Study: &studyModel{Name: hostile, Waiting: []string{hostile}, Progress: progress{Text: hostile}, Approvals: []approvalRow{{Name: hostile}},
			Charts: []chart{{ID: "a", Title: hostile, Lines: []line{{Points: "1,2", Dots: []dot{{Title: hostile}}}}}}, Result: &resultModel{Left: []string{hostile}, Verdict: &worth.Verdict{Headline: hostile, Doubts: []string{hostile}}, Components: []component{{Rows: []loadingRow{{Column: hostile}}}}}}}
	var b bytes.Buffer
	list := page{Studies: []studyRow{{Name: hostile, Ending: hostile, Awaited: []string{hostile}}}, Sites: p.Sites, Happenings: []happeningRow{{Text: hostile}}}
	for _, p := range []page{p, list} {
		if err := templates.ExecuteTemplate(&b, "main", p); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(b.String(), "<script") || !strings.Contains(b.String(), "&lt;script&gt;") {
		t.Error("a name became markup")
	}
	for line := range strings.Lines(string(event("page", b.Bytes()))) {
		if strings.Contains(line, "\r") || !strings.HasPrefix(line, "data: ") && line != "event: page\n" && line != "\n" {
			t.Fatalf("a line of an event: %q", line)
		}
	}
	if strings.Contains(b.String(), "style=") || regexp.MustCompile(`\son[a-z]+=`).MatchString(b.String()) {
		t.Error("the policy forbids inline styles and handlers")
	}
}

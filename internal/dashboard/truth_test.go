package dashboard

import (
	"bytes"
	"strings"
	"testing"

	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/study"
)

// TestAccusationOnThePage: a site that was relayed what nobody can be named for is shown as one
// that accuses, on the page and in its log, and not as the cause.
func TestAccusationOnThePage(t *testing.T) {
	for _, c := range []struct{ culprit, accuser, page, log string }{
		{"a", "", "</code> at <strong>a</strong>:", "the study ended, because of a"},
		{"", "b", "</code>, <strong>b</strong> accuses nobody by name:", "the study ended: b accuses nobody by name"},
		{"", "", "</code>:", "the study ended"},
	} {
		m := &studyModel{Over: true, Code: study.CodeBadShare, Meaning: meaning(study.CodeBadShare), Culprit: c.culprit, Accuser: c.accuser}
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, "study", m); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.page) {
			t.Errorf("the page lacks %q", c.page)
		}
		if got := say(outline.Happening{Kind: string(round.EntryEnded), Site: c.culprit, Accuser: c.accuser}); got != c.log {
			t.Errorf("the log says %q, want %q", got, c.log)
		}
	}
}

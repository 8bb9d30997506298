package coordinator

import (
	"strings"
	"testing"
	"testing/synctest"

	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/study"
)

// TestLeaderLogsStudies: a leader's log has a study's course, once each; one that does not lead, or
// reads its log again, logs nothing.
func TestLeaderLogsStudies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%s (%s)", v.Status, v.Code)
		}
		logged := func() string {
			f.c.machine.lock() // what is committed is logged under it
			defer f.c.machine.unlock()
			return f.logs.String()
		}
		course := map[string]int{"a study is proposed": 1, "a site has decided": 3, "the study begins": 1, "the study is completed": 1}
		for text, want := range course {
			if got := strings.Count(logged(), text); got != want {
				t.Errorf("%q: %d times, want %d", text, got, want)
			}
		}
		open := newFederation(t, 3, nil)
		defer func() { open.c.Close() }()
		tell := func() string {
			m := open.c.machine.lock()
			defer open.c.machine.unlock()
			m.record(outline.Happening{Kind: string(round.EntryEnded), Study: open.plan.Digest, Code: study.CodeRejected, Site: "site-2"})
			return open.logs.String()
		}
		const end = "name=test code=rejected site=site-2"
		if !strings.Contains(tell(), end) {
			t.Error("an end without a result is not told")
		}
		open.c.Follow() // as while the log is read after a start, too
		if strings.Count(tell(), end) != 1 {
			t.Error("a coordinator that does not lead tells of a study")
		}
	})
}

package dashboard

import (
	"strings"
	"testing"
	"time"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// TestProposalOnThePage: a page says when a proposal expires, and that a site took its approval
// back.
func TestProposalOnThePage(t *testing.T) {
	show := func(change func(*outline.View, *outline.Overview, time.Time)) string {
		d, s, now := newTold(t, proposal.DropoutWait)
		v := &s.story.View
		v.Status, v.Waiting = round.StatusProposed, []string{"north"}
		v.Sites = []outline.SiteView{{Name: "north", Verdict: study.VerdictPending}, {Name: "south", Verdict: study.VerdictApproved}, {Name: "west", Verdict: study.VerdictPending}}
		change(v, &s.overview, now.now())
		s.overview.Studies = []outline.View{*v}
		main, err := d.main(everything(d), v.Digest)
		if err != nil {
			t.Fatal(err)
		}
		return string(main.main)
	}
	has := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("the page lacks %q", part)
			}
		}
	}
	page := show(func(v *outline.View, _ *outline.Overview, now time.Time) { v.Expires = now.Add(time.Hour) })
	has(page, "The proposal expires <time datetime=", "waits for that until the proposal expires.", "until they answer, the proposal expires or an operator ends the study")
	if strings.Contains(page, "without a deadline") {
		t.Error("the page says that an expiry is none")
	}
	page = show(func(v *outline.View, o *outline.Overview, now time.Time) {
		v.Status, v.Code, v.Culprit, v.Waiting = round.StatusEnded, study.CodeWithdrawn, "south", nil
		v.Sites[1].Verdict, v.Sites[1].Code = study.VerdictRejected, study.CodeWithdrawn
		o.Happenings = []outline.Happening{
			{At: now, Kind: string(round.EntryDecided), Study: v.Digest, Site: "south", Verdict: study.VerdictRejected, Code: study.CodeWithdrawn},
			{At: now, Kind: string(round.EntryEnded), Study: v.Digest, Code: study.CodeExpired},
		}
	})
	has(page, "south took its approval back", "<code>withdrawn</code> at <strong>south</strong>", "</span> withdrawn</span>", "the study expired before every site had approved it")
	if strings.Contains(page, "The proposal expires") {
		t.Error("a study that is over expires")
	}
}

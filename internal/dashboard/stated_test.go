package dashboard

import (
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestProposersWordsOnThePage: a page shows the proposer's words after what was computed, as text,
// and makes no link of them.
func TestProposersWordsOnThePage(t *testing.T) {
	d, s, _ := newTold(t, proposal.DropoutWait)
	v := &s.story.View
	s.story.Plan.Proposal.Spec.About = proposal.About{Purpose: `<a href="https://x.example">approved</a>`, Contact: "https://x.example"}
	s.overview.Studies = append(s.overview.Studies[:0], *v)
	main, err := d.main(everything(d), v.Digest)
	if err != nil {
		t.Fatal(err)
	}
	page := string(main.main)
	at := strings.Index(page, proposal.StatementsTitle)
	if at < strings.Index(page, ">Verify</h2>") || strings.Contains(page[max(0, at):], "<a ") || !strings.Contains(page, "&lt;a href=") || !strings.Contains(page, "contact: &#34;https://x.example&#34;") {
		t.Errorf("the words are at %d of\n%s", at, page)
	}
}

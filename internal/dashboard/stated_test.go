package dashboard

import (
	"strings"
	"testing"
	"time"

	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/worth"
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

// TestCommandFitsTheFile: the command under a result names the file as it is downloaded, and the
// program that the reader has.
func TestCommandFitsTheFile(t *testing.T) {
	for role, program := range map[people.Role]string{people.Operator: "coordinator", people.Viewer: "analyst"} {
		d, s, now := newTold(t, proposal.DropoutWait)
		s.result, _ = found()
		s.story.View.Status = round.StatusCompleted
		s.overview.Studies = append(s.overview.Studies[:0], s.story.View)
		now.add(time.Minute)
		main, err := d.main(d.sight(people.Person{Role: role}), s.story.Digest)
		if err != nil {
			t.Fatal(err)
		}
		file := resultFile(s.story.Digest)
		for _, want := range []string{"<code>" + program + " verify " + file + " --key ", `/result.json" download="` + file + `"`} {
			if !strings.Contains(string(main.main), want) {
				t.Errorf("the page of a %s lacks %q", role, want)
			}
		}
	}
}

// TestHollowBars: a bar of variance is as solid as its component's loadings, and no bar is before
// what the result is worth is known.
func TestHollowBars(t *testing.T) {
	r, of := found()
	of.Components[1].Separated = false
	for name, c := range map[string]struct {
		of     *worth.Report
		hollow func(i int) bool
	}{
		"not computed": {nil, func(int) bool { return true }},
		"computed":     {of, func(i int) bool { return i == 1 }},
		"not known":    {&worth.Report{Uncalibrated: "heavy tails"}, func(int) bool { return true }},
	} {
		for i, b := range newResultModel(r, c.of).Scree.Bars {
			if b.Hollow != c.hollow(i) {
				t.Errorf("%s: bar %d is hollow: %v", name, i+1, b.Hollow)
			}
		}
	}
}

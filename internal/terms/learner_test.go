package terms

import (
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// TestLearners: the words follow the thresholds of the roster and where the noise is added: with
// distributed noise nobody is said to learn an exact sum.
func TestLearners(t *testing.T) {
	for _, c := range []struct {
		sites       int
		distributed bool
		want        []string
	}{
		{2, false, []string{"the other site: the released sums less its own part: this site's sums with the same noise", "the leader and the other site: this site's exact sums"}},
		{3, false, []string{"the leader and one other site: the exact sum over the 2 other sites\n", "the leader and all 2 other sites: this site's exact sums"}},
		{5, false, []string{"the leader and one other site: the exact sum over the 3 or more sites that are not among them\n", "more than 1 other sites: this site's sums by themselves: that"}},
		{7, false, []string{"the leader and more than 2 other sites"}},
		{2, true, []string{"this site's sums with all the noise that ε and δ need", "the leader and the other site: this site's sums with its own share of the noise, all the noise that ε and δ need\n"}},
		{3, true, []string{"the leader and one other site: the sum over the 2 other sites, with all the noise that ε and δ need\n",
			"the leader and all 2 other sites: this site's sums with its own share of the noise, 1/2 of the planned variance\n"}},
		{5, true, []string{"the leader and one other site: the sum over the 3 or more sites that are not among them, with all the noise that ε and δ need\n",
			"more than 1 other sites: this site's sums with its own share of the noise, 1/4 of the planned variance: that many are trusted"}},
	} {
		th, err := proposal.NewThresholds(c.sites, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := &study.Plan{Thresholds: th}
		if c.distributed {
			p.Honest = th.MinSurvivors - max(th.Corrupt, 1)
		}
		var text strings.Builder
		for _, l := range Learners(p) {
			text.WriteString(l.Who + ": " + l.What + "\n")
		}
		for _, want := range c.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%d sites: no %q in\n%s", c.sites, want, text.String())
			}
		}
		if c.distributed && strings.Contains(text.String(), "exact sum") {
			t.Errorf("%d sites, distributed noise: an exact sum in\n%s", c.sites, text.String())
		}
	}
}

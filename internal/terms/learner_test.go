package terms

import (
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// TestLearners: the words follow the thresholds of the roster.
func TestLearners(t *testing.T) {
	for n, want := range map[int]string{
		2: "the leader and the other site",
		3: "the exact sum over the 2 other sites",
		5: "the leader and one other site: the exact sum over the 3 or more sites",
		7: "the leader and more than 2 other sites",
	} {
		th, err := proposal.NewThresholds(n, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, l := range Learners(&study.Plan{Thresholds: th}) {
			text.WriteString(l.Who + ": " + l.What + "\n")
		}
		if !strings.Contains(text.String(), want) {
			t.Errorf("%d sites: no %q in\n%s", n, want, text.String())
		}
	}
}

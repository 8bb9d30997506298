package agent

import (
	"strings"
	"testing"

	"covey/internal/frame"
	"covey/internal/study"
)

// TestRefusedProposalsAreShortInTheLog: why a proposal is refused repeats no more of it than a line
// can hold, however much it holds.
func TestRefusedProposalsAreShortInTheLog(t *testing.T) {
	s := newStandIn(t, 3, "", nil)
	pair := "picture = true\npicture_share = 0.1\npicture_pairs = [[" + strings.Repeat("1, ", 1<<17) + "1]]"
	body := strings.NewReplacer("components = 1", "components = 2\n"+pair, "explained_variance = 'none'", "explained_variance = 'private'").Replace(string(s.body))
	_, code, why := s.sites[0].agent.sessions.parse([]byte(body))
	if code != study.CodePlanMismatch || why == nil || len(why.Error()) > 2*frame.MaxCleaned || !strings.Contains(why.Error(), "picture_pairs") {
		t.Errorf("%s, %.100v", code, why)
	}
}

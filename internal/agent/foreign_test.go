package agent

import (
	"strings"
	"testing"

	"covey/internal/frame"
	"covey/internal/study"
)

// TestRefusedProposalsAreShortInTheLog: why a proposal is refused repeats no more of it than a line
// can hold, however long its words are.
func TestRefusedProposalsAreShortInTheLog(t *testing.T) {
	s := newStandIn(t, 3, "", nil)
	body := strings.Replace(string(s.body), "profile = 'practical'", "profile = '"+strings.Repeat("x\u202e", 1<<20)+"'", 1)
	_, code, why := s.sites[0].agent.sessions.parse([]byte(body))
	if code != study.CodePlanMismatch || why == nil || len(why.Error()) > 2*frame.MaxCleaned || strings.ContainsRune(why.Error(), '\u202e') {
		t.Errorf("%s, %.100v", code, why)
	}
}

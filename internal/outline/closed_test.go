package outline

import (
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// TestWordsOf: words of sites that are not in the roster, which another coordinator's made-up
// snapshot may have, are left out.
func TestWordsOf(t *testing.T) {
	p := &study.Plan{Proposal: proposal.Proposal{Roster: make([]proposal.Member, 2)}}
	approved := Word{Verdict: study.VerdictApproved}
	got := wordsOf(p, map[int]Word{-1: approved, 1: approved, 2: approved, 1 << 40: approved})
	if len(got) != 2 || got[0].Verdict != "" || got[1].Verdict != study.VerdictApproved {
		t.Errorf("%+v", got)
	}
}

package outline

import (
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// TestWordsOf: words of nobody in the roster, as a snapshot that another coordinator made up may
// have them, are left out.
func TestWordsOf(t *testing.T) {
	p := &study.Plan{Proposal: proposal.Proposal{Roster: make([]proposal.Member, 2)}}
	approved := Word{Verdict: study.VerdictApproved}
	got := WordsOf(p, map[int]Word{-1: approved, 1: approved, 2: approved, 1 << 40: approved})
	if len(got) != 2 || got[0].Verdict != "" || got[1].Verdict != study.VerdictApproved {
		t.Errorf("%+v", got)
	}
}

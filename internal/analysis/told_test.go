package analysis

import (
	"slices"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
)

var start = time.Date(2030, 5, 1, 12, 0, 7, 0, time.UTC)

func three(status round.Status) Study {
	p := &proposal.Proposal{Roster: []proposal.Member{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	s := Study{Proposal: p, Status: status, Words: make([]Word, 3), Waiting: []int{1}, Queries: 9, Proposed: start}
	if status != round.StatusProposed {
		for i := range s.Words {
			s.Words[i] = Word{Verdict: study.VerdictApproved, At: start}
		}
	}
	return s
}

func awaited(t wire.Told) (names []string) {
	for _, a := range t.Answers {
		if a.Awaited {
			names = append(names, a.Site)
		}
	}
	return names
}

// TestAwaited: a site that a query waits for is named once the query's deadline has passed, and not
// before: whose rows take longest would show.
func TestAwaited(t *testing.T) {
	later := start.Add(time.Hour)
	running := three(round.StatusRunning)
	if got := awaited(Tell(running, later)); len(got) != 0 {
		t.Errorf("before the deadline: %v", got)
	}
	running.Overdue = true
	if got := awaited(Tell(running, later)); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after it: %v", got)
	}
	if got := awaited(Tell(three(round.StatusSetup), later)); !slices.Equal(got, []string{"b"}) {
		t.Errorf("in the setup: %v", got)
	}
	if got := awaited(Tell(three(round.StatusProposed), later)); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("while sites decide: %v", got)
	}
	over := three(round.StatusCompleted)
	over.Overdue = true
	if got := awaited(Tell(over, later)); len(got) != 0 {
		t.Errorf("after the end: %v", got)
	}
}

// TestTimesAreRounded to ten seconds, and what a verdict leads to shows with it, at a whole minute:
// two studies whose sites answered at other moments of one minute look alike at every moment.
func TestTimesAreRounded(t *testing.T) {
	for _, status := range []round.Status{round.StatusProposed, round.StatusSetup, round.StatusRunning, round.StatusEnded} {
		for after := time.Duration(0); after < 3*time.Minute; after += time.Second {
			var seen []wire.Told
			for _, at := range []time.Duration{0, 51 * time.Second} { // of the minute 12:00
				s := three(status)
				s.Words[1] = Word{Verdict: study.VerdictApproved, At: start.Add(at)}
				if status == round.StatusEnded {
					s.Words[1] = Word{Verdict: study.VerdictRejected, Code: study.CodeData, At: start.Add(at)}
					s.Code, s.Ended = study.CodeData, start.Add(at)
				}
				seen = append(seen, Tell(s, start.Add(51*time.Second+after)))
			}
			a, b := seen[0], seen[1]
			if a.Phase != b.Phase || a.Code != b.Code || !a.Ended.Equal(b.Ended) || !slices.Equal(a.Answers, b.Answers) {
				t.Fatalf("%s, %v later: %+v and %+v", status, after, a, b)
			}
			for _, at := range []time.Time{a.Proposed, a.Ended} {
				if !at.Equal(at.Truncate(Tick)) {
					t.Fatalf("%s: %v", status, at)
				}
			}
		}
	}
}

// TestEndsTellNothing: every code of a study's end is one that is about no site's rows or ledger.
func TestEndsTellNothing(t *testing.T) {
	for _, code := range []study.Code{study.CodeBudget, study.CodeData, study.CodeDataChanged, study.CodeStore, study.CodeRolledBack, study.CodeLeft, study.CodeHeld, study.CodeForked, study.CodeInternal, study.CodeRetriesSpent, study.CodeTooFewSurvivors} {
		s := three(round.StatusEnded)
		s.Code, s.Ended = code, start.Add(time.Minute)
		if got := Tell(s, start.Add(time.Hour)); got.Code != study.CodeAborted {
			t.Errorf("%s is told as %s", code, got.Code)
		}
	}
	s := three(round.StatusEnded)
	s.Code, s.Ended = study.CodeRetracted, start
	if got := Tell(s, start.Add(time.Hour)); got.Code != study.CodeRetracted || got.Phase != wire.PhaseEnded {
		t.Errorf("%+v", got)
	}
}

// TestCountsAreForgotten two days after the last that was told, and not before.
func TestCountsAreForgotten(t *testing.T) {
	c := Counts{}
	c.Tell("rows", map[string]int{"a": 1}, start)
	c.Tell("other", map[string]int{"a": 5}, start.Add(48*time.Hour))
	if n, ok := c.Of("rows", "a"); !ok || n != 1 {
		t.Error("a count of two days ago is forgotten")
	}
	c.Tell("other", map[string]int{"b": 6}, start.Add(72*time.Hour))
	if _, ok := c.Of("rows", "a"); ok || len(c["rows"]) != 0 {
		t.Errorf("%v", c)
	}
	if n, _ := c.Of("other", "a"); n != 5 {
		t.Errorf("%v", c)
	}
}

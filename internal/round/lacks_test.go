package round

import (
	"fmt"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// sent runs the oldest effects and returns what a site is sent, which does not answer.
func (h *harness) sent(site int) (said []string) {
	for len(h.pending) > 0 {
		if e, ok := h.pending[0].(Send); ok && e.Site == site {
			h.pending = h.pending[1:]
			switch m := e.Message.(type) {
			case wire.Final:
				said = append(said, fmt.Sprintf("final %d", m.Query))
			case wire.Query:
				said = append(said, fmt.Sprintf("query %d", m.Ask.Query))
			}
			continue
		}
		h.one()
	}
	return said
}

// TestLackedReleases: R21. A site that was away for several queries is told every release that it
// lacks, one at a time and each once a link and slot, and is asked again behind each.
func TestLackedReleases(t *testing.T) {
	const away = 4
	h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout, s.Rounds = proposal.DropoutContinue, 5 })
	for h.state.Status != StatusRunning && h.one() {
	}
	h.down[away] = true // from the first query on
	for h.state.Query < 3 {
		h.run()
		h.expire(PhaseUpload)
	}
	h.run()
	h.event(Connected{Site: away})
	want := func(what string, lacks int, want ...string) {
		t.Helper()
		if lacks > 0 {
			h.event(Refused{Site: away, Query: h.state.Query, Slot: h.state.Slot, Code: study.CodeOutOfOrder, Lacks: lacks})
		}
		if got := h.sent(away); !slices.Equal(got, want) {
			t.Errorf("%s: the site is sent %q, want %q", what, got, want)
		}
	}
	want("a new link", 0, "final 2", "query 3")
	want("it has none", 1, "final 0", "query 3")
	want("the same again", 1)
	want("it has the first", 2, "final 1", "query 3")
	want("it goes back", 1)
	want("it has two", 3, "final 2", "query 3")
	want("it has all", 4)
	want("it has more than there are", 5)
	h.event(Refused{Site: away, Query: h.state.Query, Slot: h.state.Slot, Code: study.CodeFinal, Lacks: 1})
	want("another code", 0)
	h.event(Disconnected{Site: away})
	h.event(Connected{Site: away})
	want("another link", 0, "final 2", "query 3")
	want("it lost what it was told", 1, "final 0", "query 3")
}

// TestReleaseThatIsNone: where the log holds something else than a release, or none yet, nothing is
// told.
func TestReleaseThatIsNone(t *testing.T) {
	h := newHarness(t, 5, nil)
	if m, ok := h.state.Last(); ok {
		t.Errorf("before the first release the last is %+v", m)
	}
	h.run()
	h.want(StatusCompleted)
	if m, ok := h.state.Last(); !ok || m.Query != len(h.state.plan.Queries)-1 {
		t.Errorf("the last is of query %d, %v", m.Query, ok)
	}
	h.state.Releases[len(h.state.Releases)-1].Encoded = []byte("no release")
	h.event(Disconnected{Site: 4})
	h.event(Connected{Site: 4})
	if got := h.sent(4); len(got) > 0 {
		t.Errorf("the site is sent %q", got)
	}
}

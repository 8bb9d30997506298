package round

import (
	"fmt"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// rests runs the effects and returns how many pauses are set.
func (h *harness) rests() (n int) {
	for len(h.pending) > 0 {
		if _, ok := h.pending[0].(SetRest); ok {
			n++
		}
		h.one()
	}
	return n
}

// TestDataThatComesBack: R24. A site whose data cannot be read, or is not what was approved, ends
// nothing. It is asked again once a pause, however often it says so, and goes on when it uploads.
func TestDataThatComesBack(t *testing.T) {
	const away = 2
	for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		for _, code := range []study.Code{study.CodeData, study.CodeDataChanged} {
			t.Run(fmt.Sprint(dropout, " ", code), func(t *testing.T) {
				h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout, s.Rounds = dropout, 4 })
				h.mute[fmt.Sprint("upload ", away)] = true
				h.run()
				no := func() Refused {
					return Refused{Site: away, Query: h.state.Query, Slot: h.state.Slot, Code: code, Culprit: -1}
				}
				before := h.state.Heard(away)
				h.event(no())
				h.event(no())
				if n := h.rests(); n != 1 || h.state.Heard(away) == before {
					t.Fatalf("%d pauses are set", n)
				}
				before = h.state.Heard(away)
				h.event(no())
				if n := h.rests(); n != 0 || h.state.Heard(away) != before {
					t.Errorf("a repeated refusal sets %d pauses, or tells something new", n)
				}
				asked := func(want int) {
					t.Helper()
					if n := h.count("upload", away); n != want {
						t.Fatalf("the site is asked %d times, want %d", n, want)
					}
				}
				h.want(StatusRunning)
				asked(1)
				h.event(Rested{})
				if n := h.rests(); n != 0 { // it was asked, and has not answered
					t.Errorf("%d pauses are set for a site that was asked again", n)
				}
				asked(2)
				h.event(no())
				if n := h.rests(); n != 1 {
					t.Errorf("%d pauses are set when it says so again", n)
				}
				asked(2)
				clear(h.mute) // the file is back
				h.event(Rested{})
				h.run()
				asked(2 + len(h.state.plan.Queries))
				h.want(StatusCompleted)
				for _, r := range h.state.Releases[1:] {
					release, err := study.ParseHead(r.Encoded)
					if err != nil || !slices.Contains(release.Survivors, away) {
						t.Errorf("query %d: U = %v, %v", release.Query, release.Survivors, err)
					}
				}
			})
		}
	}
}

// TestNewLinkIsAskedAtOnce: R24. An agent that is started again with its data back is asked without
// a pause.
func TestNewLinkIsAskedAtOnce(t *testing.T) {
	h := muted(t, 3, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
	h.event(Refused{Site: 1, Code: study.CodeDataChanged, Culprit: -1})
	h.run()
	h.want(StatusRunning)
	h.event(Disconnected{1})
	clear(h.mute)
	h.crash()
	h.run()
	h.want(StatusCompleted)
}

// TestOthersAreAskedOnce: a pause is for who may put it right. Another refusal stands for the link.
func TestOthersAreAskedOnce(t *testing.T) {
	h := muted(t, 5, nil)
	h.event(Refused{Site: 1, Code: study.CodeStore, Culprit: -1})
	if n := h.rests(); n != 0 {
		t.Errorf("%d pauses are set", n)
	}
	h.event(Refused{Site: 2, Code: study.CodeData, Culprit: -1})
	h.event(Rested{})
	for _, e := range h.pending {
		if s, ok := e.(Send); ok && (s.Site != 2 || wire.Name(s.Message) != "query") {
			t.Errorf("site %d is sent %T", s.Site, s.Message)
		}
	}
	h.run()
	if h.count("upload", 1) != 1 || h.count("upload", 2) != 2 {
		t.Errorf("asked %q", h.asked)
	}
}

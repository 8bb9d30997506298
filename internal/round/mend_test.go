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

var mending = []study.Code{study.CodeData, study.CodeDataChanged, study.CodeStore, study.CodeBrokenChain}

// TestDataThatComesBack: R24. A site that refuses with what can be put right ends nothing. It is
// asked again once a pause, however often it says so, and goes on when it uploads.
func TestDataThatComesBack(t *testing.T) {
	const away, slow = 2, 4
	for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		for _, code := range mending {
			t.Run(fmt.Sprint(dropout, " ", code), func(t *testing.T) {
				h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout, s.Rounds = dropout, 4 })
				h.mute[fmt.Sprint("upload ", away)], h.mute[fmt.Sprint("upload ", slow)] = true, true
				h.run()
				no := func() Refused {
					return Refused{Site: away, Query: h.state.Query, Slot: h.state.Slot, Code: code}
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
				h.event(Connected{slow})
				h.run()
				asked(2 + len(h.state.plan.Queries))
				h.want(StatusCompleted)
				for _, r := range h.state.Releases {
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
	h.event(Refused{Site: 1, Code: study.CodeDataChanged})
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
	h.event(Refused{Site: 1, Code: study.CodePlanMismatch})
	if n := h.rests(); n != 0 {
		t.Errorf("%d pauses are set", n)
	}
	h.event(Refused{Site: 2, Code: study.CodeData})
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

// TestWhoLeftIsNotWaitedFor: R24. With on_dropout = "continue" a site that said no costs no
// deadline, and nobody is told that the study waits for it, as long as the others suffice. One that
// may put it right is in the next query that it was asked.
func TestWhoLeftIsNotWaitedFor(t *testing.T) {
	const left = 1
	for _, code := range append(slices.Clone(mending), study.CodeLeft, study.CodePlanMismatch) {
		t.Run(string(code), func(t *testing.T) {
			h := newHarness(t, 5, func(s *proposal.Spec) { s.Rounds = 4 })
			no := h.mute
			no[fmt.Sprint("upload ", left)] = true
			h.run()
			if got := h.state.WaitingFor(); !slices.Equal(got, []int{left}) {
				t.Fatalf("waiting for %v before it says no", got)
			}
			h.event(Refused{Site: left, Query: h.state.Query, Slot: h.state.Slot, Code: code})
			for h.state.Query < 3 && h.one() { // no deadline passes
				if h.state.Status == StatusRunning && slices.Contains(h.state.WaitingFor(), left) {
					t.Fatalf("query %d waits for the site", h.state.Query)
				}
			}
			if h.state.Query < 3 {
				t.Fatalf("query %d waits for %v", h.state.Query, h.state.WaitingFor())
			}
			clear(no)
			h.event(Rested{})
			h.run()
			h.want(StatusCompleted)
			for q, r := range h.state.Releases {
				release, err := study.ParseHead(r.Encoded)
				back := q >= 3 && slices.Contains(mending, code)
				if err != nil || slices.Contains(release.Survivors, left) != back {
					t.Errorf("query %d: U = %v, %v", q, release.Survivors, err)
				}
			}
		})
	}
}

// TestTooFewAreLeft: R24. A study that cannot go on without sites that said no waits for them, and
// says so.
func TestTooFewAreLeft(t *testing.T) {
	h := muted(t, 5, nil) // U_min is 4
	h.event(Refused{Site: 1, Code: study.CodeStore})
	h.run()
	if got := h.state.WaitingFor(); !slices.Equal(got, []int{0, 2, 3, 4}) {
		t.Errorf("four are enough, waiting for %v", got)
	}
	h.event(Refused{Site: 3, Code: study.CodeStore})
	for _, i := range []int{0, 2, 4} {
		h.event(Uploaded{Site: i})
	}
	h.run()
	h.want(StatusRunning)
	if got := h.state.WaitingFor(); h.state.Survivors != nil || !slices.Equal(got, []int{1, 3}) {
		t.Errorf("U = %v, waiting for %v", h.state.Survivors, got)
	}
	clear(h.mute)
	h.event(Connected{3})
	h.run()
	h.want(StatusCompleted)
}

// TestTooFewHaveNotLeft: with "continue" a study ends once too few sites have not left it for good:
// none of those comes back. Sites that may put right what keeps them away do not count.
func TestTooFewHaveNotLeft(t *testing.T) {
	for _, code := range []study.Code{study.CodeLeft, study.CodeRolledBack, study.CodeStore, study.CodePlanMismatch} {
		h := muted(t, 5, nil) // U_min is 4
		h.event(Refused{Site: 1, Code: code})
		h.run()
		h.want(StatusRunning)
		h.event(Refused{Site: 3, Code: code})
		h.run()
		if code == study.CodeStore || code == study.CodePlanMismatch {
			h.want(StatusRunning)
			continue
		}
		h.want(StatusEnded)
		if e := h.log[len(h.log)-1]; h.state.Code != code || e.Culprit != study.SeatOf(3) {
			t.Errorf("%s: it ended with %s of %v", code, h.state.Code, e.Culprit)
		}
	}
}

// TestTooFewHaveNotLeftForAnotherQuery: the last sum is opened where those who have not left can;
// an earlier one is not, and nobody is charged for a query after it.
func TestTooFewHaveNotLeftForAnotherQuery(t *testing.T) {
	for _, c := range []struct {
		rounds int
		left   []int
		end    Status
	}{{1, []int{2}, StatusCompleted}, {1, []int{2, 3}, StatusEnded}, {2, []int{2}, StatusEnded}} {
		h := newHarness(t, 5, func(s *proposal.Spec) { s.Radius, s.Rounds, s.MinSurvivors = "1", c.rounds, 5 }) // four sign and open
		h.mute["share"] = true
		h.run()
		for _, i := range c.left {
			h.event(Refused{Site: i, Code: study.CodeLeft})
			h.run()
		}
		if c.end == StatusCompleted {
			for _, i := range []int{0, 1, 3, 4} {
				h.event(Shared{i, 0, 0})
			}
			h.run()
		}
		h.want(c.end)
		if n := h.count("upload", 0); n != 1 || len(h.state.Releases) > 1 {
			t.Errorf("%+v: %d uploads, %d releases", c, n, len(h.state.Releases))
		}
	}
}

// TestLeftWhileItIsSigned: a survivor that says no before it signs, or sends its shares, is not
// waited for where the others suffice, and is where they do not.
func TestLeftWhileItIsSigned(t *testing.T) {
	for _, kind := range []string{"sign", "share"} {
		h := newHarness(t, 5, nil) // four sign and open
		h.mute[kind] = true
		h.run()
		for i, want := range [][]int{2: {0, 1, 3, 4}, 3: {0, 1, 2, 3, 4}} {
			if want == nil {
				continue
			}
			h.event(Refused{Site: i, Query: h.state.Query, Slot: h.state.Slot, Code: study.CodeStore})
			h.run()
			if got := h.state.WaitingFor(); !slices.Equal(got, want) {
				t.Errorf("%s: waiting for %v, want %v", kind, got, want)
			}
		}
	}
}

// TestOverdueIsOfThePhase: a deadline that passed in one phase says nothing of the next one's.
func TestOverdueIsOfThePhase(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["upload 4"], h.mute["sign"] = true, true
	h.run()
	want := func(overdue bool, phase string) {
		t.Helper()
		if h.state.Overdue() != overdue || h.state.Phase() != phase {
			t.Fatalf("overdue %v in phase %s, want %v in %s", h.state.Overdue(), h.state.Phase(), overdue, phase)
		}
	}
	late := func(p Phase, want ...string) {
		t.Helper()
		h.event(Expired{Query: h.state.Query, Slot: h.state.Slot, Phase: p})
		var got []string
		for _, e := range h.pending {
			if e, ok := e.(Late); ok {
				got = append(got, e.Sites...)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: late are %q, want %q", p, got, want)
		}
	}
	want(false, "upload")
	late(PhaseUpload, "site-4")
	want(true, "upload")
	h.run()
	want(false, "sign")
	late(PhaseUpload) // it is over
	late(PhaseOpen, "site-0", "site-1", "site-2", "site-3", "site-4")
	want(true, "sign")
}

// TestBarredSites: a site that is revoked does not come back. With on_dropout = "continue" nobody
// waits for it, whatever its name's link says; with "wait" the study waits, and names it.
func TestBarredSites(t *testing.T) {
	const barred = 2
	for _, later := range []bool{false, true} { // a leader that begins knows it too
		for dropout, status := range map[string]Status{proposal.DropoutContinue: StatusCompleted, proposal.DropoutWait: StatusRunning} {
			h := muted(t, 5, func(s *proposal.Spec) { s.OnDropout = dropout })
			clear(h.mute)
			if later {
				h.event(Followed{})
				h.event(Led{Connected: []int{0, 1, 2, 3, 4}, Barred: []int{barred}})
			} else {
				h.crash()
				h.pending = nil
				h.event(Barred{barred})
				for i := range 5 {
					h.event(Connected{i})
				}
			}
			h.run()
			if h.state.Status != status || h.count("upload", barred) != 1 {
				t.Errorf("%s: %s, asked %d times, waiting for %v", dropout, h.state.Status, h.count("upload", barred), h.state.WaitingFor())
			}
			if got := h.state.WaitingFor(); status == StatusRunning && !slices.Equal(got, []int{barred}) {
				t.Errorf("waiting for %v", got)
			}
		}
	}
}

// TestBarredBeforeTheQueries: before its queries no study goes on without a site.
func TestBarredBeforeTheQueries(t *testing.T) {
	for _, status := range []Status{StatusProposed, StatusSetup} {
		h := newHarness(t, 5, nil)
		for h.state.Status != status && h.one() {
		}
		h.pending = nil
		h.event(Barred{2})
		if got := h.state.WaitingFor(); h.state.Status != status || !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
			t.Errorf("%s: waiting for %v", h.state.Status, got)
		}
	}
}

// TestRefused: what a site refused with is shown while the study runs, and until it uploads.
func TestRefused(t *testing.T) {
	h := muted(t, 5, nil)
	want := func(code study.Code) {
		t.Helper()
		if got := h.state.Refused(2); got != code {
			t.Fatalf("%q, want %q", got, code)
		}
	}
	want("")
	h.event(Refused{Site: 2, Code: study.CodeData})
	want(study.CodeData)
	h.event(Rested{})
	want(study.CodeData) // it has not answered
	h.event(Uploaded{Site: 2})
	want("")
	h.event(Refused{Site: 2, Code: study.CodeLeft})
	want(study.CodeLeft)
	clear(h.mute)
	h.event(Connected{2})
	want("")
}

// TestBarredDoNotSign: the result waits for no site that cannot come back, where the others are
// enough to sign it.
func TestBarredDoNotSign(t *testing.T) {
	for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = dropout }) // four sign
		h.mute["attest"] = true
		h.run()
		for _, c := range []struct {
			site int
			want []int
		}{{1, []int{0, 2, 3, 4}}, {3, []int{0, 1, 2, 3, 4}}} {
			h.event(Barred{c.site})
			h.want(StatusSigning)
			if got := h.state.WaitingFor(); !slices.Equal(got, c.want) {
				t.Errorf("%s: waiting for %v, want %v", dropout, got, c.want)
			}
		}
	}
}

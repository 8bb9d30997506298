package round

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"covey/internal/proposal"
)

// TestWaitModeWaitsForAll: R4, R15. A study that waits opens a sum of every site or none at all,
// with whatever shares, also on a leader that begins meanwhile.
func TestWaitModeWaitsForAll(t *testing.T) {
	h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
	h.down[4] = true
	h.event(Disconnected{4})
	h.run()
	h.down[4] = false
	h.event(Connected{4})
	for h.state.Query == 0 && h.one() {
	}
	h.down[4] = true
	h.event(Disconnected{4})
	check := func() {
		t.Helper()
		h.run()
		h.expire(PhaseOpen)
		if h.state.Status != StatusRunning || len(h.state.Survivors) != 5 || h.state.Query != 1 || h.opened["1"] != 0 {
			t.Fatal("a study that waits went on without a site")
		}
		if h.state.Phase() != "upload" || !slices.Equal(h.state.WaitingFor(), []int{4}) {
			t.Fatalf("it is at %s, and waits for %v", h.state.Phase(), h.state.WaitingFor())
		}
	}
	check()
	h.crash()
	check()
	h.down[4] = false
	h.event(Connected{4})
	h.run()
	h.want(StatusCompleted)
}

// TestSharesComeBeforeTheLastUpload: R15. Where every site is waited for, q signatures are a
// certificate and q shares are in hand when the last upload comes: it alone opens the sum.
func TestSharesComeBeforeTheLastUpload(t *testing.T) {
	for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = dropout })
		h.mute["upload 4"] = true
		h.run()
		waits := dropout == proposal.DropoutWait
		if shared := h.served[3] == 0 && len(h.served) == 5; shared != waits || (h.state.Certificate != nil) != waits {
			t.Fatalf("%s: asked for shares before the last upload: %v", dropout, shared)
		}
		h.mute["share"] = true
		h.event(Uploaded{4, h.state.Query, h.state.Slot})
		h.run()
		if opened := h.opened["0"] == 1; opened != waits {
			t.Fatalf("%s: the last upload opened the sum: %v", dropout, opened)
		}
	}
}

// TestCertificateNeedsTheUploads: R15. With "continue" a leader that begins with a committed U, and
// lost the uploads, commits no certificate before it has them again: without it the slot may still
// be given up.
func TestCertificateNeedsTheUploads(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["sign"] = true
	h.run()
	h.mute["sign"], h.mute["upload 4"] = false, true
	h.crash()
	h.run()
	if h.state.Survivors == nil || h.state.Certificate != nil {
		t.Fatalf("U = %v is certified without an upload of site 4", h.state.Survivors)
	}
	h.expire(PhaseOpen)
	if h.last(EntryAbandoned, 0, 0) == nil {
		t.Fatal("the slot was not given up")
	}
}

// TestGoneSiteCostsFewDeadlines: with "continue", queries wait in vain for a site without a link
// for a few deadlines in a row, and no more. They wait for it again once it is back, however often
// its link ends before it uploads, and as many deadlines once it has uploaded.
func TestGoneSiteCostsFewDeadlines(t *testing.T) {
	const away = 2
	h := newHarness(t, 5, func(s *proposal.Spec) { s.Rounds = 30 })
	h.mute["upload"] = true
	h.run()
	clear(h.mute)
	h.down[away] = true
	h.crash()
	h.run()
	waits := func(want bool) {
		t.Helper()
		if got := slices.Contains(h.state.WaitingFor(), away) && h.state.Status == StatusRunning; got != want {
			t.Fatalf("query %d is %s and waits for the site: %v, want %v", h.state.Query, h.state.Status, got, want)
		}
	}
	lapse := func() {
		t.Helper()
		for range patience {
			waits(true)
			h.expire(PhaseUpload)
		}
	}
	until := func(query int) {
		t.Helper()
		for h.state.Query < query && h.one() {
			if h.state.Status == StatusRunning && slices.Contains(h.state.WaitingFor(), away) {
				t.Fatalf("query %d waits for the site", h.state.Query)
			}
		}
		if h.state.Query != query {
			t.Fatalf("query %d stands", h.state.Query)
		}
	}
	said := func(want Late) {
		t.Helper()
		for _, e := range h.pending {
			if got, ok := e.(Late); ok && !reflect.DeepEqual(got, want) {
				t.Fatalf("said %+v, want %+v", got, want)
			} else if ok {
				return
			}
		}
		t.Fatalf("nothing is said, want %+v", want)
	}
	name := []string{h.state.plan.Proposal.Roster[away].Name}
	for i := range patience {
		waits(true)
		late := Late{Query: h.state.Query, Phase: PhaseUpload, Sites: name}
		if i == patience-1 {
			late.Sites, late.Without = nil, name
		}
		h.event(Expired{Query: h.state.Query, Slot: h.state.Slot, Phase: PhaseUpload})
		said(late)
		if i < patience-1 {
			h.run()
		}
	}
	until(10)

	h.down[away], h.mute[fmt.Sprint("upload ", away)] = false, true
	for range 2 {
		h.event(Connected{away}) // in a query that has enough without it, or the next
		h.run()
		waits(true)
		h.event(Disconnected{away})
		until(h.state.Query + 3)
	}

	clear(h.mute)
	h.event(Connected{away})
	for h.state.Query < 25 && h.one() {
	}
	if u := h.last(EntrySurvivors, 24, 24); u == nil || !slices.Contains(u.Survivors, away) {
		t.Fatal("the site that is back is in no sum")
	}
	h.down[away] = true
	h.event(Disconnected{away})
	h.run()
	lapse()
	h.run()
	h.want(StatusCompleted)
}

// TestBarredSiteIsNotSaidToComeBack: of a site that was revoked it is not said that the study goes
// on without it until it is back.
func TestBarredSiteIsNotSaidToComeBack(t *testing.T) {
	for _, barred := range []bool{false, true} {
		h := muted(t, 6, nil) // U_min is 4
		h.event(Disconnected{1})
		if barred {
			h.event(Barred{1})
		}
		h.event(Uploaded{Site: 0})
		for range patience {
			h.event(Expired{Phase: PhaseUpload})
		}
		said := slices.ContainsFunc(h.pending, func(e Effect) bool { late, ok := e.(Late); return ok && late.Without != nil })
		if said == barred {
			t.Errorf("barred %v: said %v", barred, said)
		}
	}
}

// TestLeavingAfterItsDeadlinesIsSaid: where a site missed its deadlines on a link that ends then,
// it is said at once that the study goes on without it, unless it still waits for it; and not again
// before it has sent a sum.
func TestLeavingAfterItsDeadlinesIsSaid(t *testing.T) {
	for _, c := range []struct {
		missed, down int
		said         bool
	}{{patience - 1, 0, false}, {patience, 0, true}, {patience + 2, 0, true}, {patience, 2, false}} {
		h := muted(t, 6, nil) // U_min is 4
		for i := range c.down {
			h.event(Disconnected{4 + i})
		}
		h.event(Uploaded{Site: 0})
		for range c.missed {
			h.event(Expired{Phase: PhaseUpload})
		}
		says := func(e Event) bool {
			before := len(h.pending)
			h.event(e)
			return slices.ContainsFunc(h.pending[before:], func(e Effect) bool {
				late, ok := e.(Late)
				return ok && slices.Equal(late.Without, []string{h.state.plan.Proposal.Roster[1].Name})
			})
		}
		if said := says(Disconnected{1}); said != c.said {
			t.Errorf("%+v: said %v", c, said)
		}
		if !c.said {
			continue
		}
		for range 3 { // links that break before it sends anything tell nothing new
			h.event(Connected{1})
			if says(Expired{Phase: PhaseUpload}) || says(Disconnected{1}) || says(Expired{Phase: PhaseUpload}) {
				t.Errorf("%+v: said again", c)
			}
		}
		h.event(Connected{1})
		h.event(Uploaded{Site: 1})
		h.event(Disconnected{1})
		for i := range patience { // of the query after this one, since its sum is in this one
			clear(h.state.live.slot.uploaded)
			if said := says(Expired{Phase: PhaseUpload}); said != (i == patience-1) {
				t.Errorf("%+v: after its sum, at deadline %d: said %v", c, i+1, said)
			}
		}
	}
}

// TestTooFewWithoutTheAbsent: where the others are too few, a site without a link is waited for,
// however many deadlines pass, and named.
func TestTooFewWithoutTheAbsent(t *testing.T) {
	h := muted(t, 5, nil) // U_min is 4
	h.event(Disconnected{1})
	h.event(Disconnected{2})
	for _, i := range []int{0, 3, 4} {
		h.event(Uploaded{Site: i})
	}
	for i := range 3 * patience { // a deadline is set once a slot; a new leader sets it again
		h.event(Expired{Phase: PhaseUpload})
		if got := h.state.WaitingFor(); !slices.Equal(got, []int{1, 2}) || h.state.Survivors != nil {
			t.Fatalf("after %d deadlines U = %v, waiting for %v", i+1, h.state.Survivors, got)
		}
	}
}

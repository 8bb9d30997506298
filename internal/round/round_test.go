package round

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/must"
)

func TestStudyCompletes(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.run()
	h.want(StatusCompleted)
	if got, want := len(h.state.Releases), len(h.state.plan.Queries); got != want {
		t.Fatalf("%d releases, want %d", got, want)
	}
	if diff := h.state.Rho - h.state.plan.Rho; diff > 1e-12 || diff < -1e-12 {
		t.Fatalf("charged ρ %v, planned %v", h.state.Rho, h.state.plan.Rho)
	}
}

func TestSiteThatDropsIsLeftBehindAtTheDeadline(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["upload"] = true
	h.run()
	h.mute["upload"] = false
	h.down[2] = true
	h.crash() // asks again, without site 2
	h.run()
	if h.state.Survivors != nil {
		t.Fatal("U was committed before the deadline without site 2")
	}
	if got := h.state.WaitingFor(); !slices.Equal(got, []int{2}) {
		t.Fatalf("waiting for %v, want site 2", got)
	}
	h.expire(PhaseUpload)
	if got := h.log[len(h.log)-1]; h.state.Query != 1 || got.Kind != EntryReleased {
		t.Fatalf("query 0 was not released at the deadline: query %d", h.state.Query)
	}
	if u := h.last(EntrySurvivors, 0, 0).Survivors; !slices.Equal(u, []int{0, 1, 3, 4}) {
		t.Fatalf("U = %v", u)
	}
	// It comes back at the next query.
	h.down[2] = false
	h.event(Connected{2})
	h.run()
	h.want(StatusCompleted)
	if u := h.last(EntrySurvivors, 1, 1).Survivors; len(u) != 5 {
		t.Fatalf("U of query 1 = %v, want all", u)
	}
}

func TestBelowMinSurvivorsPauses(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["upload"] = true
	h.run()
	h.mute["upload"] = false
	h.down[0], h.down[1] = true, true
	h.crash()
	h.run()
	h.expire(PhaseUpload)
	if h.state.Survivors != nil || h.state.Status != StatusRunning {
		t.Fatal("3 of 5 sites closed a sum, U_min is 4")
	}
	h.down[0] = false
	h.event(Connected{0})
	h.run()
	if u := h.last(EntrySurvivors, 0, 0); u == nil || len(u.Survivors) != 4 {
		t.Fatal("the fourth site did not close the overdue slot")
	}
}

func TestStalledBeforeOpeningTakesANewSlot(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["sign"] = true
	h.run()
	if h.state.Survivors == nil {
		t.Fatal("no U")
	}
	// The leader and with it the uploads are lost, and a site of U with them.
	h.down[3] = true
	h.crash()
	h.mute["sign"] = false
	h.run()
	h.expire(PhaseOpen)
	if h.last(EntryAbandoned, 0, 0) == nil || h.state.Slot != 1 {
		t.Fatalf("slot 0 was not abandoned; slot %d", h.state.Slot)
	}
	h.expire(PhaseUpload)
	if r := h.last(EntryReleased, 0, 1); r == nil {
		t.Fatal("query 0 was not released in slot 1")
	}
	h.audit()
}

func TestStalledWhileOpeningIsNeverAbandoned(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["share"] = true
	h.run()
	if h.state.Certificate == nil {
		t.Fatal("no certificate")
	}
	h.down[3] = true
	h.crash()
	h.mute["share"] = false
	h.run()
	h.expire(PhaseOpen)
	h.expire(PhaseUpload)
	if h.state.Slot != 0 || h.state.Query != 0 {
		t.Fatal("a slot whose shares were asked for was replaced")
	}
	if _, err := h.state.Step(Committed{Entry{Kind: EntryAbandoned}}); !stale(err) {
		t.Fatalf("an abandonment after the opening was applied: %v", err)
	}
	h.down[3] = false
	h.event(Connected{3})
	h.run()
	h.want(StatusCompleted)
}

func TestFirstCommittedReleaseWins(t *testing.T) {
	h := newHarness(t, 5, nil)
	for h.state.Query == 0 && h.one() {
	}
	again := *h.last(EntryReleased, 0, 0)
	course := *again.Course
	course.X = []float64{0, 0, 1}
	again.Course = &course
	x := slices.Clone(h.state.X)
	if _, err := h.state.Step(Committed{again}); !stale(err) {
		t.Fatalf("a second release of query 0: %v", err)
	}
	if !slices.Equal(x, h.state.X) || len(h.state.Releases) != 1 {
		t.Fatal("a second release changed the state")
	}
}

func stale(err error) bool {
	_, ok := errors.AsType[*StaleError](err)
	return ok
}

func TestSpareSlotsBoundRetries(t *testing.T) {
	h := newHarness(t, 5, func(s *proposal.Spec) { s.SpareSlots = 2 })
	h.mute["sign"] = true
	h.run()
	for retry := range 3 {
		if h.state.Status != StatusRunning {
			t.Fatalf("ended at retry %d", retry)
		}
		// Lose the uploads of a site that is in U, until nothing is left to retry with.
		h.down[3] = true
		h.crash()
		h.run()
		if h.state.Survivors == nil {
			h.down[3] = false
			h.event(Connected{3})
			h.run()
			h.down[3] = true
			h.crash()
			h.run()
		}
		h.expire(PhaseOpen)
	}
	h.want(StatusEnded)
	if h.state.Code != study.CodeRetriesSpent {
		t.Fatalf("code %s", h.state.Code)
	}
}

// TestSharesUnknownToTheLogKeepTheSlot: O9. A log that was put back to before the opening leads to
// sites that sent shares in the slot: with one of U away it waits, where a leader of an honest log
// gives the slot up.
func TestSharesUnknownToTheLogKeepTheSlot(t *testing.T) {
	// by how many of the four sites that are there say so; U_min is 4
	for shared, slot := range []int{1, 0, 0} {
		h := newHarness(t, 5, nil)
		h.mute["sign"] = true
		h.run()
		if h.state.plan.Thresholds.MinSurvivors != 4 || h.state.Survivors == nil {
			t.Fatalf("U_min = %d, U = %v", h.state.plan.Thresholds.MinSurvivors, h.state.Survivors)
		}
		h.down[3] = true
		h.crash()
		h.mute["sign"] = false
		for i := range shared {
			h.event(Refused{Site: i, Query: 0, Slot: 0, Code: study.CodeHeld, Held: h.state.Survivors, Shared: true})
		}
		h.run()
		h.expire(PhaseOpen)
		if h.state.Slot != slot {
			t.Fatalf("%d sites sent shares in slot 0, and the open slot is %d", shared, h.state.Slot)
		}
		if slot == 0 && !slices.Equal(h.state.WaitingFor(), []int{3}) {
			t.Errorf("waiting for %v", h.state.WaitingFor())
		}
		h.down[3] = false
		h.event(Connected{3})
		h.run()
		h.want(StatusCompleted)
	}
}

func TestRejectionEndsTheStudy(t *testing.T) {
	h := newHarness(t, 3, nil)
	h.pending = nil
	h.event(Decided{Site: 1, Verdict: study.VerdictRejected, Code: study.CodeBudget})
	h.run()
	h.want(StatusEnded)
	if h.state.Code != study.CodeBudget || h.state.Culprit != 1 {
		t.Fatalf("code %s of site %d", h.state.Code, h.state.Culprit)
	}
}

// TestFailedSetupNamesWhoseItIs: an announcement that does not hold names its site, and a check
// that failed by itself nobody.
func TestFailedSetupNamesWhoseItIs(t *testing.T) {
	for _, c := range []struct {
		culprit study.Seat
		code    study.Code
	}{{study.SeatOf(2), study.CodeBadAnnouncement}, {study.SeatOf(0), study.CodeBadAnnouncement}, {study.Nobody, study.CodeInternal}} {
		h := newHarness(t, 3, nil)
		for {
			if len(h.pending) > 0 {
				if _, ok := h.pending[0].(VerifySetup); ok {
					break
				}
			}
			if !h.one() {
				t.Fatal("the setup was not verified")
			}
		}
		h.pending = nil
		h.event(SetupVerified{Failed: true, Culprit: c.culprit})
		h.run()
		h.want(StatusEnded)
		if h.state.Culprit != c.culprit.Site() || h.state.Code != c.code {
			t.Errorf("code %s of site %d, want %s of %d", h.state.Code, h.state.Culprit, c.code, c.culprit.Site())
		}
	}
}

func TestFailedOpeningEndsTheStudy(t *testing.T) {
	h := newHarness(t, 5, nil)
	opens := 0
	for {
		if len(h.pending) > 0 {
			if e, ok := h.pending[0].(Open); ok {
				opens++
				h.pending = h.pending[1:]
				h.event(OpenFailed{Query: e.Ask.Query, Slot: e.Ask.Slot, Code: study.CodeInternal})
				continue
			}
		}
		if !h.one() {
			break
		}
	}
	h.want(StatusEnded)
	if h.state.Code != study.CodeInternal || opens != 1 || len(h.state.Releases) != 0 {
		t.Fatalf("code %s after %d openings, %d releases", h.state.Code, opens, len(h.state.Releases))
	}
}

func TestAbortEndsAndKeepsCharges(t *testing.T) {
	h := newHarness(t, 5, nil)
	for h.state.Query == 0 && h.one() {
	}
	charged := h.state.Rho
	h.commit(Entry{Kind: EntryEnded, Code: study.CodeAborted})
	h.run()
	h.want(StatusEnded)
	if h.state.Rho != charged || charged == 0 {
		t.Fatalf("ρ %v after the abort, %v before", h.state.Rho, charged)
	}
}

// TestFaults runs random schedules of crashes, drops, returns, lost replies and
// deadlines, and lets everything heal at the end: the log MUST stay lawful at
// every step, and the study must come to an end.
func TestFaults(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		sites := rapid.IntRange(3, 8).Draw(r, "sites")
		waits := rapid.Bool().Draw(r, "waits")
		h := newHarness(t, sites, func(s *proposal.Spec) {
			s.Rounds = 1
			if waits {
				s.OnDropout = proposal.DropoutWait
			}
		})
		for range rapid.IntRange(0, 120).Draw(r, "steps") {
			i := rapid.IntRange(0, sites-1).Draw(r, "site")
			switch rapid.IntRange(0, 13).Draw(r, "what") {
			case 0:
				h.crash()
			case 1:
				h.down[i] = true
				h.event(Disconnected{i})
			case 2:
				h.down[i] = false
				h.event(Connected{i})
			case 3:
				h.expire(PhaseUpload)
			case 4:
				h.expire(PhaseOpen)
			case 5:
				if len(h.pending) > 0 { // a message or its reply is lost with the link
					if s, ok := h.pending[0].(Send); ok {
						h.pending = h.pending[1:]
						h.event(Disconnected{s.Site})
						h.event(Connected{s.Site})
					}
				}
			case 6:
				h.mute[rapid.SampledFrom([]string{"upload", "sign", "share", "prove 1", "keys 1"}).Draw(r, "mute")] = rapid.Bool().Draw(r, "on")
			case 7: // the next opening finds the dealing of a site, or its deposits, wrong
				if h.trouble = nil; rapid.Bool().Draw(r, "dealing") {
					h.trouble = append(h.trouble, missingProofs(i, rapid.IntRange(1, sites).Draw(r, "helpers")))
				} else {
					h.trouble = append(h.trouble, missingKeys(nil, i, (i+1)%sites))
				}
			default:
				h.one()
			}
			h.audit()
		}
		clear(h.down)
		clear(h.mute)
		h.crash()
		h.run()
		h.expire(PhaseOpen)
		if h.state.Status == StatusEnded && h.state.Code == study.CodeRetriesSpent {
			h.audit()
			return
		}
		h.want(StatusCompleted)
	})
}

// TestUnsignedSlotIsAbandoned: U is committed, everything is uploaded, but the sites
// sign nothing for this slot any more, as after a restored backup.
func TestUnsignedSlotIsAbandoned(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["sign"] = true
	h.run()
	if h.state.Survivors == nil || h.state.Slot != 0 {
		t.Fatalf("U = %v in slot %d", h.state.Survivors, h.state.Slot)
	}
	h.mute["sign"] = false
	h.expire(PhaseOpen)
	h.run()
	h.want(StatusCompleted)
	if last := h.last(EntryAbandoned, 0, 0); last == nil {
		t.Fatal("slot 0 was not abandoned")
	}
}

// TestUnsignedSlotIsKeptWhereSitesAreWaitedFor: with "wait" there is no other slot to go to.
func TestUnsignedSlotIsKeptWhereSitesAreWaitedFor(t *testing.T) {
	h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
	h.mute["sign"] = true
	h.run()
	h.expire(PhaseOpen)
	h.run()
	if h.state.Slot != 0 || h.state.Status != StatusRunning {
		t.Fatalf("%s in slot %d", h.state.Status, h.state.Slot)
	}
}

// TestSpentSitesEndTheStudy: sites that sent shares in a slot that this log gave up
// take part in no later one; when too few are left, the study says so and ends.
func TestSpentSitesEndTheStudy(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["sign"] = true
	h.run()
	h.mute["upload"] = true
	h.expire(PhaseOpen)
	h.run()
	if h.state.Slot != 1 {
		t.Fatalf("slot %d", h.state.Slot)
	}
	for i := range 2 { // of five, U_min is 4
		if h.state.Status != StatusRunning {
			t.Fatalf("ended when %d sites were spent", i)
		}
		h.event(Refused{Site: i, Query: 0, Slot: 0, Code: study.CodeHeld})
		h.run()
	}
	h.want(StatusEnded)
	if h.state.Code != study.CodeHeld || h.state.Culprit != -1 {
		t.Fatalf("code %s of site %d", h.state.Code, h.state.Culprit)
	}
}

// TestHeldByMostSitesIsAdopted: and not forgotten when the log fails to take it.
func TestHeldByMostSitesIsAdopted(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["upload"] = true
	h.run()
	h.state.live.proposing = true // an entry is on its way
	a, b := []int{0, 1, 2, 3}, []int{1, 2, 3, 4}
	for i, u := range [][]int{a, b, b, a, b} {
		h.event(Refused{Site: i, Query: 0, Slot: 0, Code: study.CodeHeld, Held: u})
	}
	h.event(ProposeFailed{})
	h.run()
	if !slices.Equal(h.state.Survivors, b) {
		t.Fatalf("U = %v, want the one that most sites signed", h.state.Survivors)
	}
}

// TestAsked: a query counts as charged from when it is asked until its release, also of a study
// that ends in between; none does before the setup is confirmed, or once a release ended the study.
func TestAsked(t *testing.T) {
	asked := func(s *State) float64 { return must.Get(Restore(s.Durable))(t).Asked() }
	early := newHarness(t, 5, nil)
	for early.state.Status != StatusSetup && early.one() {
	}
	if got := asked(early.state); got != 0 {
		t.Errorf("ρ = %g of a study in its setup", got)
	}
	early.commit(Entry{Kind: EntryEnded, Code: study.CodeWithdrawn})
	if got := asked(early.state); early.state.Status != StatusEnded || got != 0 {
		t.Errorf("%s: ρ = %g of a study that ended in its setup", early.state.Status, got)
	}
	for _, query := range []int{0, 1} {
		h := newHarness(t, 5, nil)
		for (h.state.Status != StatusRunning || h.state.Query < query) && h.one() {
		}
		want := h.state.plan.Queries[query].Rho
		if got := asked(h.state); got != want || got == 0 {
			t.Errorf("query %d: ρ = %g, want %g", query, got, want)
		}
		h.commit(Entry{Kind: EntryEnded, Code: study.CodeDataChanged})
		if got := asked(h.state); h.state.Status != StatusEnded || got != want {
			t.Errorf("query %d: ρ = %g after the end, want %g", query, got, want)
		}
	}
	done := newHarness(t, 5, nil)
	done.run()
	if got := asked(done.state); done.state.Status != StatusCompleted || got != 0 {
		t.Errorf("%s: ρ = %g of a study with its result", done.state.Status, got)
	}
}

// TestReleaseLeadsOn: what a release leads to must be a query that may follow it, and a
// release that says so ends the study.
func TestReleaseLeadsOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*study.Course)
		stale  bool
		status Status
	}{
		{"the same query", func(c *study.Course) { c.Query-- }, true, StatusRunning},
		{"one left out", func(c *study.Course) { c.Query++ }, true, StatusRunning},
		{"no query at all", func(c *study.Course) { c.Query = -1 }, true, StatusRunning},
		{"an end", func(c *study.Course) { c.End = study.CodeNoScale }, false, StatusEnded},
		{"as it is", func(*study.Course) {}, false, StatusRunning},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := newHarness(t, 5, nil)
			for whole.state.Query == 0 && whole.one() {
			}
			e := *whole.last(EntryReleased, 0, 0)
			h := newHarness(t, 5, nil)
			for h.state.Certificate == nil && h.one() {
			}
			course := *e.Course
			c.change(&course)
			e.Course = &course
			_, err := h.state.Step(Committed{e})
			if stale(err) != c.stale || h.state.Status != c.status {
				t.Fatalf("%v, status %s", err, h.state.Status)
			}
			if c.status == StatusEnded && (h.state.Code != study.CodeNoScale || h.state.Asked() != 0) {
				t.Errorf("code %q, ρ = %g is open", h.state.Code, h.state.Asked())
			}
		})
	}
}

package round

import (
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// claim is a site's word, with its signature, that it signed u in the open slot.
func (h *harness) claim(site int, u ...int) {
	h.event(Refused{Site: site, Query: h.state.Query, Slot: h.state.Slot, Code: study.CodeHeld, Held: u})
}

// doubts runs the effects and gives the sites that were doubted meanwhile.
func (h *harness) doubts() (out []Doubt) {
	for len(h.pending) > 0 {
		if d, ok := h.pending[0].(Doubt); ok {
			out = append(out, d)
		}
		h.one()
	}
	return out
}

// muted is a study of so many sites at its first query, of which nobody has uploaded yet.
func muted(t *testing.T, sites int, change func(*proposal.Spec)) *harness {
	h := newHarness(t, sites, change)
	h.mute["upload"] = true
	h.run()
	return h
}

// upload is a site's late answer.
func (h *harness) upload(sites ...int) {
	for _, i := range sites {
		h.event(Uploaded{i, h.state.Query, h.state.Slot})
	}
}

// TestHeldSurvivorsAreAdopted: R7. A U counts when more sites say that they signed it than can be
// corrupt, and U_min sites have answered: of ten sites η = 3 and U_min = 7.
func TestHeldSurvivorsAreAdopted(t *testing.T) {
	h := muted(t, 10, nil)
	if th := h.state.plan.Thresholds; th.Corrupt != 3 || th.MinSurvivors != 7 {
		t.Fatalf("%+v", th)
	}
	held := []int{0, 1, 2, 3, 4, 5, 6}
	for i := range 4 {
		h.claim(i, held...)
		h.upload(i)
	}
	h.upload(8)
	h.run()
	if h.state.Survivors != nil {
		t.Fatalf("U = %v was adopted when 5 sites had answered", h.state.Survivors)
	}
	h.upload(7)
	h.upload(9)
	if h.run(); !slices.Equal(h.state.Survivors, held) {
		t.Fatalf("U = %v, want the one that four sites signed", h.state.Survivors)
	}
}

// TestOneSitesHeldChangesNothing: R7. A corrupt site, or all that can be, says that it signed a U
// of its choice: the study goes on as if it had not, in no other slot, and the site is named.
func TestOneSitesHeldChangesNothing(t *testing.T) {
	for liars := 1; liars <= 3; liars++ {
		h := muted(t, 10, nil)
		h.mute["upload"] = false
		u := []int{0, 4, 5, 6, 7, 8, 9}
		for i := range liars {
			h.claim(i, u...)
		}
		for i := range 10 {
			h.upload(i)
		}
		doubts := h.doubts()
		h.want(StatusCompleted)
		if first := h.last(EntrySurvivors, 0, 0); first == nil || len(first.Survivors) != 10 {
			t.Fatalf("%d liars: U = %v", liars, first)
		}
		for i := range liars {
			if !slices.Contains(doubts, Doubt{i, study.CodeHeld}) {
				t.Errorf("%d liars: site %d is not named: %v", liars, i, doubts)
			}
		}
	}
}

// TestHeldWithAnAbsentSite: what one site says it signed with a site that is away burns no slot.
func TestHeldWithAnAbsentSite(t *testing.T) {
	h := muted(t, 10, nil)
	h.down[9] = true
	h.event(Disconnected{9})
	h.claim(1, 1, 2, 3, 4, 5, 6, 9)
	h.upload(0, 1, 2, 3, 4, 5, 6, 7, 8)
	h.run()
	if h.state.Survivors != nil {
		t.Fatalf("U = %v before the deadline", h.state.Survivors)
	}
	h.expire(PhaseUpload)
	if e := h.last(EntrySurvivors, 0, 0); e == nil || len(e.Survivors) != 9 || h.last(EntryReleased, 0, 0) == nil {
		t.Fatalf("%+v in slot %d", e, h.state.Slot)
	}
}

// TestDoubtfulHeldWaits: R7. Of ten sites three are away, and three say that they signed a U: seven
// may have, so that the leader waits for another answer, past the deadline while too few are free
// for a slot that might be given up, and adopts U when a fourth says so.
func TestDoubtfulHeldWaits(t *testing.T) {
	h := muted(t, 10, nil)
	u := []int{0, 1, 2, 3, 4, 5, 6}
	for i := range 3 {
		h.event(Refused{Site: i, Query: 0, Slot: 0, Code: study.CodeHeld, Held: u, Shared: true})
	}
	h.upload(0, 1, 2, 3, 7, 8, 9)
	h.run()
	h.expire(PhaseUpload)
	if h.state.Survivors != nil {
		t.Fatalf("U = %v, and another may be certified", h.state.Survivors)
	}
	h.claim(4, u...)
	h.upload(4)
	if h.run(); !slices.Equal(h.state.Survivors, u) {
		t.Fatalf("U = %v, want the one that four sites signed", h.state.Survivors)
	}
	// Who sent no shares can take part in another slot, so that nobody has to be waited for past
	// the deadline.
	h = muted(t, 10, nil)
	for i := range 3 {
		h.claim(i, u...)
	}
	h.upload(0, 1, 2, 3, 7, 8, 9)
	h.run()
	if h.state.Survivors != nil {
		t.Fatalf("U = %v before the deadline", h.state.Survivors)
	}
	h.expire(PhaseUpload)
	if e := h.last(EntrySurvivors, 0, 0); e == nil || !slices.Equal(e.Survivors, []int{0, 1, 2, 3, 7, 8, 9}) {
		t.Fatalf("U = %+v", e)
	}
}

// TestWaitModeTakesNobodysWord: R4. Where every site is waited for, U is all of them, whatever
// sites say that they hold.
func TestWaitModeTakesNobodysWord(t *testing.T) {
	h := newHarness(t, 10, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
	for h.state.Query == 0 {
		if !h.one() {
			t.Fatal("nothing is under way")
		}
	}
	other := []int{0, 4, 5, 6, 7, 8, 9}
	for _, i := range other {
		h.claim(i, other...)
	}
	if u := h.state.Survivors; len(u) != 10 {
		t.Fatalf("U = %v", u)
	}
	doubts := h.doubts()
	h.want(StatusCompleted)
	if i := slices.IndexFunc(h.log, func(e Entry) bool { return e.Kind == EntrySurvivors }); i >= 0 {
		t.Fatalf("U = %v is in the log", h.log[i].Survivors)
	}
	if !slices.Contains(doubts, Doubt{4, study.CodeHeld}) {
		t.Errorf("nobody is named: %v", doubts)
	}
}

// TestLogKeepsTheFirstSurvivors: O4, R4. The log takes no second U of a slot, and in a study that
// waits none but all sites, which each slot opens with.
func TestLogKeepsTheFirstSurvivors(t *testing.T) {
	h := newHarness(t, 5, nil)
	for h.state.Survivors == nil && h.one() {
	}
	first := h.state.Survivors
	for range 2 { // another, and the same again
		_, err := h.state.Step(Committed{h.state.entry(Entry{Kind: EntrySurvivors, Survivors: []int{0, 1, 2, 3}})})
		if !stale(err) || !slices.Equal(h.state.Survivors, first) {
			t.Fatalf("U = %v, %v", h.state.Survivors, err)
		}
	}
	h = newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
	h.run()
	h.want(StatusCompleted)
	if h.state.Survivors != nil {
		t.Errorf("no slot is open, and U = %v", h.state.Survivors)
	}
	for _, kind := range []EntryKind{EntryPrepared, EntryReleased} {
		s := h.after(kind)
		_, err := s.Step(Committed{s.entry(Entry{Kind: EntrySurvivors, Survivors: []int{0, 1, 2, 3}})})
		if !stale(err) || !slices.Equal(s.Survivors, []int{0, 1, 2, 3, 4}) {
			t.Fatalf("after %s U = %v, %v", kind, s.Survivors, err)
		}
		d := s.Durable
		for _, u := range [][]int{nil, {0, 1, 2, 3}} { // another coordinator's snapshot
			d.Survivors = u
			if _, err := Restore(d); err != errUnfit {
				t.Errorf("a study that waits with U = %v was restored: %v", u, err)
			}
		}
	}
}

// TestApprovalStands: a verdict that comes after a site's approval changes nothing.
func TestApprovalStands(t *testing.T) {
	h := &harness{t: t, state: &State{}, sites: 3}
	body := proposed(t, 3, nil)
	id := proposal.DigestOf(body)
	h.commit(Entry{Kind: EntryProposed, Study: id, Body: body})
	h.commit(Entry{Kind: EntryDecided, Study: id, Site: 1, Verdict: study.VerdictApproved})
	for _, v := range []study.Verdict{study.VerdictRejected, study.VerdictPending} {
		_, err := h.state.Step(Committed{Entry{Kind: EntryDecided, Study: id, Site: 1, Verdict: v, Code: study.CodeRejected}})
		if !stale(err) || h.state.Status != StatusProposed || h.state.Verdicts[1] != study.VerdictApproved {
			t.Fatalf("%s after an approval: %v, the study is %s", v, err, h.state.Status)
		}
	}
}

// TestAccusations: R20. Who a study's end names for certain is whom the leader caught, or a site
// that spoke of itself.
func TestAccusations(t *testing.T) {
	const nobody = -1
	for _, c := range []struct {
		name             string
		running          bool
		asked            bool // the accuser was sent its boxes
		no               Refused
		code             study.Code
		culprit, accuser int
	}{
		{name: "shares, proven", asked: true, no: Refused{Site: 4, Code: study.CodeBadShare, Culprit: study.SeatOf(1), Proven: true},
			code: study.CodeBadShare, culprit: 1, accuser: nobody},
		{name: "shares without a proof", asked: true, no: Refused{Site: 4, Code: study.CodeBadShare, Culprit: study.SeatOf(1)},
			code: study.CodeBadRefusal, culprit: 4, accuser: nobody},
		{name: "two boxes", asked: true, no: Refused{Site: 4, Code: study.CodeBadBox, Culprit: study.SeatOf(1), Proven: true},
			code: study.CodeBadBox, culprit: 1, accuser: nobody},
		{name: "two boxes without a proof", asked: true, no: Refused{Site: 4, Code: study.CodeBadBox, Culprit: study.SeatOf(1)},
			code: study.CodeBadRefusal, culprit: 4, accuser: nobody},
		{name: "what was relayed", asked: true, no: Refused{Site: 4, Code: study.CodeBadBox},
			code: study.CodeBadBox, culprit: nobody, accuser: 4},
		{name: "shares that it confirmed", running: true, no: Refused{Site: 4, Code: study.CodeBadShare, Culprit: study.SeatOf(1)},
			code: study.CodeBadRefusal, culprit: 4, accuser: nobody},
		{name: "an announcement that the leader checked", asked: true, no: Refused{Site: 4, Code: study.CodeBadAnnouncement, Culprit: study.SeatOf(1)},
			code: study.CodeBadRefusal, culprit: 4, accuser: nobody},
		{name: "two announcements", asked: true, no: Refused{Site: 4, Code: study.CodeBadAnnouncement, Culprit: study.SeatOf(1), Proven: true},
			code: study.CodeBadAnnouncement, culprit: 1, accuser: nobody},
		{name: "an announcement of nobody's", asked: true, no: Refused{Site: 4, Code: study.CodeBadAnnouncement},
			code: study.CodeBadAnnouncement, culprit: nobody, accuser: 4},
		{name: "a confirmation that the leader checked", running: true, no: Refused{Site: 4, Code: study.CodeBadConfirmation, Culprit: study.SeatOf(1)},
			code: study.CodeBadRefusal, culprit: 4, accuser: nobody},
		{name: "itself", asked: true, no: Refused{Site: 4, Code: study.CodeDataChanged},
			code: study.CodeDataChanged, culprit: 4, accuser: nobody},
		{name: "another's plan", running: true, no: Refused{Site: 4, Code: study.CodePlanMismatch, Culprit: study.SeatOf(1)},
			code: study.CodePlanMismatch, culprit: 4, accuser: nobody},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
			until := func() bool { return h.state.Status == StatusSetup }
			switch {
			case c.running:
				until = func() bool { return h.state.Status == StatusRunning }
			case c.asked:
				until = func() bool { return h.state.Status == StatusSetup && h.state.live.links[4].asked[askConfirmation] != 0 }
			}
			for !until() && h.one() {
			}
			h.event(c.no)
			doubts := h.doubts()
			h.want(StatusEnded)
			if s := h.state; s.Code != c.code || s.Culprit != c.culprit || s.Accuser.Site() != c.accuser {
				t.Errorf("%s: culprit %d, accuser %d", s.Code, s.Culprit, s.Accuser.Site())
			}
			if c.code == study.CodeBadRefusal && !slices.Contains(doubts, Doubt{4, c.code}) {
				t.Errorf("the false refusal is not counted: %v", doubts)
			}
			h.crash() // it is in the log
			if s := h.state; s.Accuser.Site() != c.accuser {
				t.Errorf("after a crash: accuser %d", s.Accuser.Site())
			}
		})
	}
}

// committee is a graph whose first sites sign.
type committee struct {
	Graph
	size int
}

func (c committee) Signs(site int) bool { return site < c.size }

// TestHeldOnTheSparseGraph: R7. Of the sparse graph only the committee's word counts, and as many
// of it as can be corrupt choose nothing: K of them sign, T are a certificate, and with c corrupt
// ones 2T > K+c.
func TestHeldOnTheSparseGraph(t *testing.T) {
	h := &harness{t: t, state: &State{}, sites: 1000}
	body := proposed(t, 1000, nil)
	h.commit(Entry{Kind: EntryProposed, Study: proposal.DigestOf(body), Body: body})
	s, th := h.state, h.state.plan.Thresholds
	s.live.graph = committee{size: th.Holders}
	b := 2*th.Threshold - th.Holders - 1
	if b < 1 || b >= th.Corrupt || th.Holders >= th.MinSurvivors {
		t.Fatalf("%+v", th)
	}
	u := []int{0, 1, 2}
	for i := range th.MinSurvivors {
		s.live.slot.uploaded[i] = true
	}
	for i := th.Holders; i < th.Sites; i++ { // whose signatures count for nothing
		s.live.slot.words[i].held = u
	}
	if s.claims().certain() != nil || s.claims().doubtful() {
		t.Fatalf("%d sites outside the committee choose U = %v", th.Sites-th.Holders, s.claims().certain())
	}
	for i := range b {
		s.live.slot.words[i].held = u
	}
	if got := s.claims().certain(); got != nil || s.claims().doubtful() != (2*b >= th.Threshold) {
		t.Fatalf("%d of the committee choose U = %v, doubtful: %v", b, got, s.claims().doubtful())
	}
	s.live.slot.words[b].held = u
	if got := s.claims().certain(); !slices.Equal(got, u) {
		t.Fatalf("%d of the committee say so, and U = %v", b+1, got)
	}
}

package round

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// missingProofs is an opening that finds the shares of a dealer's secret wrong, and asks the first
// so many helpers that have sent theirs.
func missingProofs(dealer, helpers int) func(Open) Event {
	return func(e Open) Event {
		out := ProofsMissing{Query: e.Ask.Query, Slot: e.Ask.Slot, Dealer: dealer}
		for i := range helpers {
			out.Helpers = append(out.Helpers, i)
		}
		return out
	}
}

// missingKeys is an opening that needs the keys of some survivors' pairs.
func missingKeys(convicted []int, from ...int) func(Open) Event {
	return func(e Open) Event {
		return KeysMissing{Query: e.Ask.Query, Slot: e.Ask.Slot, From: from, Convicted: convicted}
	}
}

// count returns how often a site was asked for a kind of answer.
func (h *harness) count(kind string, site int) (n int) {
	for _, a := range h.asked {
		if strings.HasPrefix(a, fmt.Sprintf("%s %d ", kind, site)) {
			n++
		}
	}
	return n
}

// troubled brings a study to its first opening, which meets trouble.
func troubled(t *testing.T, trouble ...func(Open) Event) *harness {
	t.Helper()
	h := newHarness(t, 5, nil) // q = 4 of 5 open
	h.trouble = trouble
	return h
}

// TestProofsAreAskedFor: A7. The helpers of one dealer are asked for proofs, behind what asks for
// their shares and one dealer at a time; with them the sum is opened.
func TestProofsAreAskedFor(t *testing.T) {
	h := troubled(t, missingProofs(2, 4), missingProofs(3, 3))
	h.run()
	h.want(StatusCompleted)
	for i := range 5 {
		want2, want3 := 0, 0
		if i < 4 {
			want2 = 1
		}
		if i < 3 {
			want3 = 1
		}
		if of2, of3 := h.count("prove of 2", i), h.count("prove of 3", i); of2 != want2 || of3 != want3 {
			t.Errorf("site %d was asked %d times of site 2, and %d of site 3", i, of2, of3)
		}
	}
	last2 := slices.IndexFunc(h.asked, func(a string) bool { return strings.HasPrefix(a, "prove of 3") })
	for _, a := range h.asked[last2:] {
		if strings.HasPrefix(a, "prove of 2") {
			t.Fatal("two dealers at a time")
		}
	}
	if len(h.dropped) != 0 {
		t.Errorf("dropped: %v", h.dropped)
	}
}

// TestSharesAreAskedForAgain: shares that come while an opening is under way are not kept, so that
// whoever has not been heard is asked again when the opening waits for proofs.
func TestSharesAreAskedForAgain(t *testing.T) {
	h := troubled(t, missingProofs(2, 4))
	h.mute["share 4"], h.mute["prove 1"] = true, true
	h.run()
	if n := h.count("share", 4); n != 2 || !h.state.WantsProof(1, 2) {
		t.Fatalf("asked %d times for shares", n)
	}
	h.mute["share 4"] = false
	h.event(Shared{4, 0, 0})
	h.expire(PhaseProofs) // the fifth site's shares open what the silent one's do not
	if h.want(StatusCompleted); !slices.Equal(h.dropped, []int{1}) {
		t.Errorf("dropped %v", h.dropped)
	}
}

// TestSilentHelperIsDropped: A7. A helper that proves nothing loses its shares, and nobody is
// named: at once when its link ends, at the deadline when it has one; while the others' shares open
// nothing, it is waited for.
func TestSilentHelperIsDropped(t *testing.T) {
	h := troubled(t, missingProofs(2, 4))
	h.mute["prove 1"] = true
	h.run()
	if h.state.Query != 0 || !slices.Equal(h.state.WaitingFor(), []int{1}) {
		t.Fatalf("query %d, waiting for %v", h.state.Query, h.state.WaitingFor())
	}
	h.expire(PhaseProofs)
	if !slices.Equal(h.dropped, []int{1}) || h.state.Query == 0 {
		t.Fatalf("dropped %v, query %d", h.dropped, h.state.Query)
	}
	h.want(StatusCompleted)

	h = troubled(t, missingProofs(2, 4))
	h.mute["prove 1"] = true
	h.run()
	h.event(Disconnected{1})
	h.down[1] = true
	h.run()
	if !slices.Equal(h.dropped, []int{1}) || h.last(EntryReleased, 0, 0) == nil {
		t.Fatalf("dropped %v without a link", h.dropped)
	}

	h = troubled(t, missingProofs(2, 4))
	h.mute["prove 0"], h.mute["prove 1"] = true, true
	h.run()
	h.expire(PhaseProofs)
	h.event(Disconnected{1})
	h.run()
	if len(h.dropped) != 0 || h.state.Query != 0 {
		t.Fatalf("dropped %v, and three sites' shares open nothing", h.dropped)
	}
	h.mute["prove 1"] = false
	h.event(Connected{1}) // asked again
	h.run()
	if h.want(StatusCompleted); !slices.Equal(h.dropped, []int{0}) {
		t.Errorf("dropped %v", h.dropped)
	}
}

// TestProofsHaveTheirDeadlines: an opening that begins when the open slot's deadline has passed
// gives each dealer's helpers time of their own.
func TestProofsHaveTheirDeadlines(t *testing.T) {
	h := troubled(t, missingProofs(2, 4), missingProofs(3, 4))
	h.mute["share"] = true
	h.run()
	h.expire(PhaseOpen)
	h.mute["share"], h.mute["prove 1"] = false, true
	h.event(Disconnected{0})
	h.event(Connected{0})
	for i := range 5 {
		h.event(Shared{i, 0, 0})
	}
	n := 0
	for len(h.pending) > 0 {
		if d, ok := h.pending[0].(SetDeadline); ok && d.Phase == PhaseProofs {
			n++
		}
		h.one()
	}
	if n != 1 || len(h.dropped) != 0 || !slices.Equal(h.state.WaitingFor(), []int{1}) {
		t.Fatalf("%d deadlines, dropped %v, waiting for %v", n, h.dropped, h.state.WaitingFor())
	}
	h.event(Proved{1, 0, 0})
	h.run()
	if len(h.dropped) != 0 || !slices.Equal(h.state.WaitingFor(), []int{1}) { // of the next dealer
		t.Fatalf("dropped %v, waiting for %v", h.dropped, h.state.WaitingFor())
	}
	h.expire(PhaseProofs)
	h.want(StatusCompleted)
}

// TestLateProofIsNotWanted: what comes of another dealer, or from whom nobody asks, is no proof.
func TestLateProofIsNotWanted(t *testing.T) {
	h := troubled(t, missingProofs(2, 2))
	h.mute["prove 0"], h.mute["prove 1"] = true, true
	h.run()
	s := h.state
	if !s.WantsProof(0, 2) || s.WantsProof(0, 3) || s.WantsProof(2, 2) || s.WantsKeys(0) {
		t.Error("wants another site's, or another dealer's")
	}
}

// TestKeysAreAskedFor: of the survivors that the opening names, behind what asks for their shares,
// again on a new link; then the sum is opened.
func TestKeysAreAskedFor(t *testing.T) {
	h := troubled(t, missingKeys([]int{4}, 1, 3))
	h.mute["keys 3"] = true
	h.run()
	if h.count("keys", 1) != 1 || h.count("keys", 3) != 1 || h.count("keys", 0) != 0 || !slices.Equal(h.state.WaitingFor(), []int{3}) {
		t.Fatalf("asked %q, waiting for %v", h.asked, h.state.WaitingFor())
	}
	h.expire(PhaseOpen) // by itself no reason to end
	if h.state.Status != StatusRunning || h.opened["0"] != 0 {
		t.Fatal("not waited for")
	}
	h.event(Disconnected{3})
	h.mute["keys 3"] = false
	h.event(Connected{3})
	h.run()
	h.want(StatusCompleted)
}

// TestConvictedDropperEndsTheStudy: R2. A survivor that is away holds up an opening for good only
// where nobody is at fault.
func TestConvictedDropperEndsTheStudy(t *testing.T) {
	for _, convicted := range [][]int{{4}, nil} {
		h := troubled(t, missingKeys(convicted, 1))
		h.mute["keys 1"] = true
		h.run()
		h.expire(PhaseKeys)
		if convicted == nil {
			if h.state.Status != StatusRunning || !slices.Equal(h.state.WaitingFor(), []int{1}) {
				t.Fatalf("%s: %s", h.state.Status, h.state.Code)
			}
			continue
		}
		h.want(StatusEnded)
		if h.state.Code != study.CodeWrongDeposit || h.state.Culprit != 4 {
			t.Errorf("%s of site %d", h.state.Code, h.state.Culprit)
		}
	}
}

// TestKeysHaveADeadline: of their own, from when they are asked for.
func TestKeysHaveADeadline(t *testing.T) {
	h := troubled(t, missingKeys(nil, 1))
	h.mute["keys 1"] = true
	n := 0
	for len(h.pending) > 0 {
		if d, ok := h.pending[0].(SetDeadline); ok && d.Phase == PhaseKeys {
			n++
		}
		h.one()
	}
	if n != 1 {
		t.Errorf("%d deadlines", n)
	}
}

// TestTagsAreWaitedFor: R17. An opening that lacks an owner's tags goes on when the owner has sent
// them; if a site is convicted, not longer than to the deadline.
func TestTagsAreWaitedFor(t *testing.T) {
	lost := func(convicted ...int) func(Open) Event {
		return func(e Open) Event {
			return TagsMissing{Query: e.Ask.Query, Slot: e.Ask.Slot, Owners: []int{4}, Convicted: convicted}
		}
	}
	h := troubled(t, lost())
	h.run()
	h.expire(PhaseKeys)
	if !slices.Equal(h.state.WaitingFor(), []int{4}) || h.opened["0"] != 0 {
		t.Fatalf("waiting for %v", h.state.WaitingFor())
	}
	h.event(Recalled{4})
	h.run()
	h.want(StatusCompleted)
	h = troubled(t, lost(4))
	h.run()
	h.expire(PhaseKeys)
	if h.want(StatusEnded); h.state.Code != study.CodeWrongDeposit || h.state.Culprit != 4 {
		t.Errorf("%s of site %d", h.state.Code, h.state.Culprit)
	}
}

// TestBadDealerEndsTheStudy: what an opening finds out of a dealer ends the study with its name.
func TestBadDealerEndsTheStudy(t *testing.T) {
	h := troubled(t, func(e Open) Event {
		return OpenFailed{Query: e.Ask.Query, Slot: e.Ask.Slot, Code: study.CodeBadDealer, Culprit: study.SeatOf(3)}
	})
	h.run()
	h.want(StatusEnded)
	if h.state.Code != study.CodeBadDealer || h.state.Culprit != 3 {
		t.Errorf("%s of site %d", h.state.Code, h.state.Culprit)
	}
}

// TestLogHoldsTags: R17. The log has what a leader needs when a site drops out: on the sparse graph
// hashes, and nothing if every sum is over all sites.
func TestLogHoldsTags(t *testing.T) {
	for name, c := range map[string]struct {
		sites         int
		change        func(*proposal.Spec)
		whole, hashes bool
	}{
		"complete": {sites: 5},
		"wait":     {sites: 5, change: func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait }, whole: true},
		"sparse":   {sites: 66, change: sparse, hashes: true},
	} {
		h := newHarness(t, c.sites, c.change)
		for h.state.Status != StatusRunning && h.one() {
		}
		n := func(is bool) int {
			if is && !c.whole {
				return c.sites
			}
			return 0
		}
		d := h.state.Durable
		if len(d.Tags) != n(!c.hashes) || len(d.Deposits) != n(!c.hashes) || len(d.TagHashes) != n(c.hashes) || len(d.DepositHashes) != n(c.hashes) {
			t.Fatalf("%s: %d tags, %d deposits, %d and %d hashes", name, len(d.Tags), len(d.Deposits), len(d.TagHashes), len(d.DepositHashes))
		}
		for i := range n(true) {
			tags, deposits := d.Tags, d.Deposits
			if c.hashes {
				tags, deposits = d.TagHashes, d.DepositHashes
			}
			if string(tags[i]) != fmt.Sprintf("tags of %d", i) || string(deposits[i]) != fmt.Sprintf("deposits of %d", i) {
				t.Fatalf("%s: site %d: %q, %q", name, i, tags[i], deposits[i])
			}
		}
	}
}

func sparse(s *proposal.Spec) {
	s.Rounds, s.Corrupt, s.Dropout, s.SpareSlots = 1, 3, 0.05, 1
}

// TestRecall: R17. A leader that began after the setup asks each site with a link for its tags and
// deposits, once a link and before all else, and goes on at the deadline without a site's; one that
// led the setup asks nobody.
func TestRecall(t *testing.T) {
	h := newHarness(t, 66, sparse)
	h.mute["upload"] = true
	h.run()
	if h.count("recall", 0) != 0 {
		t.Fatal("a leader that led the setup asks")
	}
	h.mute["upload"], h.mute["recall 7"], h.mute["recall 9"] = false, true, true
	h.asked = nil
	h.crash()
	h.run()
	if h.state.Survivors != nil || h.count("recall", 0) != 1 || h.count("recall", 7) != 1 || h.count("upload", 0) != 1 || h.count("upload", 7) != 0 {
		t.Fatalf("U of %d sites, asked %q", len(h.state.Survivors), h.asked)
	}
	h.mute["recall 7"] = false
	h.event(Disconnected{7})
	h.event(Connected{7})
	h.run()
	if h.count("recall", 7) != 2 || h.count("upload", 7) != 1 || h.state.Survivors != nil {
		t.Fatal("not asked on a new link, or U was committed")
	}
	h.expire(PhaseUpload)
	if u := h.last(EntrySurvivors, 0, 0); u == nil || len(u.Survivors) != 65 || slices.Contains(u.Survivors, 9) {
		t.Fatalf("%+v", u)
	}
	h.event(Recalled{9})
	h.run()
	for h.state.Status == StatusRunning {
		h.expire(PhaseUpload)
	}
	h.want(StatusCompleted)

	h = newHarness(t, 66, sparse) // all answer: nothing is waited for
	for h.state.Status != StatusRunning && h.one() {
	}
	h.crash()
	h.run()
	h.want(StatusCompleted)
	if h.count("recall", 3) != 1 {
		t.Errorf("asked %d times", h.count("recall", 3))
	}
	// Where every site is waited for there is nothing to ask for.
	h = newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
	for h.state.Status != StatusRunning && h.one() {
	}
	h.crash()
	h.run()
	if h.want(StatusCompleted); h.count("recall", 0) != 0 {
		t.Error("a site is asked for tags that nobody needs")
	}
}

package coordinator

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// newSparse is a federation of more sites than the complete graph has.
func newSparse(t *testing.T) *federation {
	return newFederation(t, proposal.MaxComplete+2, func(s *proposal.Spec) {
		s.Rounds, s.Radius, s.Corrupt, s.Dropout, s.SpareSlots = 1, "4", 3, 0.05, 1
	})
}

// TestSparseAnnouncementAgain: an announcement that comes again changes nothing, whenever it comes:
// before all are there, when the graph is drawn and not yet on record, while the study runs and
// after it.
func TestSparseAnnouncementAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("the other one of the sparse graph is enough with the race detector")
	}
	synctest.Test(t, func(t *testing.T) {
		f := newSparse(t)
		defer func() { f.c.Close() }() // the one of then
		again := func() {
			s := f.sites[7]
			if s.secrets == nil {
				return
			}
			digest := f.plan.Digest
			ask := &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: digest[:]}}}
			for _, answer := range s.handle(f, ask) {
				if err := f.c.hears(s.link, answer); err != nil {
					t.Fatal(err)
				}
			}
		}
		seen := map[string]bool{}
		for _, s := range f.sites {
			before := s.corrupt
			s.corrupt = func(m *covey.SiteMessage) {
				if before != nil {
					before(m)
				}
				switch {
				case s.index != 20:
				case m.GetNonce() != nil:
					seen["nonce"] = true
					again()
				case m.GetConfirmation() != nil: // the graph is drawn, nothing is on record
					seen["confirmation"] = true
					again()
				case m.GetUpload() != nil:
					seen["upload"] = true
					again()
				}
			}
		}
		v := f.finish()
		again()
		if v.Status != round.StatusCompleted || len(seen) != 3 {
			t.Fatalf("%s %s after %v\n%s", v.Status, v.Code, seen, f.logs.String())
		}
		if len(v.Faults) != 0 {
			t.Errorf("faults: %v", v.Faults)
		}
	})
}

// TestSparseWrongShare: a leader that began after the setup has no dealer's body. A wrong share is
// found with the body of its dealer, which is away when it is needed and comes back later; the liar
// is named, and the sum opened without it.
func TestSparseWrongShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newSparse(t)
		defer func() { f.c.Close() }() // the one of then
		dealer, liar := -1, -1
		for _, s := range f.sites {
			s.corrupt = func(m *covey.SiteMessage) {
				if o := m.GetShares(); o != nil && s.index == liar {
					held := s.setup.Graph().Held(s.index)
					at := slices.IndexFunc(held, func(h secagg.Share) bool { return h.Dealer == dealer })
					share := o.GetShares()
					share[len(share)-32*(len(held)-at)] ^= 1 // its low byte: still a scalar
				}
			}
		}
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		// The liar is of those whose share is used whoever else's are in; and of the dealers the
		// one whose liar comes first: the sum may be opened when half of the sites have sent their
		// shares.
		for d := len(f.sites) - 1; d > len(f.sites)/2; d-- {
			if first := slices.Min(f.sites[0].setup.Graph().Holders(d)[:f.plan.Thresholds.Threshold]); liar < 0 || first < liar {
				dealer, liar = d, first
			}
		}
		f.crash(-1)
		f.pump(func() bool { return f.state().Certificate != nil })
		f.drop(dealer)
		for range 5 {
			f.pump(nil)
		}
		if f.state().Status != round.StatusRunning {
			t.Fatalf("the study is over: %s", f.state().Status)
		}
		if w := f.state().WaitingFor(); !slices.Equal(w, []int{dealer}) {
			t.Fatalf("waiting for %v, want the dealer %d", w, dealer)
		}
		// Another announcement of the same dealer, which fits itself, is not the one on record.
		honest := f.sites[dealer].secrets
		f.sites[dealer].secrets = nil
		f.connect(dealer)
		f.pump(nil)
		if v := f.view(); len(v.Faults) != 1 || v.Faults[0].Site != f.sites[dealer].name || v.Faults[0].Code != study.CodeBadAnnouncement {
			t.Errorf("another announcement, faults: %v", v.Faults)
		}
		f.drop(dealer)
		f.sites[dealer].secrets = honest
		f.connect(dealer)
		v := f.finish()
		if v.Status != round.StatusCompleted {
			t.Fatalf("%s %s", v.Status, v.Code)
		}
		if len(v.Faults) != 2 || v.Faults[1].Site != f.sites[liar].name || v.Faults[1].Code != study.CodeBadShare {
			t.Errorf("site %d lied, faults: %v", liar, v.Faults)
		}
		if !strings.Contains(f.logs.String(), "its dealer's commitments are needed") {
			t.Error("nobody said what is waited for")
		}
	})
}

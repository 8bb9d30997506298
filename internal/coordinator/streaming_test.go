package coordinator

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/round"
	"covey/internal/secagg"
	covey "covey/proto/covey/v1"
)

// muteUploads swallows a site's uploads, which it has made and stored.
func muteUploads(m *covey.SiteMessage) bool {
	_, ok := m.GetBody().(*covey.SiteMessage_Upload)
	return ok
}

// untilIn lets the sites answer until the uploads of just these are in the open slot's sum.
func (f *federation) untilIn(sites ...int) {
	f.t.Helper()
	f.pump(nil)
	if got := f.state().Uploaded(); !slices.Equal(got, sites) {
		f.t.Fatalf("uploads of %v are in, want %v", got, sites)
	}
}

// TestLateUploadStaysOut: an upload that comes while U is on its way to the log is not in
// the sum, unless U has its site after all.
func TestLateUploadStaysOut(t *testing.T) {
	for name, committed := range map[string][]int{"outside U": {0, 1, 2, 3}, "in U": {0, 1, 2, 3, 4}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := fourOfFive(t)
				// U is proposed, and the log takes its time.
				gate := make(chan struct{})
				f.log.mu.Lock()
				f.log.gate = gate
				f.log.mu.Unlock()
				time.Sleep(2 * time.Second)
				synctest.Wait()
				f.sites[4].mute = nil
				if err := f.c.hears(f.sites[4].link, &covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{
					Study: f.plan.Digest[:], Masked: f.sites[4].uploads[0]}}}); err != nil {
					t.Fatal(err)
				}
				if got := f.state().Uploaded(); len(got) != 4 {
					t.Fatalf("the late upload counts: %v", got)
				}
				if len(committed) == 5 { // another leader's, that came first
					f.c.machine.Apply(entryLine(t, round.Entry{Study: f.plan.Digest, Kind: round.EntrySurvivors, Survivors: committed}))
				}
				close(gate)
				if v := f.finish(); v.Status != round.StatusCompleted {
					t.Fatalf("%+v", v)
				}
				first := f.releases()[0]
				if !slices.Equal(first.Survivors, committed) {
					t.Fatalf("U = %v, want %v", first.Survivors, committed)
				}
				f.wantRight(first)
			})
		})
	}
}

// TestUploadCountsOnce: a site that sends its upload again, on the same link and on another, is in
// the sum once.
func TestUploadCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fourOfFive(t)
		again := &covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{Study: f.plan.Digest[:], Masked: f.sites[1].uploads[0]}}}
		if err := f.c.hears(f.sites[1].link, again); err != nil {
			t.Fatal(err)
		}
		f.drop(2)
		f.connect(2)
		f.untilIn(0, 1, 2, 3)
		f.sites[4].mute = nil
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		for _, r := range f.releases() {
			f.wantRight(r)
		}
	})
}

// TestSumIsBegunAgain: where the committed U leaves out a site whose upload is in the sum, all
// are asked again, and what opens is U's sum.
func TestSumIsBegunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fourOfFive(t)
		f.sites[4].mute = nil
		u := []int{0, 1, 2, 4}
		f.c.machine.Apply(entryLine(t, round.Entry{Study: f.plan.Digest, Kind: round.EntrySurvivors, Survivors: u}))
		if got := f.state().Uploaded(); len(got) != 0 {
			t.Fatalf("%v are still in the sum", got)
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		first := f.releases()[0]
		if !slices.Equal(first.Survivors, u) {
			t.Fatalf("U = %v, want %v", first.Survivors, u)
		}
		f.wantRight(first)
	})
}

// TestMemoryIsOneVector: however many uploads are in, the session holds their sum alone.
func TestMemoryIsOneVector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fourOfFive(t)
		m := f.c.machine.lock()
		defer f.c.machine.unlock()
		s := m.sessions[f.plan.Digest]
		sum, late := inside[[]uint64](s, "sum"), inside[map[int][]byte](s, "late")
		if len(sum) != f.plan.Queries[0].Lanes || len(late) != 0 || inside[*secagg.Opening](s, "opening") != nil {
			t.Fatalf("a sum of %d lanes and %d uploads kept", len(sum), len(late))
		}
	})
}

func entryLine(t *testing.T, e round.Entry) []byte {
	t.Helper()
	line, err := json.Marshal(entry{Round: &e})
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// TestResultsLeaveOnTheTick: a release is committed one tick, its query's own, after its shares are
// in, however the clock stands then.
func TestResultsLeaveOnTheTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		time.Sleep(37 * time.Millisecond)
		f.pump(nil) // time stands still: the bubble waits for the tick alone
		if got := len(f.releases()); got != 0 {
			t.Fatalf("%d releases before a tick", got)
		}
		ask, err := f.c.machine.state.studies[f.plan.Digest].Ask()
		if err != nil {
			t.Fatal(err)
		}
		tick := f.plan.Tick(ask)
		time.Sleep(tick - time.Nanosecond)
		synctest.Wait()
		if got := len(f.releases()); got != 0 {
			t.Fatalf("%d releases before a tick was over", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := len(f.releases()); got != 1 {
			t.Fatalf("%d releases after a tick", got)
		}
	})
}

// fourOfFive returns a federation in which the uploads of all sites but the last are in.
func fourOfFive(t *testing.T) *federation {
	f := newFederation(t, 5, nil)
	t.Cleanup(func() { f.c.Close() })
	f.sites[4].mute = muteUploads
	f.untilIn(0, 1, 2, 3)
	return f
}

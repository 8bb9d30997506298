package coordinator

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestLateAfterAFailover: a leader that begins after the survivors were committed has no deadline for uploads, and says
// all the same that the study waits past its deadline, and for whom.
func TestLateAfterAFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, func(s *study.Spec) { s.OnDropout = study.DropoutWait }) // deadline: 2 s
		defer func() { f.c.Close() }()
		f.sites[4].mute = func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }
		f.pump(nil)
		if v := f.view(); v.Phase != "sign" {
			t.Fatalf("phase %q", v.Phase)
		}
		f.crash(-1)
		f.pump(nil)
		if v := f.view(); v.Overdue {
			t.Error("overdue before the deadline")
		}
		time.Sleep(3 * time.Second)
		f.pump(nil)
		o := f.c.Overview(0)
		if v := o.Studies[0]; !v.Overdue || !slices.Contains(v.Waiting, "site-4") || !o.Sites[4].Late || time.Now().Before(v.Deadline) {
			t.Errorf("overdue %v, waiting for %q until %v; late: %v", v.Overdue, v.Waiting, v.Deadline, o.Sites[4].Late)
		}
		f.sites[4].mute = nil
		f.connect(4)
		if v := f.finish(); v.Status != round.StatusCompleted || v.Overdue {
			t.Errorf("%s (%s), overdue %v", v.Status, v.Code, v.Overdue)
		}
	})
}

// TestViewsReadReleasesOnce: hundreds of studies that are over are in every look of every page: what a look costs does
// not depend on what they released.
func TestViewsReadReleasesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer f.c.Close()
		if v := f.finish(); v.Status != round.StatusCompleted || v.Round != 2 {
			t.Fatalf("%s after %d rounds", v.Status, v.Round)
		}
		state := f.state()
		look := func() float64 {
			return testing.AllocsPerRun(20, func() {
				f.c.machine.mu.Lock()
				defer f.c.machine.mu.Unlock()
				f.c.view(f.plan.Digest, state)
			})
		}
		before := look()
		for range 4 {
			state.Releases = append(state.Releases, state.Releases...)
		}
		if after := look(); after > before+1 {
			t.Errorf("a look allocates %v times, and with 16 times the releases %v", before, after)
		}
	})
}

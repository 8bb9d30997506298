package coordinator

import (
	"bytes"
	"encoding/json"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/stream"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestLateAfterAFailover: a leader that begins with committed survivors has no deadline for
// uploads, and says all the same that the study waits past its deadline, and for whom.
func TestLateAfterAFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// deadline: 2 s
		f := newFederation(t, 5, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
		defer func() { f.c.Close() }()
		f.sites[4].mute = func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }
		f.pump(nil)
		if v := f.view(); v.Phase != "upload" {
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

// TestViewsReadReleasesOnce: hundreds of studies that are over are in every look of every page:
// what a look costs does not depend on what they released.
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
				m := f.c.machine.lock()
				defer f.c.machine.unlock()
				m.view(outline.Study{Digest: f.plan.Digest, State: state})
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

// TestDeadlinesEndWithTheirSlot: of a study that is over, or that another leads, nothing waits for
// a deadline of weeks.
func TestDeadlinesEndWithTheirSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, func(s *proposal.Spec) { s.Deadlines.Round = proposal.Duration(30 * 24 * time.Hour) })
		defer func() { f.c.Close() }()
		under := func(what string, most int) {
			t.Helper()
			synctest.Wait()
			var stacks bytes.Buffer
			if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(stacks.String(), "(*Coordinator).after.func"); n > most {
				t.Errorf("%d goroutines wait %s", n, what)
			}
		}
		f.pump(func() bool { return f.view().Query == 3 })
		under("while a study runs", 3) // two deadlines and a tick
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%s (%s)", v.Status, v.Code)
		}
		under("when it is over", 0)
		spec := f.plan.Proposal.Spec
		var err error
		if f.plan, err = f.c.Create(spec); err != nil {
			t.Fatal(err)
		}
		for _, s := range f.sites {
			*s = fakeSite{index: s.index, name: s.name, identity: s.identity, link: s.link, vector: s.vector,
				uploads: map[int][]byte{}, signed: map[int]*covey.Refusal{}, finals: map[int]*covey.Final{}}
		}
		f.pump(func() bool { return f.view().Phase == "sign" })
		f.c.Follow()
		under("when another leads", 0)
	})
}

// TestAbortWhileASumIsOpened: for the race detector: who opens a sum reads nothing that the study's
// end writes.
func TestAbortWhileASumIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		shares := 0
		for _, s := range f.sites {
			s.mute = func(m *covey.SiteMessage) bool {
				if m.GetShares() == nil {
					return false
				}
				if shares++; shares == f.plan.Thresholds.Quorum {
					if err := f.c.hears(s.link, m); err != nil {
						t.Error(err)
					}
					if err := f.c.Abort(f.plan.Digest); err != nil {
						t.Error(err)
					}
					return true
				}
				return false
			}
		}
		if v := f.finish(); v.Code != study.CodeAborted || shares < f.plan.Thresholds.Quorum {
			t.Errorf("%s (%s) after %d sites' shares", v.Status, v.Code, shares)
		}
		time.Sleep(time.Minute)
		for _, line := range f.log.all() {
			if bytes.Contains(line, []byte(`"kind":"released"`)) {
				t.Error("a release was put into the log of a study that was over")
			}
		}
	})
}

// TestQueueHoldsTheOpenSlot: for a site whose link lives and takes nothing there waits what it
// would be asked on a new link, and not every query that went on without it.
func TestQueueHoldsTheOpenSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, func(s *proposal.Spec) { s.Rounds = 12 })
		defer func() { f.c.Close() }()
		f.pump(func() bool { return f.view().Query == 1 })
		stuck := f.sites[4]
		stuck.down = true // takes nothing; its link is there
		if v := f.finish(); v.Status != round.StatusCompleted || v.Released < 12 {
			t.Fatalf("%s (%s) after %d queries", v.Status, v.Code, v.Released)
		}
		queue := stuck.link.Take()
		for _, o := range queue { // and back
			if o.Encode != nil {
				stuck.link.SendLater(o.Encode)
			} else {
				stuck.link.Send(o.Raw, stream.About{})
			}
		}
		if n := len(queue); n > 7 { // confirmations, two finals, the chain, the open slot's two or three, the end
			t.Errorf("%d messages wait", n)
		}
		stuck.down = false
		f.sent = nil
		f.pump(nil)
		finals := 0
		for _, m := range f.sent {
			if m.m.GetFinal() != nil {
				finals++
			}
		}
		if last := f.sent[len(f.sent)-1].m; last.GetEnded() == nil || finals != 1 || stuck.finals[len(f.plan.Queries)-1] == nil {
			t.Errorf("told %d finals, and at the end %T", finals, last.GetBody())
		}
	})
}

// TestSnapshotHoldsNobodyUp: a snapshot of hundreds of studies takes long to encode. Entries and
// sites' messages go on meanwhile, a whole study here, and what is written is the state before
// them.
func TestSnapshotHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		m, times := f.c.machine, 0
		f.sites[2].mute = func(*covey.SiteMessage) bool { return true } // two of three have decided
		f.pump(nil)
		f.sites[2].mute = nil
		f.drop(2)
		f.connect(2)
		want, err := encoded(m)
		if err != nil {
			t.Fatal(err)
		}
		write, err := m.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		m.marshal = func(v any) ([]byte, error) {
			times++
			key := proposal.Key(bytes.Repeat([]byte{1}, 32))
			f.apply(entry{Tell: &tellEntry{"rows", map[string]int{"site-0": 5}}})
			f.apply(entry{Invite: &membership.InviteEntry{Token: "late", Invite: membership.Invite{Analyst: "late", Expires: time.Now().Add(time.Hour)}}})
			f.apply(entry{Join: &membership.JoinEntry{Token: "late", Name: "late", Key: key}})
			f.apply(entry{Revoke: &membership.ClientEntry{Role: pki.RoleAnalyst, Name: "late"}})
			f.apply(entry{Node: &membership.Node{ID: "2", Addresses: []string{"a:1"}}})
			if v := f.finish(); v.Status != round.StatusCompleted {
				t.Errorf("%+v", v)
			}
			return json.Marshal(v)
		}
		var got bytes.Buffer
		if err := write(&got); err != nil || times != 1 {
			t.Errorf("encoded %d times: %v", times, err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Error("entries that came while a snapshot was encoded are in it")
		}
	})
}

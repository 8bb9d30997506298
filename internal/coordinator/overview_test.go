package coordinator

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/chain"
	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestStoryIsOfOneMoment: a story that is asked for while a release is applied has the rounds that
// its view counts.
func TestStoryIsOfOneMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		beside := func() bool { // the race detector has the rest
			go func() {
				if s, ok := f.c.Story(f.plan.Digest); !ok || len(s.Rounds) != s.Released {
					t.Errorf("%d rounds of %d", len(s.Rounds), s.Released)
				}
			}()
			return false
		}
		for over := false; !over; over = f.view().Status == round.StatusCompleted {
			f.pump(beside)
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// TestOverview: what is shown of a study that one site never uploads to, and what another
// coordinator shows of it from the log alone.
func TestOverview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer f.c.Close()
		f.sites[4].mute = func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }
		f.sites[3].link.software = "covey-agent/1\n<b>"
		f.c.linked(f.sites[3].link, f.sites[3].link.units, chain.Head{})
		f.pump(func() bool { return f.view().Phase == "upload" && len(f.view().Waiting) == 1 })
		if o := f.c.Overview(10); !o.Leading || o.Sites[4].Late || !o.Sites[4].Connected || o.Studies[0].Overdue {
			t.Errorf("%+v", o.Sites)
		}
		v := f.finish()
		if v.Status != round.StatusCompleted || v.Survivors != 4 || v.NoiseToSignal == nil {
			t.Fatalf("%+v", v)
		}
		o := f.c.Overview(1000)
		if v.Proposed.IsZero() || !v.Ended.After(v.Proposed) {
			t.Errorf("proposed %v, ended %v", v.Proposed, v.Ended)
		}
		if s := o.Sites[3]; s.Software != "covey-agent/1b" || s.At.IsZero() || len(s.Fingerprint) < 20 {
			t.Errorf("%+v", s)
		}
		story, ok := f.c.Story(f.plan.Digest)
		if !ok || len(story.Rounds) != len(f.plan.Queries) {
			t.Fatalf("%d rounds", len(story.Rounds))
		}
		last := time.Time{}
		for i, r := range story.Rounds {
			if r.Query != i || !slices.Equal(r.Survivors, []int{0, 1, 2, 3}) || !r.At.After(last) || r.Retried != 0 {
				t.Errorf("round %d: %+v", i, r)
			}
			if power := r.Kind == study.KindPower; power != (r.NoiseToSignal >= 0) || (power && r.Round > 0) != (r.Turn >= 0) {
				t.Errorf("round %d: %+v", i, r)
			}
			last = r.At
		}
		for i, site := range story.Sites {
			if !site.Signed || site.Verdict != study.VerdictApproved {
				t.Errorf("site %d: %+v", i, site)
			}
		}
		for kind, want := range map[string]int{"joined": 5, "proposed": 1, "decided": 5, "prepared": 1, "released": len(f.plan.Queries), "completed": 1, "connected": 5} {
			if got := count(o.Happenings, kind); got != want {
				t.Errorf("%d of %q happened, want %d", got, kind, want)
			}
		}
		if len(f.c.Overview(3).Happenings) != 3 || f.c.Overview(3).Happenings[0] != o.Happenings[0] {
			t.Error("the newest are not the first")
		}

		// Another coordinator has the same from the log, and from a snapshot of it.
		raw, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		replayed, read := NewMachine(), NewMachine()
		for _, line := range f.log.all() {
			replayed.Apply(line)
		}
		if err := restored(read, raw); err != nil {
			t.Fatal(err)
		}
		own := slices.DeleteFunc(o.Happenings, func(h outline.Happening) bool {
			return h.Kind == outline.HappenedConnected || h.Kind == outline.HappenedLeads
		})
		for name, m := range map[string]*Machine{"replayed": replayed, "restored": read} {
			other := New(Options{Authority: f.auth, Machine: m, Logger: f.c.log})
			defer other.Close()
			o2 := other.Overview(1000)
			if now := o2.Studies[0]; !now.Proposed.Equal(v.Proposed) || !now.Ended.Equal(v.Ended) {
				t.Errorf("%s: proposed %v, ended %v", name, now.Proposed, now.Ended)
			}
			if o2.Leading || o2.Studies[0].Status != round.StatusCompleted || o2.Studies[0].Released != len(f.plan.Queries) || len(o2.Sites) != 5 {
				t.Errorf("%s: %+v", name, o2)
			}
			if !reflect.DeepEqual(o2.Happenings, own) {
				t.Errorf("%s: another journal", name)
			}
			if s2, _ := other.Story(f.plan.Digest); !reflect.DeepEqual(s2.Rounds, story.Rounds) {
				t.Errorf("%s: other rounds", name)
			}
		}
	})
}

// TestLate: sites are late once the deadline has passed that a study waits for them.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil) // of 5 sites 4 are needed
		defer f.c.Close()
		silent := true
		for _, s := range f.sites[:2] {
			s.mute = func(m *covey.SiteMessage) bool { return silent && m.GetUpload() != nil }
		}
		f.pump(nil)
		if o := f.c.Overview(10); o.Studies[0].Overdue || o.Sites[0].Late {
			t.Errorf("late before the deadline: %+v", o.Studies[0])
		}
		time.Sleep(3 * time.Second) // the deadline is 2 s
		f.pump(nil)
		o := f.c.Overview(10)
		if v := o.Studies[0]; !v.Overdue || v.Phase != "upload" || !slices.Equal(v.Waiting, []string{"site-0", "site-1"}) {
			t.Errorf("%+v", v)
		}
		for i, s := range o.Sites {
			if s.Late != (i < 2) {
				t.Errorf("%s late: %v", s.Name, s.Late)
			}
		}
		silent = false
		f.connect(0) // asked again
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		if o := f.c.Overview(10); o.Sites[0].Late || o.Studies[0].Overdue {
			t.Error("late after the end")
		}
	})
}

// TestShownHoldsNothingUnNoised: no site's vector, nor their exact sum, is in what pages and
// metrics are made of. Each would be found as a number of its own: the sites' are distinctive.
// (Digits inside another number, such as a float's seventeen, are chance; that a draw is 0, and a
// released value so the exact one, is below 10^-5 each.)
func TestShownHoldsNothingUnNoised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer f.c.Close()
		for _, s := range f.sites {
			s.vector = func(a study.Ask) []int64 {
				v := s.sum(a)
				for i := range v {
					v[i] = 7_310_057 + int64(1009*s.index+31*a.Query+i)
				}
				return v
			}
		}
		shown := ""
		look := func() {
			story, _ := f.c.Story(f.plan.Digest)
			raw, err := json.Marshal([]any{f.c.Overview(1000), story.View, story.Rounds, story.X})
			if err != nil {
				t.Fatal(err)
			}
			shown += string(raw)
		}
		seen := ""
		f.pump(func() bool {
			if v := f.view(); fmt.Sprint(v.Query, v.Phase) != seen {
				seen = fmt.Sprint(v.Query, v.Phase)
				look()
			}
			return f.view().Query == 2
		})
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		look()
		numbers := map[string]bool{}
		for _, n := range strings.FieldsFunc(shown, func(c rune) bool { return !strings.ContainsRune("0123456789.", c) }) {
			numbers[n] = true
		}
		for _, r := range f.releases() {
			for j, exact := range f.exact(r) {
				for _, n := range []int64{exact, f.sites[0].vector(study.Ask{Query: r.Query, Kind: r.Kind})[j]} {
					if numbers[fmt.Sprint(n)] {
						t.Fatalf("query %d: an un-noised number is shown", r.Query)
					}
				}
			}
		}
	})
}

func count(all []outline.Happening, kind string) int {
	n := 0
	for _, h := range all {
		if h.Kind == kind {
			n++
		}
	}
	return n
}

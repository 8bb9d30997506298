package coordinator

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/membership"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// exact is the sum of the survivors' vectors, which no release may equal.
func (f *federation) exact(r study.Release) []int64 {
	sum := make([]int64, len(r.Noised))
	for _, i := range r.Survivors {
		for j, v := range f.sites[i].vector(study.Ask{Query: r.Query, Kind: r.Kind}) {
			sum[j] += v
		}
	}
	return sum
}

func (f *federation) releases() []study.Release {
	f.t.Helper()
	var out []study.Release
	for _, raw := range f.state().Releases {
		r, err := study.ParseRelease(raw.Encoded)
		if err != nil {
			f.t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestOpenedSumIsThePlainSum: what is released, less its noise, is the sum of the
// survivors' vectors to the last bit. The noise is had again from its key.
func TestOpenedSumIsThePlainSum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer f.c.Close()
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		releases := f.releases()
		if len(releases) != len(f.plan.Queries) {
			t.Fatalf("%d releases", len(releases))
		}
		for _, r := range releases {
			f.wantRight(r)
		}
	})
}

// wantRight checks that a release, less the noise that its survivors' lanes key, is the sum of
// their vectors.
func (f *federation) wantRight(r study.Release) {
	f.t.Helper()
	lanes := make([]uint64, secagg.NoiseLaneCount(f.plan.Bits))
	ctx := f.plan.Context(f.sites[0].setup.Transcript(), r.Ask())
	for _, i := range r.Survivors {
		secagg.SumInto(lanes, secagg.NoiseLanes(f.sites[i].secrets.Slots[r.Slot], ctx, f.plan.Bits), f.plan.Bits)
	}
	draws := make([]int64, len(r.Noised))
	key := noise.Key(lanes, f.plan.Bits, ctx, secagg.Survivors(r.Survivors).Hash())
	if err := r.Sigma.Draw(noise.NewKeyed(key), draws); err != nil {
		f.t.Fatal(err)
	}
	for j, v := range f.exact(r) {
		if r.Noised[j]-draws[j] != v {
			f.t.Fatalf("query %d value %d: the released value less its noise is not the plain sum", r.Query, j)
		}
	}
}

// TestSameSumSameNoise: R10. A coordinator that loses everything after U was
// committed, and one restored from a backup before the release, give the very same release.
func TestSameSumSameNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.pump(func() bool { return f.state().Survivors != nil })
		before := len(f.log.all())
		f.pump(nil)
		time.Sleep(time.Second)
		f.pump(func() bool { return f.state().Query == 1 })
		first := f.releases()[0]
		// No site has heard of it: the release was committed and then lost.
		for _, s := range f.sites {
			clear(s.finals)
		}
		f.crash(before)
		f.pump(nil)
		time.Sleep(time.Second)
		f.pump(func() bool { return f.state().Query == 1 })
		again := f.releases()[0]
		if !slices.Equal(first.Noised, again.Noised) || !slices.Equal(first.Survivors, again.Survivors) {
			t.Fatal("one sum was released twice with different noise")
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
	})
}

// TestRestoredBackupAdopts: R7. A coordinator restored from before the setup's queries
// adopts the signed results that sites hold, and the survivors that they signed.
func TestRestoredBackupAdopts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		backup := len(f.log.all())
		for f.state().Query < 2 {
			f.pump(func() bool { return f.state().Query >= 2 })
			time.Sleep(100 * time.Millisecond)
		}
		first := f.releases()
		f.crash(backup)
		if f.state().Query != 0 {
			t.Fatal("the backup is not older")
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		for i, r := range f.releases()[:len(first)] {
			if !slices.Equal(r.Noised, first[i].Noised) {
				t.Fatalf("query %d has two releases", i)
			}
		}
	})
}

// TestO2LogHoldsNothingUnNoised: R9. The log, a snapshot and every log line are searched for
// the exact sums, for each site's own vector and for masked uploads.
func TestO2LogHoldsNothingUnNoised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer f.c.Close()
		// Values that cannot appear by chance.
		for _, s := range f.sites {
			s.vector = func(a study.Ask) []int64 {
				v := s.sum(a)
				for i := range v {
					if a.Kind == study.KindPower {
						v[i] = 7_000_000_000 + int64(s.index)*111_111_111 + int64(a.Query*1000+i)
					}
				}
				return v
			}
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		snapshot, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		text := string(snapshot) + f.logs.String()
		for _, line := range f.log.all() {
			text += string(line)
			// Releases travel as bytes: base64 in the log, read here.
			var e entry
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			if e.Round != nil && e.Round.Released != nil {
				text += string(e.Round.Released.Encoded)
			}
		}
		for _, r := range f.releases() {
			if r.Kind != study.KindPower {
				continue
			}
			for _, v := range f.exact(r) {
				if strings.Contains(text, fmt.Sprint(v)) {
					t.Fatalf("query %d: an exact sum is in the log, a snapshot or a log line", r.Query)
				}
			}
			for _, s := range f.sites {
				if v := s.vector(study.Ask{Query: r.Query, Kind: r.Kind}); strings.Contains(text, fmt.Sprint(v[0])) {
					t.Fatalf("query %d: a site's own value leaked", r.Query)
				}
				raw, _ := json.Marshal(s.uploads[r.Slot])
				if strings.Contains(text, strings.Trim(string(raw), `"`)) {
					t.Fatalf("query %d: a masked upload is in the log or a snapshot", r.Query)
				}
			}
		}
	})
}

// TestO3NothingBeforeCommit: R8, R1. When a site is told a release, asked for a
// signature or for shares, the log already holds what that rests on.
func TestO3NothingBeforeCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer f.c.Close()
		seen := 0
		committed := map[string]bool{}
		look := func() {
			for _, line := range f.log.all()[seen:] {
				seen++
				var e entry
				if err := json.Unmarshal(line, &e); err != nil {
					t.Fatal(err)
				}
				if e.Round != nil {
					committed[fmt.Sprint(e.Round.Kind, e.Round.Query, e.Round.Slot)] = true
				}
			}
		}
		checked := 0
		for range 200 {
			from := len(f.sent)
			f.pump(nil)
			look()
			for _, s := range f.sent[from:] {
				var need string
				switch b := s.m.GetBody().(type) {
				case *covey.CoordinatorMessage_Release:
					need = fmt.Sprint(round.EntrySurvivors, b.Release.GetQuery(), b.Release.GetSlot())
				case *covey.CoordinatorMessage_Open:
					need = fmt.Sprint(round.EntryOpening, b.Open.GetQuery(), b.Open.GetSlot())
				case *covey.CoordinatorMessage_Final:
					need = fmt.Sprint(round.EntryReleased, b.Final.GetQuery(), b.Final.GetSlot())
				default:
					continue
				}
				checked++
				if !committed[need] {
					t.Fatalf("a site was sent what rests on %q, which is not committed", need)
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
		if f.view().Status != round.StatusCompleted || checked < 3*len(f.plan.Queries) {
			t.Fatalf("%s after %d checks", f.view().Status, checked)
		}
	})
}

// TestO1ApplySamplesNothing: R10. Two machines that apply the same log are equal to the
// byte, whatever their clocks and randomness.
func TestO1ApplySamplesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer f.c.Close()
		f.finish()
		want, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			time.Sleep(time.Hour)
			m := NewMachine()
			for _, line := range f.log.all() {
				m.Apply(line)
			}
			got, err := encoded(m)
			if err != nil || string(got) != string(want) {
				t.Fatalf("a replayed log gives another state (%v)", err)
			}
			second := NewMachine()
			if err := restored(second, got); err != nil {
				t.Fatal(err)
			}
			if again, _ := encoded(second); string(again) != string(want) {
				t.Fatal("a restored snapshot gives another state")
			}
		}
	})
}

// TestFaultsAreNamed: R13. Bad shares, a bad signature and an upload of the wrong
// length change nothing, are named, and the study goes on without them.
func TestFaultsAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer f.c.Close()
		f.sites[3].corrupt = func(m *covey.SiteMessage) {
			switch b := m.GetBody().(type) {
			case *covey.SiteMessage_Shares:
				b.Shares.Shares[len(b.Shares.Shares)-40]++
			case *covey.SiteMessage_ReleaseSignature:
				b.ReleaseSignature.Signature[5]++
			}
		}
		v := f.finish()
		if v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		codes := map[study.Code]int{}
		for _, fault := range v.Faults {
			if fault.Site != "site-3" {
				t.Fatalf("site %s is named", fault.Site)
			}
			codes[fault.Code]++
		}
		if codes[study.CodeBadShare] == 0 || codes[study.CodeBadCertificate] == 0 {
			t.Fatalf("faults: %v", codes)
		}
	})
}

func TestShortUploadIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer f.c.Close()
		f.sites[1].corrupt = func(m *covey.SiteMessage) {
			if b, ok := m.GetBody().(*covey.SiteMessage_Upload); ok {
				b.Upload.Masked = b.Upload.Masked[1:]
			}
		}
		v := f.finish()
		if v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		for _, r := range f.releases() {
			if slices.Contains(r.Survivors, 1) {
				t.Fatalf("query %d counts a site whose upload was malformed", r.Query)
			}
		}
	})
}

// TestDropAndReturn: a site that goes before uploading, one that goes after, and
// both back at the next query.
func TestDropAndReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 6, func(s *proposal.Spec) { s.Radius = "8.0"; s.Rounds = 4 })
		defer f.c.Close()
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		f.drop(2) // before uploading
		f.pump(func() bool { return len(f.state().Uploaded()) == 5 })
		f.drop(4) // after uploading
		for f.state().Query == 0 {
			f.pump(func() bool { return f.state().Query > 0 })
			time.Sleep(time.Second)
		}
		f.connect(2)
		f.connect(4)
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		r := f.releases()
		if !slices.Equal(r[0].Survivors, []int{0, 1, 3, 4, 5}) {
			t.Fatalf("survivors of query 0: %v", r[0].Survivors)
		}
		if len(r[1].Survivors) != 6 || r[1].Units != r[0].Units+1002 {
			t.Fatalf("survivors of query 1: %v, %d units", r[1].Survivors, r[1].Units)
		}
		for i := range r {
			if math.Abs(float64(r[i].Units)-6015) > 1003 {
				t.Fatalf("units of query %d: %d", i, r[i].Units)
			}
		}
	})
}

// TestRestartGoesOn: a restart at every length of the log ends in the same result.
func TestRestartGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, func(s *proposal.Spec) { s.Radius = "8.0"; s.Rounds = 2 })
		defer func() { f.c.Close() }()
		for range 40 {
			n := len(f.log.all())
			f.pump(func() bool { return len(f.log.all()) > n })
			if f.view().Status == round.StatusCompleted {
				break
			}
			f.crash(-1)
			time.Sleep(150 * time.Millisecond)
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%+v", v)
		}
		if _, err := f.c.Result(f.plan.Digest); err != nil {
			t.Fatal(err)
		}
	})
}

func TestJoin(t *testing.T) {
	m := NewMachine()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	apply := func(e entry) error {
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		err, _ = m.Apply(raw).(error)
		return err
	}
	invite := entry{Invite: &membership.InviteEntry{Token: "t", Invite: membership.Invite{Site: "north", Expires: now.Add(time.Hour)}}}
	key, other := proposal.Key(make([]byte, 32)), proposal.Key(append(make([]byte, 31), 1))
	join := func(token, site string, key proposal.Key, at time.Time) error {
		return apply(entry{Join: &membership.JoinEntry{Token: token, Name: site, Key: key, Now: at}})
	}
	if err := apply(invite); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		token, site string
		at          time.Time
		want        string
	}{
		"unknown": {"x", "north", now, "already used, or was never given out"},
		"other":   {"t", "south", now, `is for site "north"`},
		"expired": {"t", "north", now.Add(2 * time.Hour), "expired on 2026-11-21T01:00:00Z"},
	} {
		err := join(c.token, c.site, key, c.at)
		if _, ok := errors.AsType[*membership.JoinError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := join("t", "north", key, now); err != nil {
		t.Fatal(err)
	}
	// The reply was lost and the site asks again: the same site, the same key.
	if err := join("t", "north", key, now); err != nil {
		t.Errorf("the same join again: %v", err)
	}
	if err := join("t", "north", other, now); err == nil {
		t.Error("a join file was used twice")
	}
}

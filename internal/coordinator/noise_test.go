package coordinator

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// share is what a sum over u sites keeps of a site's noise, U_min for all of it, drawn as
// docs/privacy.md says: the first part under the key of the site's own noise, that of level l under
// that of component l.
func (f *federation) share(site int, a study.Ask, ctx [32]byte, u int) []int64 {
	f.t.Helper()
	parts, err := f.plan.Noise.Share(a.Sigma)
	if err != nil {
		f.t.Fatal(err)
	}
	own, n := f.sites[site].secrets.Slots[a.Slot], f.plan.Thresholds.Sites
	sum := make([]int64, f.plan.Queries[a.Query].Values)
	for i, p := range parts {
		key := secagg.NoiseShareKey(own, ctx)
		if i > 0 {
			key = secagg.NoiseComponentKey(secagg.NoiseChain(own, ctx, n, n), n, p.Most)
		}
		draws := make([]int64, len(sum))
		if err := p.Sigma.Draw(noise.NewKeyed(key), draws); err != nil {
			f.t.Fatal(err)
		}
		if p.Most >= u {
			for k, d := range draws {
				sum[k] += d
			}
		}
	}
	return sum
}

// stayed is the noise that a release is to hold, by site: what so many survivors need of those of
// whom the rest was taken away, all of the others'.
func (f *federation) stayed(r study.Release) map[int][]int64 {
	f.t.Helper()
	ctx := f.plan.Context(f.sites[0].setup.Transcript(), r.Ask())
	out := map[int][]int64{}
	for _, i := range r.Survivors {
		u := f.plan.Thresholds.MinSurvivors
		if slices.Contains(r.Removed, i) {
			u = len(r.Survivors)
		}
		out[i] = f.share(i, r.Ask(), ctx, u)
	}
	return out
}

// wantStayed checks that a release is the survivors' plain sum and the noise that it says stayed.
func (f *federation) wantStayed(r study.Release) {
	f.t.Helper()
	want, noised := f.exact(r), f.stayed(r)
	for _, own := range noised {
		for k, v := range own {
			want[k] += v
		}
	}
	if !slices.Equal(r.Noised, want) {
		f.t.Fatalf("query %d over %v, removed %v: not the plain sum and the noise that stays", r.Query, r.Survivors, r.Removed)
	}
	if err := f.plan.CheckRelease(r); err != nil {
		f.t.Error(err)
	}
	// Of every |U| - max(η, 1) survivors, whoever they are: the least of all sums of so many shares
	// is of the fewest parts.
	honest := len(r.Survivors) - max(1, f.plan.Thresholds.Corrupt)
	if carried := float64(honest) * r.Share.Kept(len(r.Survivors)).Variance(); carried < r.Sigma.Float()*r.Sigma.Float()*(1-1e-12) {
		f.t.Errorf("query %d: %d honest sites of %v carry %v, σ² is %v", r.Query, honest, r.Survivors, carried, math.Pow(r.Sigma.Float(), 2))
	}
}

// distributed is a federation whose sites add their own noise, and go on without each other.
func distributed(t *testing.T, sites int) *federation {
	return newFederation(t, sites, func(s *proposal.Spec) {
		s.Noise, s.Rounds, s.Deadlines.Round = proposal.NoiseDistributed, 5, proposal.Duration(time.Minute)
	})
}

// until lets time pass until a query is over.
func (f *federation) until(query int) study.Release {
	f.t.Helper()
	for range 100_000 {
		f.pump(func() bool { return f.state().Query > query || f.state().Terminal() })
		if f.state().Query > query || f.state().Terminal() {
			return f.releases()[query]
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.t.Fatalf("query %d is not over: %+v", query, f.view())
	return study.Release{}
}

// TestNoiseIsTakenAway: N21. For every number of survivors, what they do not need is taken away of
// every one's noise, exactly, and the release says so.
func TestNoiseIsTakenAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := distributed(t, 10)
		defer func() { f.c.Close() }()
		all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		for query, u := range []int{10, 9, 8, 7} {
			for i := u; i < 10; i++ {
				if !f.sites[i].down {
					f.drop(i)
				}
			}
			r := f.until(query)
			removed := all[:u]
			if u == 7 {
				removed = nil // U_min: nothing can be
			}
			if !slices.Equal(r.Survivors, all[:u]) || !slices.Equal(r.Removed, removed) {
				t.Fatalf("query %d over %v: removed %v", query, r.Survivors, r.Removed)
			}
			f.wantStayed(r)
			if want := math.Sqrt(float64(u)/float64(u-3)) * r.Sigma.Float(); math.Abs(r.Spread()/want-1) > 1e-3 {
				t.Errorf("over %d sites the noise is %v, want %v", u, r.Spread(), want)
			}
		}
	})
}

// TestLateNoiseStays: N21. Of a survivor whose shares do not come by the open deadline all noise
// stays, and of the others what is not needed goes.
func TestLateNoiseStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := distributed(t, 5)
		defer func() { f.c.Close() }()
		f.sites[3].mute = func(m *covey.SiteMessage) bool { return m.GetShares() != nil }
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		began := time.Now()
		r := f.until(0)
		if took := time.Since(began); took < time.Minute || took > 65*time.Second {
			t.Errorf("the sum was opened after %v, the deadline is %v", took, time.Minute)
		}
		if !slices.Equal(r.Removed, []int{0, 1, 2, 4}) {
			t.Fatalf("removed %v", r.Removed)
		}
		f.wantStayed(r)
		// Its shares come in the next query: all goes.
		f.sites[3].mute = nil
		r = f.until(1)
		if !slices.Equal(r.Removed, []int{0, 1, 2, 3, 4}) {
			t.Fatalf("removed %v", r.Removed)
		}
		f.wantStayed(r)
	})
}

// TestFalseNoiseKeySpoilsOnly: a survivor's false key takes away what it did not add. The sum is
// off by that, no other site's noise is less, and the release is lawful.
func TestFalseNoiseKeySpoilsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := distributed(t, 5)
		defer func() { f.c.Close() }()
		var false32 [32]byte
		f.sites[3].corrupt = func(m *covey.SiteMessage) {
			if s := m.GetShares(); s != nil {
				s.Shares = slices.Clone(s.GetShares())
				s.Shares[len(s.Shares)-1] ^= 1
				false32 = [32]byte(s.Shares[len(s.Shares)-32:])
			}
		}
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		r := f.until(0)
		if len(r.Removed) != 5 {
			t.Fatalf("removed %v", r.Removed)
		}
		if err := f.plan.CheckRelease(r); err != nil {
			t.Fatal(err)
		}
		// What the false key took away, and what stays in for want of the true one.
		ctx := f.plan.Context(f.sites[0].setup.Transcript(), r.Ask())
		taken := make([]uint64, len(r.Noised))
		if err := r.Removable().Subtract(taken, secagg.NoiseComponentKeys(false32, 5, r.Removable().Levels())); err != nil {
			t.Fatal(err)
		}
		whole := f.share(3, r.Ask(), ctx, 4)
		want, stayed := f.exact(r), f.stayed(r)
		for i, own := range stayed {
			if i == 3 {
				own = whole
			}
			for k, v := range own {
				want[k] += v
			}
		}
		for k := range want {
			want[k] += int64(taken[k])
		}
		if !slices.Equal(r.Noised, want) {
			t.Error("a false key did more than to add noise")
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Errorf("%+v", v)
		}
	})
}

// TestNoiseAfterFailover: a leader that takes over between the shares and the release takes away
// what survivors let it, which may be less than the one before could: the two differ by noise that
// both can take away. The first that is committed and told stays, byte for byte.
func TestNoiseAfterFailover(t *testing.T) {
	for _, told := range []bool{false, true} {
		t.Run(fmt.Sprint("told ", told), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := distributed(t, 5)
				defer func() { f.c.Close() }()
				f.pump(func() bool { return f.state().Status == round.StatusRunning && (told || f.state().Certificate != nil) })
				before := len(f.log.all())
				first := f.until(0)
				if told {
					f.pump(func() bool { return slices.ContainsFunc(f.sites, func(s *fakeSite) bool { return s.finals[0] != nil }) })
				}
				f.sites[3].mute = func(m *covey.SiteMessage) bool { return m.GetShares() != nil }
				if !told {
					for _, s := range f.sites {
						clear(s.finals)
					}
				}
				f.crash(before)
				if f.state().Query != 0 || !told && f.state().Certificate == nil {
					t.Fatalf("%+v", f.state().Durable)
				}
				again := f.until(0)
				f.wantStayed(first)
				f.wantStayed(again)
				if len(first.Removed) != 5 || !slices.Equal(first.Survivors, again.Survivors) {
					t.Fatalf("removed %v of %v", first.Removed, first.Survivors)
				}
				if told != slices.Equal(first.Noised, again.Noised) {
					t.Errorf("removed %v, and then %v", first.Removed, again.Removed)
				}
				if !told {
					// The two differ by site 3's removable noise alone.
					ctx := f.plan.Context(f.sites[0].setup.Transcript(), first.Ask())
					all, kept := f.share(3, first.Ask(), ctx, 4), f.share(3, first.Ask(), ctx, 5)
					for k := range all {
						if again.Noised[k]-first.Noised[k] != all[k]-kept[k] {
							t.Fatalf("value %d differs by %d", k, again.Noised[k]-first.Noised[k])
						}
					}
				}
			})
		})
	}
}

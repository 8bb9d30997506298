package coordinator

import (
	"slices"
	"testing"
	"testing/synctest"

	"covey/internal/round"
	"covey/internal/secagg"
	covey "covey/proto/covey/v1"
)

// TestSumIsWiped: the memory of a query's sum and its shares holds zeros once it is released, and
// once a slot is left, a study ends or this coordinator no longer leads.
func TestSumIsWiped(t *testing.T) {
	for name, end := range map[string]func(*federation){
		"released": func(f *federation) {
			if v := f.finish(); v.Status != round.StatusCompleted {
				f.t.Fatalf("%+v", v)
			}
		},
		"slot left": func(f *federation) {
			m := f.c.machine.lock()
			defer f.c.machine.unlock()
			m.studies[f.plan.Digest].Slot++
			m.sessions[f.plan.Digest].Turn()
		},
		"another leads": func(f *federation) { f.c.Follow() },
		"aborted": func(f *federation) {
			if err := f.c.Abort(f.plan.Digest); err != nil {
				f.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFederation(t, 5, nil)
				defer f.c.Close()
				var sums [][]uint64
				var openings []*secagg.Opening
				look := func() bool {
					m := f.c.machine.lock()
					defer f.c.machine.unlock()
					s := m.sessions[f.plan.Digest]
					if s == nil {
						return false
					}
					if sum := inside[[]uint64](s, "sum"); sum != nil && (len(sums) == 0 || &sums[len(sums)-1][0] != &sum[0]) {
						sums = append(sums, sum)
					}
					if opening := inside[*secagg.Opening](s, "opening"); opening != nil && !slices.Contains(openings, opening) {
						openings = append(openings, opening)
					}
					return len(openings) > 0
				}
				for i, s := range f.sites {
					s.mute = func(m *covey.SiteMessage) bool {
						look()
						// the opening stays as it is
						return name != "released" && i >= 2 && m.GetShares() != nil
					}
				}
				f.pump(look)
				end(f)
				synctest.Wait()
				if len(sums) == 0 || len(openings) == 0 {
					t.Fatalf("%d sums, %d openings were seen", len(sums), len(openings))
				}
				for i, sum := range sums {
					if k := slices.IndexFunc(sum, func(v uint64) bool { return v != 0 }); k >= 0 {
						t.Errorf("sum %d of %d: value %d of %d is still there", i, len(sums), k, len(sum))
					}
				}
				for i, o := range openings {
					if o.Helpers() > 0 {
						t.Errorf("opening %d of %d: shares of %d sites are still there", i, len(openings), o.Helpers())
					}
				}
			})
		})
	}
}

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
			s := m.sessions[f.plan.Digest]
			s.slot--
			s.turn()
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
					if s.sum != nil && (len(sums) == 0 || &sums[len(sums)-1][0] != &s.sum[0]) {
						sums = append(sums, s.sum)
					}
					if s.opening != nil && !slices.Contains(openings, s.opening) {
						openings = append(openings, s.opening)
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

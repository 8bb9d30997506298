package history

import (
	"testing"

	"covey/internal/study"
)

// TestOpensOtherwise: a release that differs by what was taken away of the sites' noise is another
// leader's of the same sum only while none is committed, of one slot and set, where sites draw the
// noise.
func TestOpensOtherwise(t *testing.T) {
	st := newStory(t, variation{})
	distributed := *st.plan
	distributed.Honest = 3
	before := study.Release{Query: 1, Slot: 2, Survivors: []int{0, 1, 2}, Removed: []int{0, 1}}
	for name, c := range map[string]struct {
		change func(*run, *study.Release)
		want   bool
	}{
		"more is taken away":    {func(_ *run, r *study.Release) { r.Removed = []int{0, 1, 2} }, true},
		"the same":              {func(*run, *study.Release) {}, false},
		"of another slot":       {func(_ *run, r *study.Release) { r.Removed, r.Slot = nil, 3 }, false},
		"of another set":        {func(_ *run, r *study.Release) { r.Removed, r.Survivors = nil, []int{0, 1, 3} }, false},
		"of another query":      {func(_ *run, r *study.Release) { r.Removed, r.Query = nil, 0 }, false},
		"one is committed":      {func(s *run, r *study.Release) { r.Removed, s.committed[1] = nil, [][32]byte{{1}} }, false},
		"the noise is central":  {func(s *run, r *study.Release) { r.Removed, s.plan = nil, st.plan }, false},
		"and nothing was taken": {func(_ *run, r *study.Release) { r.Removed = nil }, true},
	} {
		s := &run{plan: &distributed, finals: map[int]study.Release{1: before}, committed: map[int][][32]byte{}}
		r := before
		c.change(s, &r)
		if got := s.opensOtherwise(r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

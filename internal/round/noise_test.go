package round

import (
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// noised is a study of ten sites with distributed noise: q = U_min = 7.
func noised(t *testing.T, mute ...string) *harness {
	t.Helper()
	h := newHarness(t, 10, func(s *proposal.Spec) { s.Noise = proposal.NoiseDistributed })
	for _, m := range mute {
		h.mute[m] = true
	}
	h.run()
	return h
}

// TestNoiseIsWaitedForUntilTheDeadline: N21. Where part of the survivors' noise can be taken away,
// all of them are waited for, as each sends the key of its own with its shares: until the open
// deadline, and no longer than a site may still answer.
func TestNoiseIsWaitedForUntilTheDeadline(t *testing.T) {
	for name, goOn := range map[string]func(*harness){
		"deadline": func(h *harness) { h.expire(PhaseOpen) },
		"answer": func(h *harness) {
			h.event(Shared{3, h.state.Query, h.state.Slot})
			h.run()
		},
		"departure": func(h *harness) {
			h.event(Refused{Site: 3, Query: h.state.Query, Slot: h.state.Slot, Code: study.CodeLeft})
			h.run()
		},
	} {
		h := noised(t, "share 3")
		if h.state.Query != 0 || len(h.state.Survivors) != 10 || !slices.Equal(h.state.WaitingFor(), []int{3}) {
			t.Fatalf("query %d, U = %v, waiting for %v", h.state.Query, h.state.Survivors, h.state.WaitingFor())
		}
		h.event(Disconnected{3}) // it may come back
		h.event(Connected{3})
		h.run()
		h.expire(PhaseUpload) // another deadline
		if h.state.Query != 0 {
			t.Fatal("the sum was opened before the deadline")
		}
		delete(h.mute, "share 3")
		goOn(h)
		if h.state.Query == 0 {
			t.Errorf("%s: the sum was not opened", name)
		}
	}
	// Shares that turned out wrong came with their key.
	h := noised(t, "share 3", "share 4")
	h.event(Shared{3, 0, h.state.Slot})
	h.event(Unshared{Site: 3, Query: 0, Slot: h.state.Slot})
	h.event(Shared{4, 0, h.state.Slot})
	h.run()
	if h.state.Query == 0 {
		t.Error("a site whose shares were wrong is waited for")
	}
}

// TestNoNoiseNoWait: q helpers open a sum that needs all noise of the fewest survivors, and one
// with central noise.
func TestNoNoiseNoWait(t *testing.T) {
	h := noised(t, "upload 7", "upload 8", "upload 9", "share 3")
	h.expire(PhaseUpload)
	if h.state.Query == 0 || len(h.log) == 0 {
		t.Fatalf("query %d, U = %v", h.state.Query, h.state.Survivors)
	}
	h = newHarness(t, 10, nil)
	h.mute["share 3"] = true
	h.run()
	h.want(StatusCompleted)
}

package round

import (
	"slices"
	"testing"

	"covey/internal/proposal"
)

// TestWaitModeWaitsForAll: R4, R15. A study that waits opens a sum of every site or none at all,
// with whatever shares, also on a leader that begins meanwhile.
func TestWaitModeWaitsForAll(t *testing.T) {
	h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
	h.down[4] = true
	h.event(Disconnected{4})
	h.run()
	h.down[4] = false
	h.event(Connected{4})
	for h.state.Query == 0 && h.one() {
	}
	h.down[4] = true
	h.event(Disconnected{4})
	check := func() {
		t.Helper()
		h.run()
		h.expire(PhaseOpen)
		if h.state.Status != StatusRunning || len(h.state.Survivors) != 5 || h.state.Query != 1 || h.opened["1"] != 0 {
			t.Fatal("a study that waits went on without a site")
		}
		if h.state.Phase() != "upload" || !slices.Equal(h.state.WaitingFor(), []int{4}) {
			t.Fatalf("it is at %s, and waits for %v", h.state.Phase(), h.state.WaitingFor())
		}
	}
	check()
	h.crash()
	check()
	h.down[4] = false
	h.event(Connected{4})
	h.run()
	h.want(StatusCompleted)
}

// TestSharesComeBeforeTheLastUpload: R15. Where every site is waited for, q signatures are a
// certificate and q shares are in hand when the last upload comes: it alone opens the sum.
func TestSharesComeBeforeTheLastUpload(t *testing.T) {
	for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = dropout })
		h.mute["upload 4"] = true
		h.run()
		waits := dropout == proposal.DropoutWait
		if shared := h.served[3] == 0 && len(h.served) == 5; shared != waits || (h.state.Certificate != nil) != waits {
			t.Fatalf("%s: asked for shares before the last upload: %v", dropout, shared)
		}
		h.mute["share"] = true
		h.event(Uploaded{4, h.state.Query, h.state.Slot})
		h.run()
		if opened := h.opened["0"] == 1; opened != waits {
			t.Fatalf("%s: the last upload opened the sum: %v", dropout, opened)
		}
	}
}

// TestCertificateNeedsTheUploads: R15. With "continue" a leader that begins with a committed U, and
// lost the uploads, commits no certificate before it has them again: without it the slot may still
// be given up.
func TestCertificateNeedsTheUploads(t *testing.T) {
	h := newHarness(t, 5, nil)
	h.mute["sign"] = true
	h.run()
	h.mute["sign"], h.mute["upload 4"] = false, true
	h.crash()
	h.run()
	if h.state.Survivors == nil || h.state.Certificate != nil {
		t.Fatalf("U = %v is certified without an upload of site 4", h.state.Survivors)
	}
	h.expire(PhaseOpen)
	if h.last(EntryAbandoned, 0, 0) == nil {
		t.Fatal("the slot was not given up")
	}
}

package agent

import (
	"errors"
	"testing"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/result"
)

// TestHeldCheck: a result is good here if it was approved here, and has every release that this
// site was told.
func TestHeldCheck(t *testing.T) {
	v := &result.Verified{} // of no release
	told := []HeldRelease{{Query: 0, Hash: proposal.Digest{1}}}
	for name, c := range map[string]struct {
		held Held
		what string
	}{
		"approved":      {Held{State: ledger.Approved}, ""},
		"finished":      {Held{State: ledger.Finished}, ""},
		"unknown":       {Held{State: ledger.Unknown}, "digest"},
		"rejected":      {Held{State: ledger.Rejected}, "digest"},
		"other release": {Held{State: ledger.Finished, Releases: told}, "releases"},
	} {
		err := c.held.Check(v)
		bad, _ := errors.AsType[*result.VerifyError](err)
		if c.what == "" && err != nil || c.what != "" && (bad == nil || bad.What != c.what) {
			t.Errorf("%s: %v, want %q", name, err, c.what)
		}
	}
}

package study

import (
	"errors"
	"testing"

	"covey/internal/proposal"
)

// TestSetupFits: a setup of more than a coordinator keeps is refused, by the formulas of
// docs/protocol.md (LIM-5): the largest complete graph is not, with all slots.
func TestSetupFits(t *testing.T) {
	complete := proposal.Thresholds{Sites: proposal.MaxComplete, Degree: proposal.MaxComplete - 1, MinSurvivors: 50}
	thousands := proposal.Thresholds{Sites: 10_000, Degree: 44, MinSurvivors: 7000}
	whole := thousands
	whole.MinSurvivors = whole.Sites
	for _, c := range []struct {
		t     proposal.Thresholds
		slots int
		fits  bool
	}{
		{complete, proposal.MaxSlots, true},
		{proposal.Thresholds{Sites: 1000, Degree: 37, MinSurvivors: 700}, proposal.MaxSlots, true},
		{thousands, 152, true}, // 4 GiB of memory
		{thousands, 153, false},
		{whole, 800, true},
		{whole, 1000, false}, // 256 MiB of the log
	} {
		err := setupFits(c.t, c.slots)
		if field, ok := errors.AsType[*proposal.FieldError](err); (err == nil) != c.fits || err != nil && (!ok || field.Field != "sites") {
			t.Errorf("%d sites, %d slots: %v", c.t.Sites, c.slots, err)
		}
	}
}

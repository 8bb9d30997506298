package proposal_test

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestRoster: each site of a roster has a name and a key of its own, since a key that is there
// twice would let one site count as two towards U_min and q.
func TestRoster(t *testing.T) {
	propose := func(change func(roster []proposal.Member)) error {
		roster := texts.Roster(fives...)
		change(roster)
		_, err := proposal.Propose(smallSpec(t), roster, texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
		return err
	}
	for name, c := range map[string]struct {
		change func(r []proposal.Member)
		want   string
	}{
		"a name twice":        {func(r []proposal.Member) { r[3].Name = r[1].Name }, "roster[3]: name or identity appears twice"},
		"a key twice":         {func(r []proposal.Member) { r[3].Identity = r[1].Identity }, "roster[3]: name or identity appears twice"},
		"no name":             {func(r []proposal.Member) { r[3].Name = "" }, "roster[3].name: must be 1 to 63"},
		"a short key":         {func(r []proposal.Member) { r[3].Identity = r[3].Identity[:31] }, "64 hex digits"},
		"no units":            {func(r []proposal.Member) { r[3].Units = 0 }, "roster[3].units: must be in 1..2^40, got 0"},
		"fewer units than 0":  {func(r []proposal.Member) { r[3].Units = -1 }, "roster[3].units: must be in 1..2^40"},
		"more units than are": {func(r []proposal.Member) { r[3].Units = proposal.MaxUnits + 1 }, "roster[3].units: must be in 1..2^40"},
	} {
		if err := propose(c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if err := propose(func(r []proposal.Member) { r[3].Units = proposal.MaxUnits }); err != nil {
		t.Errorf("as many units as may be: %v", err)
	}
}

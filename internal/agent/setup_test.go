package agent

import (
	"testing"

	"covey/internal/ledger"
	"covey/internal/wire"
)

// TestNothingIsDrawnBeforeTheSetup: an approval leaves once the site's rows are in reach, so that
// only the setup follows the last one. No secret is drawn by then: a copy of the site's disk made
// while others decide opens no later sum.
func TestNothingIsDrawnBeforeTheSetup(t *testing.T) {
	c := newStandIn(t, 4, autoPolicy, nil)
	c.approve()
	s := c.sites[0]
	if !s.session(c).rows.Loaded() {
		t.Error("the rows are not in reach")
	}
	drawn := func() bool {
		t.Helper()
		_, ok, err := s.session(c).journal.Setup(ledger.SetupSecrets)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if drawn() {
		t.Error("secrets are on record before anybody asked for an announcement")
	}
	want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: c.plan.Digest}})
	if !drawn() {
		t.Error("an announcement left without its secrets on record")
	}
}

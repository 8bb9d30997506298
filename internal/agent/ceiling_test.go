package agent

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// coordinatorMessage is a message as it is on the wire.
func coordinatorMessage(t *testing.T, m *covey.CoordinatorMessage) []byte {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestCeiling: a message is as long as the approved studies need, or a proposal. AG-36.
func TestCeiling(t *testing.T) {
	c := newStandIn(t, 5, autoPolicy, nil)
	a := c.sites[0].agent
	if n := a.sessions.ceiling(); n != uplink.LeastMessage || n > 34<<20 {
		t.Errorf("a ceiling of %d bytes without a study", n)
	}
	c.approve()
	if n := a.sessions.ceiling(); n != uplink.LeastMessage {
		t.Errorf("a ceiling of %d bytes with a small study", n)
	}
	a.sessions.sizes[c.plan.Digest] = 100 << 20
	if n := a.sessions.ceiling(); n != 100<<20 {
		t.Errorf("a ceiling of %d bytes with a large study", n)
	}
	c.sites[0].ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
	if n := a.sessions.ceiling(); n != uplink.LeastMessage || len(a.sessions.sizes) != 0 {
		t.Errorf("a ceiling of %d bytes when it is over, %d sizes are kept", n, len(a.sessions.sizes))
	}
}

// TestLargestHoldsTheSetup: what a coordinator sends in a setup and a query fits the study's limit,
// on the complete graph and on a sparse one, and the limit is of the study's own size.
func TestLargestHoldsTheSetup(t *testing.T) {
	const base = 1 << 20 // a message's other parts
	fits := func(p *study.Plan, parts map[string]int) {
		t.Helper()
		for name, n := range parts {
			if n > uplink.Largest(p)-base+1000 {
				t.Errorf("%d sites: %s of %d bytes, a limit of %d", p.Thresholds.Sites, name, n, uplink.Largest(p))
			}
		}
	}
	c := newStandIn(t, 5, autoPolicy, nil)
	c.ready()
	id := c.plan.Digest[:]
	deal := coordinatorMessage(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Deal{Deal: &covey.Deal{Study: id, Announcements: c.all}}})
	fits(c.plan, map[string]int{
		"a deal": len(deal),
		"boxes":  len(coordinatorMessage(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirm{Confirm: &covey.Confirm{Study: id, Boxes: c.boxes[1]}}})),
		"an end": len(coordinatorMessage(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirmed{Confirmed: &covey.Confirmed{Study: id, Signatures: c.signed}}})),
	})
	if n := uplink.Largest(c.plan) - base; n > 2*len(deal) {
		t.Errorf("a limit of %d bytes for a deal of %d", n, len(deal))
	}
	if testing.Short() {
		return
	}
	s, g := newGhosts(t, 66)
	own := want[wire.Announcement](s.sites[0], wire.Announce{Header: wire.Header{Study: s.plan.Digest}}).Signed
	var err error
	if g.heads[0], g.seals[0], g.bodies[0], err = g.cfg.Split(0, own); err != nil {
		t.Fatal(err)
	}
	fits(s.plan, map[string]int{
		"heads":  len(bytes.Join(g.heads, nil)) + 66*3,
		"bodies": 2 * s.plan.Thresholds.Holders * len(g.bodies[1]),
		"keys":   2*s.plan.Thresholds.Holders*len(g.seals[1]) + 66*32,
	})
}

// TestEntriesAreCounted: a message of more entries than two for each site of the largest roster is
// not decoded.
func TestEntriesAreCounted(t *testing.T) {
	for n, pass := range map[int]bool{proposal.MaxSites: true, 2*proposal.MaxSites + 101: false} {
		raw := coordinatorMessage(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Deal{Deal: &covey.Deal{Study: make([]byte, 32), Announcements: make([][]byte, n)}}})
		if _, err := wire.DecodeCoordinator(raw); (err == nil) != pass {
			t.Errorf("%d entries: %v", n, err)
		}
	}
}

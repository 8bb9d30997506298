package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"

	"covey/internal/proposal"
	"covey/internal/study"
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

// inFrames returns a message piece by piece, then io.EOF.
func inFrames(raw []byte) func() ([]byte, bool, error) {
	return func() ([]byte, bool, error) {
		if raw == nil {
			return nil, false, io.EOF
		}
		n := min(len(raw), wire.Size)
		data, last := raw[:n], n == len(raw)
		if raw = raw[n:]; last {
			raw = nil
		}
		return data, last, nil
	}
}

// TestAttackAmplification: a deal of 32 MiB for a study that nobody knows, whose entries are empty
// or whose numbers are small, takes no more memory than a few times its bytes. AG-36.
func TestAttackAmplification(t *testing.T) {
	a := newStandIn(t, 3, `approve = "ask"`, nil).sites[0].agent
	id := make([]byte, 32)
	const size = 32 << 20
	survivors := make([]uint32, size-100)
	for name, m := range map[string]*covey.CoordinatorMessage{
		"announcements": {Body: &covey.CoordinatorMessage_Deal{Deal: &covey.Deal{Study: id, Announcements: make([][]byte, size/2-50)}}},
		"boxes":         {Body: &covey.CoordinatorMessage_Confirm{Confirm: &covey.Confirm{Study: id, Boxes: make([][]byte, size/16)}}},
		"certificate":   {Body: &covey.CoordinatorMessage_Open{Open: &covey.Open{Study: id, Certificate: make([][]byte, size/16)}}},
		"survivors":     {Body: &covey.CoordinatorMessage_Release{Release: &covey.Release{Study: id, Survivors: survivors}}},
	} {
		raw := coordinatorMessage(t, m)
		m.Body = nil
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx, end := context.WithCancel(t.Context())
		err := newLink(ctx, a).read(inFrames(raw))
		end()
		runtime.ReadMemStats(&after)
		a.work.Wait()
		if err != wire.ErrNotCoordinator {
			t.Errorf("%s: the link ends with %v", name, err)
		}
		// The pieces are put together in a slice that grows.
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*size {
			t.Errorf("%s: %d MiB allocated for %d MiB", name, took>>20, len(raw)>>20)
		}
	}
}

// TestCeiling: a message is as long as the approved studies need, or a proposal; what is longer
// ends the link. AG-36.
func TestCeiling(t *testing.T) {
	c := newStandIn(t, 5, autoPolicy, nil)
	a := c.sites[0].agent
	read := func(bytes int) error {
		ctx, end := context.WithCancel(t.Context())
		defer a.work.Wait()
		defer end()
		return newLink(ctx, a).read(inFrames(make([]byte, bytes)))
	}
	if n := a.ceiling(); n != leastMessage || n > 34<<20 {
		t.Errorf("a ceiling of %d bytes without a study", n)
	}
	if err := read(leastMessage + 1); err != wire.ErrTooLong {
		t.Errorf("one byte too many: %v", err)
	}
	if err := read(leastMessage); err != wire.ErrNotCoordinator {
		t.Errorf("as long as may be: %v", err)
	}
	c.approve()
	if n := a.ceiling(); n != leastMessage {
		t.Errorf("a ceiling of %d bytes with a small study", n)
	}
	a.sizes[c.plan.Digest] = 100 << 20
	if n := a.ceiling(); n != 100<<20 {
		t.Errorf("a ceiling of %d bytes with a large study", n)
	}
	c.sites[0].ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
	if n := a.ceiling(); n != leastMessage || len(a.sizes) != 0 {
		t.Errorf("a ceiling of %d bytes when it is over, %d sizes are kept", n, len(a.sizes))
	}
}

// TestLargestHoldsTheSetup: what a coordinator sends in a setup and a query fits the study's limit,
// on the complete graph and on a sparse one, and the limit is of the study's own size.
func TestLargestHoldsTheSetup(t *testing.T) {
	fits := func(p *study.Plan, parts map[string]int) {
		t.Helper()
		for name, n := range parts {
			if n > largest(p)-baseMessage+1000 {
				t.Errorf("%d sites: %s of %d bytes, a limit of %d", p.Thresholds.Sites, name, n, largest(p))
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
	if n := largest(c.plan) - baseMessage; n > 2*len(deal) {
		t.Errorf("a limit of %d bytes for a deal of %d", n, len(deal))
	}
	s, g := newGhosts(t, 66)
	own := want[wire.Announcement](s.sites[0], wire.Announce{Header: wire.Header{Study: s.plan.Digest}}).Signed
	var err error
	if g.heads[0], g.bodies[0], err = g.cfg.Split(0, own); err != nil {
		t.Fatal(err)
	}
	fits(s.plan, map[string]int{
		"heads":  len(bytes.Join(g.heads, nil)) + 66*3,
		"bodies": 2 * s.plan.Thresholds.Holders * len(g.bodies[1]),
	})
}

// TestHeldBytes: what was read and is not worked off yet is bounded in bytes, whatever the number
// of messages. AG-36.
func TestHeldBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newStandIn(t, 3, `approve = "ask"`, nil).sites[0].agent
		ctx, end := context.WithCancel(t.Context())
		l := newLink(ctx, a)
		for range maxWaiting { // nobody takes answers: what is worked off waits for room
			l.post(wire.Refusal{Code: study.CodeHeld})
		}
		read := 0
		a.work.Go(func() {
			err := l.read(func() ([]byte, bool, error) {
				if read == 10 {
					<-ctx.Done()
					return nil, false, ctx.Err()
				}
				read++
				body := make([]byte, maxHeld/4)
				body[0] = byte(read)
				return coordinatorMessage(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: body}}}), true, nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		if read > 5 {
			t.Errorf("%d messages are held, each a quarter of what may be", read)
		}
		a.work.Go(func() { l.write(func([]byte, bool) error { return nil }) })
		synctest.Wait()
		if read != 10 {
			t.Errorf("%d of 10 were read in the end", read)
		}
		end()
		a.work.Wait()
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

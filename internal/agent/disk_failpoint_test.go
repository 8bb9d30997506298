//go:build failpoint

package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc"

	"covey/internal/failpoint"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/responder"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
	"covey/test/must"
)

// diskFault is a disk under one site that fails once: at the at-th side of a write of
// its ledger.
type diskFault struct {
	c      *standIn
	s      *testSite
	at     int // -1: never
	points []string
	failed bool

	ran    chan error
	cancel context.CancelFunc
	acks   []acked
	ended  bool
}

// acked is a request and what it was answered with, for all to see.
type acked struct {
	r   wire.Message
	raw []byte
}

// run starts the agent's Run, as a process would, and waits until it dials.
func (d *diskFault) run() {
	ctx, cancel := context.WithCancel(context.Background())
	dialed := make(chan struct{}, 100)
	d.s.options = []grpc.DialOption{grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
		select {
		case dialed <- struct{}{}:
		default: // nobody waits any more
		}
		return nil, errors.New("no network")
	})}
	d.s.restart()
	a := d.s.agent
	d.cancel, d.ran = cancel, make(chan error, 1)
	go func() { d.ran <- a.Run(ctx) }()
	<-dialed
}

func (d *diskFault) hit(e failpoint.Event) error {
	if e.Owner != d.s.config.LedgerDir() {
		return nil
	}
	d.points = append(d.points, fmt.Sprintf("%s %s", e.Point, e.Phase))
	if len(d.points)-1 != d.at {
		return nil
	}
	d.failed = true
	return syscall.EIO
}

// between sees every answer of the site. While the disk works it keeps what was
// answered. When it has failed, it checks that there is no answer, that Run is over
// with that error, that the agent says nothing more; then it starts the site again, checks
// that everything answered before is answered the same, and asks again.
func (d *diskFault) between(r wire.Message, a wire.Message) wire.Message {
	t := d.s.t
	t.Helper()
	if _, ok := r.(wire.Ended); ok {
		d.ended = true
	}
	if !d.failed {
		if raw, err := rawOf(a); err != nil {
			t.Fatal(err)
		} else {
			d.acks = append(d.acks, acked{r, raw})
		}
		return a
	}
	d.failed = false
	if a != nil {
		t.Errorf("%T is answered with %+v on the strength of a write that failed", r, a)
	}
	if err := <-d.ran; !errors.Is(err, syscall.EIO) {
		t.Errorf("Run ends with %v, want the disk's error", err)
	} else {
		must.As[*ledger.StoreError](t, err)
	}
	for _, k := range append(slices.Clone(d.acks), acked{r, nil}) {
		if got := d.s.agent.handle(k.r); got != nil {
			t.Errorf("after the failure %T is answered with %+v", k.r, got)
		}
	}
	d.s.start()
	d.run()
	for _, k := range d.acks {
		d.again(k)
	}
	d.s.heads(r)
	return d.between(r, d.s.agent.handle(r))
}

// rawOf is what leaves as the answer that was asked for: a pair's second.
func rawOf(a wire.Message) ([]byte, error) {
	switch a := a.(type) {
	case nil:
		return nil, nil
	case uplink.Pair:
		return wire.Encode(a.Second)
	}
	return wire.Encode(a)
}

// again asks what was answered before: the same bytes, the query's signed result once
// that was told, or that the study is over.
func (d *diskFault) again(k acked) {
	t := d.s.t
	t.Helper()
	d.s.heads(k.r)
	a := d.s.agent.handle(k.r)
	raw, err := rawOf(a)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(raw, k.raw) {
		return
	}
	switch a := a.(type) {
	case wire.Refusal:
		for _, told := range d.acks {
			if f, ok := told.r.(wire.Final); ok && a.Code == study.CodeFinal && a.Query == f.Query && bytes.Equal(a.Final.Encoded, f.Encoded) {
				return
			}
		}
		// The result that was being written when the disk failed may be on it.
		if a.Code == study.CodeFinal && a.Query == len(d.finals()) {
			return
		}
		if d.ended && a.Code == study.CodeLeft {
			return
		}
	case wire.Decision:
		if d.ended && a.Code == study.CodeLeft {
			return
		}
	}
	t.Errorf("%T was answered with %d bytes, after the restart with %+v", k.r, len(k.raw), a)
}

func (d *diskFault) finals() (out []acked) {
	for _, k := range d.acks {
		if _, ok := k.r.(wire.Final); ok {
			out = append(out, k)
		}
	}
	return out
}

// study runs a whole study of two sites, and checks every sum and the ledger's end.
func (d *diskFault) study(t *testing.T) {
	c := newStandIn(t, 2, autoPolicy+"min_sites = 2\n", func(s *proposal.Spec) { s.Radius, s.Rounds = proposal.RadiusPrivate, 1 })
	d.c, d.s = c, c.sites[0]
	d.run()
	defer func() { d.cancel(); <-d.ran }()
	failpoint.Set(d.hit)
	defer failpoint.Set(nil)
	d.s.between = d.between
	c.ready()
	course := c.plan.Start()
	var earlier []study.Release
	var finals []wire.Final
	for i := range c.plan.Queries {
		ask, err := c.plan.NewAsk(course, i)
		if err != nil {
			t.Fatal(err)
		}
		q := wire.Query{Study: c.plan.Digest, Ask: ask}
		sum := c.open(q, c.everyone())
		if plain := c.plain(q, c.everyone()); !slices.Equal(sum, plain) {
			t.Fatalf("query %d: opened %v, plain %v", i, sum, plain)
		}
		final := c.release(q, c.everyone(), sum)
		c.tell(final)
		finals = append(finals, final)
		release, err := c.plan.NewRelease(ask, c.everyone(), sum)
		if err != nil {
			t.Fatal(err)
		}
		if course, err = c.plan.Next(course, release, earlier); err != nil {
			t.Fatal(err)
		}
		earlier = append(earlier, release)
	}
	r, _ := c.result(finals)
	for _, s := range c.sites {
		want[wire.Attestation](s, c.attest(r))
	}
	c.tell(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeCompleted})
	e, _ := d.s.agent.ledger.Study(c.plan.Digest)
	if e.State != ledger.Finished || e.Code != string(study.CodeCompleted) || e.Queries != len(c.plan.Queries) ||
		math.Abs(e.SpentRho-c.plan.Rho) > 1e-12*c.plan.Rho {
		t.Errorf("%+v, want completed with all of ρ = %v spent", e, c.plan.Rho)
	}
	for slot := range c.plan.Slots {
		if _, err := d.s.agent.ledger.Journal(c.plan.Digest).Slot(slot); err != ledger.ErrErased {
			t.Errorf("slot %d: %v, want erased", slot, err)
		}
	}
}

// TestEveryWriteFails runs a study once for each side of each write of a site's ledger,
// and makes that one fail.
func TestEveryWriteFails(t *testing.T) {
	d := &diskFault{at: -1}
	d.study(t)
	points := d.points
	for _, name := range []string{"approve", "setup.announcement", "setup.announcements", "setup.boxes",
		"setup.confirmation", "setup.confirmed", "charge", "upload", "sign", "shares", "final", "result", "finish", "erase"} {
		for _, phase := range []failpoint.Phase{failpoint.Before, failpoint.After} {
			if !slices.Contains(points, fmt.Sprintf("%s%s %s", failpoint.LedgerPrefix, name, phase)) {
				t.Errorf("the study does not pass %s %s", name, phase)
			}
		}
	}
	// Of a query each once. The charge, the signature and the shares are in the upload's
	// transaction, the chain's head in whichever comes; asked for the signature and for the shares,
	// the site finds the head on record. Fsyncs are counted in TestSyncsOfAQuery.
	for name, want := range map[string]int{"charge": len(d.c.plan.Queries), "upload": len(d.c.plan.Queries), "sign": len(d.c.plan.Queries),
		"shares": len(d.c.plan.Queries), "final": len(d.c.plan.Queries), "erase": len(d.c.plan.Queries) + 2, "chain": 2 * len(d.c.plan.Queries)} {
		n := 0
		for _, point := range points {
			if point == failpoint.LedgerPrefix+name+" "+string(failpoint.Before) {
				n++
			}
		}
		if n != want {
			t.Errorf("a study of %d queries writes %s %d times, want %d", len(d.c.plan.Queries), name, n, want)
		}
	}
	for at, point := range points {
		t.Run(strings.ReplaceAll(point, " ", "_"), func(t *testing.T) {
			d := &diskFault{at: at}
			d.study(t)
			if len(d.points) <= at {
				t.Error("the write was not reached")
			}
		})
	}
}

// TestDecisionsFail makes the write of an operator's decision and of a leave fail: the
// operator hears it, and the coordinator hears nothing.
func TestDecisionsFail(t *testing.T) {
	defer failpoint.Set(nil)
	fail := func(s *testSite, point string, phase failpoint.Phase) {
		failpoint.Set(func(e failpoint.Event) error {
			if e.Owner == s.config.LedgerDir() && e.Point == failpoint.LedgerPrefix+point && e.Phase == phase {
				return syscall.EIO
			}
			return nil
		})
	}
	for _, phase := range []failpoint.Phase{failpoint.Before, failpoint.After} {
		for point, do := range map[string]func(*standIn, *testSite) error{
			"reject":  func(c *standIn, s *testSite) error { return s.agent.Decisions.Reject(c.plan.Digest) },
			"approve": func(c *standIn, s *testSite) error { return s.agent.Decisions.Approve(c.plan.Digest) },
		} {
			c := newStandIn(t, 2, `approve = "ask"`, nil)
			s := c.sites[0]
			want[wire.Decision](s, wire.Proposal{Body: c.body})
			fail(s, point, phase)
			if err := do(c, s); !errors.Is(err, syscall.EIO) {
				t.Errorf("%s, %s: %v", point, phase, err)
			}
			failpoint.Set(nil)
			s.restart()
			e, known := s.agent.ledger.Study(c.plan.Digest)
			if known != (phase == failpoint.After) {
				t.Errorf("%s, %s: on record %+v", point, phase, e)
			}
			if err := do(c, s); err != nil {
				t.Errorf("%s, %s, once more: %v", point, phase, err)
			}
		}

		// A study that is left because the ledger is too old is left at the next try.
		c := newStandIn(t, 3, autoPolicy, nil)
		c.ready()
		s, q := c.sites[0], c.query(0, 0, c.plan.Start().X)
		backup := s.backup()
		final := c.release(q, c.everyone(), c.open(q, c.everyone()))
		s.restore(backup)
		fail(s, "finish", phase)
		if got := s.ask(final); got != nil {
			t.Errorf("on the strength of a write that failed: %+v", got)
		}
		failpoint.Set(nil)
		s.restart()
		if log := s.log.String(); !strings.Contains(log, "the ledger failed; the agent stops") || !strings.Contains(log, "input/output error") {
			t.Errorf("the log does not say what failed:\n%s", log)
		}
		if phase == failpoint.Before {
			s.log.Reset()
			refused(s, final, study.CodeRolledBack)
			c.hasLeft(s, responder.FoundFinal)
		} else {
			c.hasLeft(s, "")
		}
	}
}

package agent

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"covey/internal/egress"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
)

// TestAttackEgressGrows: questions about made-up digests without end, and proposals that no site
// can take part in, make neither the egress log, nor the agent's log, nor memory grow without end;
// what left is on record, line by line, and studies that are on record here are answered all the
// while. AG-37.
func TestAttackEgressGrows(t *testing.T) {
	asked := 200_000
	if testing.Short() {
		asked = 20_000
	}
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	sent := 0
	said := func(a wire.Message) {
		if a == nil {
			return
		}
		raw, err := wire.Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		sent++
		s.agent.egress.Record(uplink.Describe(a, len(raw)).Of(raw), testNow)
	}
	for i := range asked {
		id := proposal.Digest{1}
		binary.BigEndian.PutUint32(id[1:], uint32(i))
		said(s.agent.handle(wire.Announce{Header: wire.Header{Study: id}}))
		if i%100 == 0 {
			said(s.agent.handle(wire.Proposal{Body: id[:]}))
		}
	}
	if sent > unknownBurst+60 || sent < unknownBurst/2 {
		t.Errorf("%d answers to %d questions", sent, asked)
	}
	if info, err := os.Stat(filepath.Join(s.dir, egress.File)); err != nil || info.Size() > 1<<20 {
		t.Errorf("egress.jsonl: %d bytes, %v", info.Size(), err)
	}
	chain, err := egress.Verify(s.dir, "", nil)
	if err != nil || chain.Messages != sent {
		t.Errorf("%d messages on record of %d, %v", chain.Messages, sent, err)
	}
	if n := len(s.agent.egress.Snapshot().Studies); n > unknownBurst+60 {
		t.Errorf("%d studies are kept in memory", n)
	}
	if s.log.Len() > 1<<20 {
		t.Errorf("a log of %d bytes", s.log.Len())
	}
	refused(s, wire.Announce{Header: wire.Header{Study: c.plan.Digest}}, study.CodeNotApproved)
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	// One that is on record and not approved is answered longer, and not forever.
	for range 3 * idleBurst {
		said(s.agent.handle(wire.Announce{Header: wire.Header{Study: c.plan.Digest}}))
	}
	if sent > unknownBurst+idleBurst+600 { // some minutes' worth of a slow machine
		t.Errorf("%d answers about a study that waits", sent)
	}
}

// TestPaceOfUnknown: after the burst one answer more leaves every ten seconds, and a clock that
// goes back adds none.
func TestPaceOfUnknown(t *testing.T) {
	p := pace{burst: unknownBurst, every: unknownEvery}
	count := func(now time.Time) (n int) {
		for p.take(now) {
			n++
		}
		return n
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{
		{0, unknownBurst}, {unknownEvery - 1, 0}, {unknownEvery, 1}, {0, 0}, {-time.Hour, 0}, {3*unknownEvery + 1, 2}, {1e4 * unknownEvery, unknownBurst},
	} {
		if n := count(testNow.Add(c.after)); n != c.want {
			t.Errorf("after %v: %d answers, want %d", c.after, n, c.want)
		}
	}
}

// TestMadeUpStudies is TestAttackEgressGrows in small.
func TestMadeUpStudies(t *testing.T) {
	a := newStandIn(t, 3, `approve = "ask"`, nil).sites[0].agent
	answered := 0
	for i := range 2 * unknownBurst {
		if a.handle(wire.Announce{Header: wire.Header{Study: proposal.Digest{byte(i), byte(i >> 8)}}}) != nil {
			answered++
		}
	}
	if answered < unknownBurst || answered > unknownBurst+60 {
		t.Errorf("%d answers", answered)
	}
}

package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"covey/internal/enroll"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// says returns what a hello would say of studies now.
func (s *testSite) says() (h wire.Hello) {
	s.agent.work.Wait()
	s.agent.tellStudies(&h)
	return h
}

// TestHelloNamesStudies: AG-26. A study is open from the moment it is kept or approved until its
// end is on record, whatever crashes come between.
func TestHelloNamesStudies(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s, id := c.sites[0], c.plan.Digest
	check := func(when string, open, over int) {
		t.Helper()
		for range 2 { // the second time after a crash
			h := s.says()
			if !h.AllOpen || len(h.Open) != open || len(h.Over) != over || open+over == 1 && append(h.Open, h.Over...)[0] != wire.TagOf(id) {
				t.Errorf("%s: open %v (all: %v), over %v; want %d and %d", when, h.Open, h.AllOpen, h.Over, open, over)
			}
			s.restart()
		}
	}
	check("before anything", 0, 0)
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	check("pending", 1, 0)
	s.ask(wire.Ended{Header: wire.Header{Study: id}, Code: study.CodeAborted})
	check("ended before it was approved", 0, 0)
	for _, each := range c.sites {
		want[wire.Decision](each, wire.Proposal{Body: c.body})
		if err := each.agent.Decisions.Approve(id); err != nil {
			t.Fatal(err)
		}
	}
	check("approved", 1, 0)
	c.prepare()
	c.confirm()
	check("confirmed", 1, 0)
	course := c.plan.Start()
	var earlier []study.Release
	for i := range c.plan.Queries {
		ask, err := c.plan.NewAsk(course, i)
		if err != nil {
			t.Fatal(err)
		}
		q := wire.Query{Study: id, Ask: ask}
		for _, each := range c.sites {
			each.ask(wire.Confirmed{Header: wire.Header{Study: id}, Signatures: c.signed})
		}
		sum := c.open(q, c.everyone())
		release, err := c.plan.NewRelease(ask, c.everyone(), sum)
		if err != nil {
			t.Fatal(err)
		}
		check("before its result", 1, 0)
		c.tell(c.release(q, c.everyone(), sum))
		if course, err = c.plan.Next(course, release, earlier); err != nil {
			t.Fatal(err)
		}
		earlier = append(earlier, release)
	}
	check("with the last result, without its end", 1, 0)
	s.ask(wire.Ended{Header: wire.Header{Study: id}, Code: study.CodeCompleted})
	check("completed", 0, 1)

	s = c.sites[1]
	if err := s.agent.Decisions.Reject(id); err != nil {
		t.Fatal(err)
	}
	check("left", 0, 1)
}

// TestHelloNamesRejected: what the operator rejected is over, and is on record.
func TestHelloNamesRejected(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	if err := s.agent.Decisions.Reject(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	if h := s.says(); !h.AllOpen || len(h.Open) != 0 || !slices.Equal(h.Over, []wire.Tag{wire.TagOf(c.plan.Digest)}) {
		t.Errorf("%+v", h)
	}
}

// TestHelloIsBounded: a hello that would not fit says so, and is short enough for a coordinator.
func TestHelloIsBounded(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	full := wire.Hello{Software: enroll.Software}
	for range 200 {
		full.Datasets = append(full.Datasets, wire.Dataset{Name: strings.Repeat("d", 300), Units: 1 << 40})
	}
	s.agent.tellStudies(&full)
	if full.AllOpen || len(full.Open)+len(full.Over) != 0 {
		t.Errorf("no place, and it says %v, %v, all: %v", full.Open, full.Over, full.AllOpen)
	}
	for _, kept := range []int{0, 100} {
		h := wire.Hello{Software: enroll.Software, Datasets: full.Datasets[:kept]}
		room := (maxHello - kept*320) / wire.TagBytes
		h.Open, h.Over = make([]wire.Tag, room/2), make([]wire.Tag, room-room/2)
		if raw, err := wire.Encode(h); err != nil || len(raw) > 62<<10 {
			t.Errorf("%d data sets: %d bytes (%v)", kept, len(raw), err)
		}
	}
}

// TestHelloOnTheWire: the form that internal/coordinator reads.
func TestHelloOnTheWire(t *testing.T) {
	raw, err := wire.Encode(wire.Hello{Software: "x", Open: []wire.Tag{{1}, {2}}, AllOpen: true, Over: []wire.Tag{{3}}})
	if err != nil {
		t.Fatal(err)
	}
	var m covey.SiteMessage
	if err := proto.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	h := m.GetHello()
	if open := h.GetOpen(); len(open) != 32 || open[0] != 1 || open[16] != 2 || len(h.GetOver()) != 16 || h.GetOver()[0] != 3 || !h.GetAllOpen() {
		t.Errorf("%v", h)
	}
}

// TestFailedStoreSaysNothing: a site that cannot look up what it knows does not say that it knows
// nothing.
func TestFailedStoreSaysNothing(t *testing.T) {
	for _, lost := range []string{"ledger", "pending"} {
		c := newStandIn(t, 3, autoPolicy, nil)
		s := c.sites[0]
		want[wire.Decision](s, wire.Proposal{Body: c.body})
		if h := s.says(); !h.AllOpen || len(h.Open) != 1 {
			t.Fatalf("%+v", h)
		}
		var err error
		if lost == "ledger" {
			err = s.agent.Close()
		} else {
			err = os.RemoveAll(filepath.Join(s.dir, lost))
		}
		if err != nil {
			t.Fatal(err)
		}
		if h := s.says(); h.AllOpen || len(h.Open)+len(h.Over) > 0 {
			t.Errorf("without %s: %+v", lost, h)
		}
	}
}

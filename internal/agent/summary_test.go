package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
	"covey/test/must"
)

// TestNobodyHasASessionMade: neither a coordinator that asks again and again about a long proposal
// that waits, nor what reads the figures of all that left, makes its session, which takes most of a
// second. The answers are those about a short one. AG-37.
func TestNobodyHasASessionMade(t *testing.T) {
	for _, columns := range []int{testColumns, letGo()} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			c := newWide(t, columns, func(j int) proposal.Column { return proposal.Column{Name: fmt.Sprintf("c%d", j), Scale: 1} })
			s, id := c.sites[0], c.plan.Digest
			d := want[wire.Decision](s, wire.Proposal{Body: bytes.Clone(c.body)})
			s.agent.egress.Record(uplink.Describe(d, 1), testNow)
			if e := s.agent.Views.Egress().Studies; len(e) != 1 || len(e[0].Planned) == 0 {
				t.Fatalf("left: %+v", e)
			}
			heap()
			defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what is made stays
			made := func(what any) {
				t.Helper()
				if in := s.agent.sessions.places[id].session.Value() != nil; in != (columns == testColumns) {
					t.Fatalf("after %v the session is in memory: %t", what, in)
				}
			}
			made("nothing")
			about := wire.Header{Study: id}
			for _, r := range []wire.Message{
				wire.Announce{Header: about}, wire.Deal{Header: about}, wire.Query{Study: id}, wire.Release{Header: about},
				wire.Open{Header: about}, wire.Recall{Header: about}, wire.Attest{Header: about},
			} {
				refused(s, r, study.CodeNotApproved)
				made(r)
			}
			for _, r := range []wire.Message{wire.Final{Header: about}, wire.Confirmed{Header: about}} {
				if got := s.agent.handle(r); got != nil {
					t.Errorf("%T is answered %+v", r, got)
				}
				made(r)
			}
			if e := s.agent.Views.Egress().Studies; len(e[0].Planned) == 0 {
				t.Errorf("left: %+v", e)
			}
			made("the figures of what left")
		})
	}
}

// TestUnansweredWordsFillNoLog: what a coordinator says without end of a proposal that waits, and
// that agent.toml has no data set for any more, is neither answered nor logged each time. AG-37.
func TestUnansweredWordsFillNoLog(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s, about := c.sites[0], wire.Header{Study: c.plan.Digest}
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	s.configured(`name = "rows"`, `name = "other"`)
	refused(s, wire.Announce{Header: about}, study.CodeData)
	s.log.Reset()
	for range 1000 {
		for _, r := range []wire.Message{wire.Final{Header: about}, wire.Confirmed{Header: about}} {
			if got := s.agent.handle(r); got != nil {
				t.Fatalf("%T is answered %+v", r, got)
			}
		}
	}
	if n := s.log.Len(); n > 2000 {
		t.Errorf("%d bytes are logged", n)
	}
}

// TestDamagedProposalIsRejected: a long proposal that waits, whose file is damaged, is shown,
// cannot be approved, and goes when its operator says so; after a restart a short one does, too.
func TestDamagedProposalIsRejected(t *testing.T) {
	for columns, restart := range map[int]bool{testColumns: true, 12_000: false} {
		c := newWide(t, columns, func(j int) proposal.Column { return proposal.Column{Name: fmt.Sprintf("c%d", j), Scale: 1} })
		s, id := c.sites[0], c.plan.Digest
		want[wire.Decision](s, wire.Proposal{Body: bytes.Clone(c.body)})
		heap()
		files, err := filepath.Glob(filepath.Join(s.config.DataDir(), "pending", "*"))
		if err != nil || len(files) != 1 || os.WriteFile(files[0], []byte("x"), 0o600) != nil {
			t.Fatal(files, err)
		}
		if restart {
			s.restart()
		}
		if v := s.agent.Views.View(id); v.State != statePending {
			t.Errorf("%+v", v)
		}
		must.As[*proposal.UnknownError](t, s.agent.Decisions.Approve(id))
		if err := s.agent.Decisions.Reject(id); err != nil || s.agent.pending.Has(id) {
			t.Errorf("%d columns: %v, and it waits: %t", columns, err, s.agent.pending.Has(id))
		}
	}
}

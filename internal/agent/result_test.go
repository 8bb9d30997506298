package agent

import (
	"errors"
	"testing"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/wire"
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

// TestHeldHasThePin: what is on record of a study tells which rows it used, after it is over too.
func TestHeldHasThePin(t *testing.T) {
	f := newStandIn(t, 3, autoPolicy, nil)
	s := f.sites[0]
	if h := s.agent.Views.Holds(f.plan.Digest); h.Data != (proposal.Digest{}) {
		t.Errorf("of no study %x", h.Data)
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: f.body}); d.Verdict != study.VerdictApproved {
		t.Fatalf("%+v", d)
	}
	approval, _ := s.agent.ledger.Approved(f.plan.Digest)
	if h := s.agent.Views.Holds(f.plan.Digest); approval.DataSHA256 == [32]byte{} || h.Data != approval.DataSHA256 {
		t.Errorf("%x, approved were %x", h.Data, approval.DataSHA256)
	}
	if err := s.agent.Decisions.Withdraw(f.plan.Digest); err != nil {
		t.Fatal(err)
	}
	if h := s.agent.Views.Holds(f.plan.Digest); h.Data != approval.DataSHA256 {
		t.Errorf("%x of a study that is over", h.Data)
	}
}

// TestRejectedHasNoCurve: a study that charges nothing does not look like one by zCDP, after which
// a budget would allow less.
func TestRejectedHasNoCurve(t *testing.T) {
	f := newStandIn(t, 3, `approve = "ask"`, nil)
	s := f.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: f.body})
	if v := s.agent.Views.View(f.plan.Digest); v.Curve != "gdp" {
		t.Errorf("pending: %q", v.Curve)
	}
	if err := s.agent.Decisions.Reject(f.plan.Digest); err != nil {
		t.Fatal(err)
	}
	if v := s.agent.Views.View(f.plan.Digest); v.State != "rejected" || v.Curve != "" {
		t.Errorf("%s: %q", v.State, v.Curve)
	}
}

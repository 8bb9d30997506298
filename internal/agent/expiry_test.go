package agent

import (
	"errors"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestExpiredProposal: by its own clock a site approves no expired proposal, whoever would approve
// it, and lists it as over.
func TestExpiredProposal(t *testing.T) {
	at := testNow.Add(time.Hour)
	for _, policy := range []string{`approve = "ask"`, autoPolicy} {
		c := newStandIn(t, 3, policy, func(s *proposal.Spec) { s.Expires = proposal.Expiry(at.Format(time.RFC3339)) })
		s, now := c.sites[0], at
		s.agent.now = func() time.Time { return now }
		if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictRejected || d.Code != study.CodeExpired || !c.signedBy(0, d) {
			t.Errorf("%s: answered %+v", policy, d)
		}
		if all, err := s.agent.Studies(); err != nil || len(all) != 1 || all[0].State != stateRefused || all[0].Code != string(study.CodeExpired) {
			t.Errorf("%s: listed as %+v, %v", policy, all, err)
		}
	}
	for name, look := range map[string]func(*standIn, *testSite) error{
		"list":    func(_ *standIn, s *testSite) error { _, err := s.agent.Studies(); return err },
		"status":  func(_ *standIn, s *testSite) error { _, err := s.agent.Status(); return err },
		"offered": func(c *standIn, s *testSite) error { want[wire.Decision](s, wire.Proposal{Body: c.body}); return nil },
		"approve": func(c *standIn, s *testSite) error {
			if err := s.agent.Approve(c.plan.Digest); err == nil {
				return errors.New("it is approved")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStandIn(t, 3, `approve = "ask"`, func(s *proposal.Spec) { s.Expires = proposal.Expiry(at.Format(time.RFC3339)) })
			s, now := c.sites[0], testNow
			s.agent.now = func() time.Time { return now }
			if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictPending {
				t.Fatalf("%+v", d)
			}
			if all, err := s.agent.Studies(); err != nil || len(all) != 1 || all[0].State != statePending || all[0].Expires == nil || !all[0].Expires.Equal(at) {
				t.Fatalf("before: %+v, %v", all, err)
			}
			now = at
			if err := look(c, s); err != nil {
				t.Fatal(err)
			}
			if s.agent.pending.Has(c.plan.Digest) {
				t.Error("it waits still")
			}
			all, err := s.agent.Studies()
			if err != nil || len(all) != 1 || all[0].State != stateEnded || all[0].Code != string(study.CodeExpired) || all[0].Why == "" {
				t.Errorf("after: %+v, %v", all, err)
			}
			mustErr[*ClosedError](t, s.agent.Approve(c.plan.Digest))
		})
	}
}

// TestExpiryIsOfApprovals: what was approved in time takes part after it.
func TestExpiryIsOfApprovals(t *testing.T) {
	at := testNow.Add(time.Hour)
	c := newStandIn(t, 3, `approve = "ask"`, func(s *proposal.Spec) { s.Expires = proposal.Expiry(at.Format(time.RFC3339)) })
	s, now := c.sites[0], testNow
	s.agent.now = func() time.Time { return now }
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	if err := s.agent.Approve(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	if v := s.agent.view(c.plan.Digest); v.Expires == nil {
		t.Error("an approved study does not say when it expires")
	}
	now = at.Add(time.Hour)
	if err := s.agent.Approve(c.plan.Digest); err != nil {
		t.Errorf("approved again: %v", err)
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictApproved {
		t.Errorf("asked again: %+v", d)
	}
	want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: c.plan.Digest}})
	if v := s.agent.view(c.plan.Digest); v.Expires != nil {
		t.Error("a study whose setup has begun expires")
	}
}

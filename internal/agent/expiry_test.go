package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
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
		if all, err := s.agent.Views.Studies(); err != nil || len(all) != 1 || all[0].State != stateRefused || all[0].Code != string(study.CodeExpired) {
			t.Errorf("%s: listed as %+v, %v", policy, all, err)
		}
	}
	for name, look := range map[string]func(*standIn, *testSite) error{
		"list":    func(_ *standIn, s *testSite) error { _, err := s.agent.Views.Studies(); return err },
		"status":  func(_ *standIn, s *testSite) error { _, err := s.agent.Views.Status(); return err },
		"offered": func(c *standIn, s *testSite) error { want[wire.Decision](s, wire.Proposal{Body: c.body}); return nil },
		"approve": func(c *standIn, s *testSite) error {
			if err := s.agent.Decisions.Approve(c.plan.Digest); err == nil {
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
			if all, err := s.agent.Views.Studies(); err != nil || len(all) != 1 || all[0].State != statePending || all[0].Expires == nil || !all[0].Expires.Equal(at) {
				t.Fatalf("before: %+v, %v", all, err)
			}
			now = at
			if err := look(c, s); err != nil {
				t.Fatal(err)
			}
			if s.agent.pending.Has(c.plan.Digest) {
				t.Error("it waits still")
			}
			all, err := s.agent.Views.Studies()
			if err != nil || len(all) != 1 || all[0].State != stateEnded || all[0].Code != string(study.CodeExpired) || all[0].Why == "" {
				t.Errorf("after: %+v, %v", all, err)
			}
			must.As[*ClosedError](t, s.agent.Decisions.Approve(c.plan.Digest))
		})
	}
}

// TestExpiryBeforeTheFirstSum: R15. An approval expires by the site's own clock, at the proposal's
// expires or after 30 days, until the site's first sum is charged, and no longer: what it reserved
// is free, and the digest is refused for good, whatever the coordinator asks, after a crash and
// with the clock put back. Once the setup has begun here the site leaves.
func TestExpiryBeforeTheFirstSum(t *testing.T) {
	at := testNow.Add(time.Hour)
	for name, c := range map[string]struct {
		expires string
		begin   func(*standIn)
		lapses  func(*standIn, *testSite)
		code    study.Code // what the study is refused with; none where it goes on
	}{
		"at expires":         {at.Format(time.RFC3339), nil, nil, study.CodeExpired},
		"after 30 days":      {"", nil, nil, study.CodeExpired},
		"after 90 days":      {"9999-12-31T23:59:59Z", nil, nil, study.CodeExpired},
		"when shown":         {"", nil, func(_ *standIn, s *testSite) { s.agent.Views.Studies() }, study.CodeExpired},
		"when approved":      {"", nil, func(c *standIn, s *testSite) { s.agent.Decisions.Approve(c.plan.Digest) }, study.CodeExpired},
		"when begun late":    {"", nil, func(c *standIn, s *testSite) { s.ask(wire.Announce{Header: wire.Header{Study: c.plan.Digest}}) }, study.CodeExpired},
		"in the setup":       {"", func(c *standIn) { c.prepare() }, nil, study.CodeLeft},
		"at the first query": {"", func(c *standIn) { c.prepare(); c.confirm() }, func(c *standIn, s *testSite) { refused(s, c.query(0, 0, c.plan.Start().X), study.CodeLeft) }, study.CodeLeft},
		"after the first sum": {at.Format(time.RFC3339), func(c *standIn) {
			c.prepare()
			c.confirm()
			want[wire.Upload](c.sites[0], c.query(0, 0, c.plan.Start().X))
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.Expires = proposal.Expiry(c.expires) })
			s, id, now := in.sites[0], in.plan.Digest, testNow
			clock := func() time.Time { return now }
			s.agent.now = clock
			in.approve()
			if c.begin != nil {
				c.begin(in)
			}
			until := at
			switch c.expires {
			case "":
				until = testNow.Add(unbegun)
			case "9999-12-31T23:59:59Z": // which no honest coordinator proposes
				until = testNow.Add(proposal.MaxExpiry)
			}
			if v := s.agent.Views.View(id); (v.Expires == nil) != (c.code == "") || v.Expires != nil && !v.Expires.Equal(until) {
				t.Errorf("before: it expires at %v", v.Expires)
			}
			now = until.Add(-time.Second)
			if err := s.agent.expiry.sweep(); err != nil {
				t.Fatal(err)
			}
			if d := want[wire.Decision](s, wire.Proposal{Body: in.body}); d.Verdict != study.VerdictApproved {
				t.Fatalf("a second before: %+v", d)
			}
			now = until
			var posted []wire.Message
			s.agent.post = func(m wire.Message) { posted = append(posted, m) }
			if c.lapses == nil {
				if err := s.agent.expiry.sweep(); err != nil {
					t.Fatal(err)
				}
				if want := min(1, len(c.code)); len(posted) != want {
					t.Errorf("the coordinator is told %+v", posted)
				}
			} else {
				c.lapses(in, s)
			}
			if c.code == "" {
				if d := want[wire.Decision](s, wire.Proposal{Body: in.body}); d.Verdict != study.VerdictApproved {
					t.Errorf("after the first sum: %+v", d)
				}
				return
			}
			for _, when := range []string{"at once", "after a crash, with the clock put back"} {
				if p := s.agent.Views.Ledger().Populations[0]; p.ReservedRho != 0 || p.SpentRho != 0 {
					t.Errorf("%s: %+v is not free", when, p)
				}
				if d := want[wire.Decision](s, wire.Proposal{Body: in.body}); d.Verdict != study.VerdictRejected || d.Code != c.code || !in.signedBy(0, d) {
					t.Errorf("%s: it is answered %+v", when, d)
				}
				announce := wire.Announce{Header: wire.Header{Study: id}}
				if c.code == study.CodeExpired {
					if d := want[wire.Decision](s, announce); d.Verdict != study.VerdictRejected || d.Code != c.code || !in.signedBy(0, d) {
						t.Errorf("%s: a setup is answered %+v", when, d)
					}
				} else {
					refused(s, announce, c.code)
				}
				refused(s, wire.Query{Study: id}, study.CodeLeft)
				if err := s.agent.Decisions.Approve(id); err == nil {
					t.Errorf("%s: the operator can approve it", when)
				}
				all, err := s.agent.Views.Studies()
				if err != nil || len(all) != 1 || all[0].State != string(ledger.Finished) || all[0].Code != string(c.code) || !strings.Contains(all[0].Why, " by this machine's clock") {
					t.Errorf("%s: listed as %+v, %v", when, all, err)
				}
				s.restart() // whose clock is testNow
			}
		})
	}
}

// TestExpiredReservesNothing: what has expired is free for the next study, before anybody looks.
func TestExpiredReservesNothing(t *testing.T) {
	at := testNow.Add(time.Hour)
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.Expires = proposal.Expiry(at.Format(time.RFC3339)) })
	s, now := c.sites[0], testNow
	s.agent.now = func() time.Time { return now }
	c.approve()
	next := c.plan.Proposal.Spec
	next.Expires = ""
	body, err := proposal.Propose(next, c.plan.Proposal.Roster, c.key.Public().(ed25519.PublicKey), [32]byte{7})
	if err != nil {
		t.Fatal(err)
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: body}); d.Code != study.CodeBudget {
		t.Fatalf("beside one that is approved: %+v", d)
	}
	now = at
	if d := want[wire.Decision](s, wire.Proposal{Body: body}); d.Verdict != study.VerdictApproved {
		t.Errorf("after that expired: %+v", d)
	}
}

// TestAgentLooksForWhatExpired: nobody need look.
func TestAgentLooksForWhatExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newStandIn(t, 3, autoPolicy, nil)
		s, began := c.sites[0], time.Now()
		s.agent.now = func() time.Time { return testNow.Add(time.Since(began)) }
		c.approve()
		var told []time.Duration
		s.agent.post = func(wire.Message) { told = append(told, time.Since(began)) }
		ctx, end := context.WithCancel(t.Context())
		s.agent.work.Go(func() { s.agent.expiry.run(ctx) })
		time.Sleep(2 * unbegun)
		end()
		s.agent.work.Wait()
		if len(told) != 1 || told[0] < unbegun || told[0] > unbegun+lapseEvery {
			t.Errorf("the coordinator is told after %v", told)
		}
	})
}

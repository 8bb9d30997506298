package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/responder"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestRefusedStaysInView: what was refused or decided is listed with its reason after a restart,
// shows what was asked, and takes no decision.
func TestRefusedStaysInView(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		change       func(*standIn)
		end          func(*standIn, *testSite) error
		state        string
		code         study.Code
		why          string
		shows        bool // the proposal
	}{
		{"by its unit", autoPolicy, func(c *standIn) { c.plan.Proposal.Spec.Unit = "patient" }, nil, stateRefused, study.CodeUnit, `the study's unit is "patient", that of data set "rows" "", where "" is a row. Once unit`, true},
		{"by its columns", autoPolicy, func(c *standIn) { c.plan.Proposal.Spec.Columns[1].Name = "absent" }, nil, stateRefused, study.CodeColumns, `column "absent"`, true},
		{"by the policy", autoPolicy + `outside = "reject"`, func(c *standIn) { c.plan.Proposal.Spec.Epsilon = 1.2 }, nil, stateRefused, study.CodeRejected, "max_epsilon: ε = 1.2 is outside 1", true},
		{"by the budget", autoPolicy, func(c *standIn) { c.plan.Proposal.Spec.Epsilon = 9 }, nil, stateRefused, study.CodeBudget, `of 0.0455349 there is 0.0455349 left: at δ = 1e-06 a study of epsilon = 1.3 would fit; or set budget.epsilon to at least 9 in agent.toml, and run: agent reload. This proposal is over here: the study must be proposed again`, true},
		{"by the operator", `approve = "ask"`, nil, func(c *standIn, s *testSite) error { return s.agent.Decisions.Reject(c.plan.Digest) }, string(ledger.Rejected), "", "", true},
		{"by the coordinator", `approve = "ask"`, nil, func(c *standIn, s *testSite) error {
			s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
			return nil
		}, stateEnded, study.CodeAborted, "the coordinator says that its operator ended it", true},
		{"after the approval", autoPolicy, nil, func(c *standIn, s *testSite) error {
			s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
			return nil
		}, string(ledger.Finished), study.CodeAborted, "the coordinator says that", true},
		{"by another site", autoPolicy, nil, func(c *standIn, s *testSite) error {
			s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeRejected})
			return nil
		}, string(ledger.Finished), study.CodeRejected, "another site rejected it", true},
		{"by a fault", autoPolicy, nil, func(c *standIn, s *testSite) error {
			s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeBadDealer})
			return nil
		}, string(ledger.Finished), study.CodeBadDealer, "docs/errors.md explains bad_dealer", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newStandIn(t, 3, c.policy, nil)
			if c.change != nil {
				c.change(f)
				f.propose(f.plan.Proposal.Spec, f.plan.Proposal.Roster)
			}
			s := f.sites[0]
			want[wire.Decision](s, wire.Proposal{Body: f.body})
			if c.end != nil {
				if err := c.end(f, s); err != nil {
					t.Fatal(err)
				}
			}
			s.restart()
			all, err := s.agent.Views.Studies()
			if err != nil || len(all) != 1 {
				t.Fatalf("studies %+v, %v", all, err)
			}
			v := all[0]
			if v.Digest != f.plan.Digest || v.Name != "test" || v.State != c.state || v.Code != string(c.code) || !strings.Contains(v.Why, c.why) || c.why != "" && v.Why == "" || v.Time == nil {
				t.Errorf("listed as %+v", v)
			}
			if planned := c.code != study.CodeUnit && c.code != study.CodeColumns; planned && (v.Population != "people" || v.Rho != f.plan.Rho) {
				t.Errorf("listed with population %q and ρ = %v", v.Population, v.Rho)
			}
			for _, e := range s.agent.Views.Ledger().Studies {
				if e.State == string(ledger.Rejected) && (e.Rho != 0 || e.Population != "") {
					t.Errorf("on the ledger as %+v", e)
				}
			}
			d, err := s.agent.Views.Study(f.plan.Digest)
			if err != nil || (d.Plan != nil) != c.shows || len(d.Roster) != 3 || len(d.Leaves) == 0 || len(d.Policy) == 0 || d.Budget != nil {
				t.Errorf("shown as %+v, %v", d, err)
			}
			if st, err := s.agent.Views.Status(); err != nil || st.Pending != 0 {
				t.Errorf("status %+v, %v", st, err)
			}
			if err := s.agent.Decisions.Approve(f.plan.Digest); err == nil {
				t.Error("it is approved")
			}
		})
	}
}

// TestNamesMeanWhatIsOpen: a name that older studies had, too, means the one that a decision can be
// made of.
func TestNamesMeanWhatIsOpen(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
	c.plan.Proposal.Spec.Rounds++
	c.propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster)
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	if id, err := s.agent.Views.Find("test"); err != nil || id != c.plan.Digest {
		t.Errorf("%v, %v", id, err)
	}
}

// TestNewestFirst: what the ledger has and what it has not are listed as they ended.
func TestNewestFirst(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	now := testNow
	s.agent.now = func() time.Time { now = now.Add(time.Second); return now }
	var ended []proposal.Digest
	for _, end := range []func() error{
		func() error { return s.agent.Decisions.Reject(c.plan.Digest) }, // on the ledger
		func() error {
			s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
			return nil
		},
	} {
		want[wire.Decision](s, wire.Proposal{Body: c.body})
		if err := end(); err != nil {
			t.Fatal(err)
		}
		ended = append([]proposal.Digest{c.plan.Digest}, ended...)
		c.plan.Proposal.Spec.Rounds++
		c.propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster)
	}
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	all, err := s.agent.Views.Studies()
	var listed []proposal.Digest
	for _, v := range all {
		listed = append(listed, v.Digest)
	}
	if expected := append([]proposal.Digest{c.plan.Digest}, ended...); err != nil || !slices.Equal(listed, expected) {
		t.Errorf("listed as %v, not %v: %v", listed, expected, err)
	}
}

// TestReopened: a proposal that was refused and is taken now is not listed as refused any more.
func TestReopened(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.Epsilon = 1.2 })
	s := c.sites[0]
	s.configured(autoPolicy, autoPolicy+"outside = \"reject\"\n")
	s.restart()
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictRejected {
		t.Fatalf("%+v", d)
	}
	body := c.body
	s.configured("outside = \"reject\"\n", "")
	s.restart()
	if d := want[wire.Decision](s, wire.Proposal{Body: body}); d.Verdict != study.VerdictPending {
		t.Fatalf("%+v", d)
	}
	all, err := s.agent.Views.Studies()
	if err != nil || len(all) != 1 || all[0].State != statePending || len(s.agent.endings.past.List()) != 0 {
		t.Errorf("pending: %+v, %v", all, err)
	}
	// and offered again, by a coordinator that was restored from a backup
	s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
	s.configured("max_epsilon = 1.0", "max_epsilon = 2.0")
	s.restart()
	if d := want[wire.Decision](s, wire.Proposal{Body: body}); d.Verdict != study.VerdictApproved {
		t.Fatalf("%+v", d)
	}
	if left := s.agent.endings.past.List(); len(left) != 0 {
		t.Errorf("approved: %v", left)
	}
}

// TestCrashBeforeTheRecord: a rejection that is on the ledger and was not put on record before a
// crash keeps its name.
func TestCrashBeforeTheRecord(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	if err := s.agent.ledger.Reject(c.plan.Digest, "operator", testNow); err != nil {
		t.Fatal(err)
	}
	s.restart()
	if all, err := s.agent.Views.Studies(); err != nil || len(all) != 1 || all[0].Name != "test" || all[0].State != string(ledger.Rejected) || all[0].Ended == nil {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestRolledBackSaysWhy in "study show" too, not in the log alone.
func TestRolledBackSaysWhy(t *testing.T) {
	c, s := approvedAt(t)
	if err := s.session(c).leave(responder.FoundFinal); err != nil {
		t.Fatal(err)
	}
	if d, err := s.agent.Views.Study(c.plan.Digest); err != nil || d.Code != string(study.CodeRolledBack) || !strings.Contains(d.Why, responder.FoundFinal) || d.Plan == nil {
		t.Errorf("%+v, %v", d, err)
	}
}

package agent

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// analystKey makes an analyst's key for tests, and its fingerprint.
func analystKey(seed byte) (ed25519.PrivateKey, string) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	return key, pki.Fingerprint(key.Public().(ed25519.PublicKey))
}

// offerBy is the stand-in's study as an analyst proposes it, changed by change.
func (c *standIn) offerBy(name string, key ed25519.PrivateKey, nonce byte, change func(*proposal.Spec)) (wire.Proposal, proposal.Digest) {
	c.t.Helper()
	spec := c.plan.Proposal.Spec
	spec.Name = fmt.Sprintf("test %d", nonce)
	if change != nil {
		change(&spec)
	}
	by := &proposal.Party{Name: name, Identity: proposal.Key(key.Public().(ed25519.PublicKey))}
	body, err := proposal.ProposeAs(by, spec, c.plan.Proposal.Roster, nil, c.key.Public().(ed25519.PublicKey), [32]byte{nonce})
	if err != nil {
		c.t.Fatal(err)
	}
	id := proposal.DigestOf(body)
	return wire.Proposal{Body: body, Signature: proposal.SignProposal(key, id)}, id
}

// ruleOf is what the policy says of a study by one rule.
func ruleOf(t *testing.T, a *Agent, id proposal.Digest, rule string) (has string, ok bool) {
	t.Helper()
	d, err := a.Views.Study(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Policy {
		if r.Rule == rule {
			return r.Study, r.OK
		}
	}
	return "", true
}

// TestOnlyListedAnalysts: R15. "within-limits" approves by itself what a listed analyst signed with
// the listed key, and of what nobody signed only where no analysts are listed.
func TestOnlyListedAnalysts(t *testing.T) {
	ada, print := analystKey(1)
	eve, _ := analystKey(2)
	listed := fmt.Sprintf("%sanalysts = { ada = { key = %q } }\n", autoPolicy, print)
	for name, c := range map[string]struct {
		policy, by string
		key        ed25519.PrivateKey
		approved   bool
		says       string
	}{
		"listed":          {listed, "ada", ada, true, `"ada"`},
		"another key":     {listed, "ada", eve, false, `"ada" with A DIFFERENT KEY`},
		"another name":    {listed, "eve", ada, false, `"eve", who is not listed`},
		"not listed":      {listed, "eve", eve, false, `"eve", who is not listed`},
		"nobody signed":   {listed, "", nil, false, "the coordinator's own machine"},
		"no list":         {autoPolicy, "ada", ada, false, `"ada", who is not listed`},
		"no list, nobody": {autoPolicy, "", nil, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := newStandIn(t, 3, c.policy, nil)
			s := in.sites[0]
			offer, id := wire.Proposal{Body: in.body}, in.plan.Digest
			if c.by != "" {
				offer, id = in.offerBy(c.by, c.key, 5, nil)
			}
			s.ask(offer)
			if _, approved := s.agent.ledger.Approved(id); approved != c.approved || s.agent.pending.Has(id) == c.approved {
				t.Errorf("approved: %v; it waits: %v", approved, s.agent.pending.Has(id))
			}
			if says, _ := ruleOf(t, s.agent, id, "analysts"); !strings.Contains(says, c.says) || (says == "") != (c.says == "") {
				t.Errorf("the policy says %q", says)
			}
			if d, err := s.agent.Views.Study(id); err != nil || (d.Analyst != nil) != (c.by != "") || c.by != "" && (d.Analyst.Name != c.by || d.Proposer == nil || d.Total == nil) {
				t.Errorf("%+v, %v", d.Analyst, err)
			}
		})
	}
}

// TestAnalystTotal: R15. What all studies of a key come to in a population is counted by its key,
// whatever name it goes by, and over restarts; beyond its limit the policy approves nothing more,
// and the operator may.
func TestAnalystTotal(t *testing.T) {
	ada, print := analystKey(1)
	bob, other := analystKey(2)
	policy := fmt.Sprintf("%sanalysts = { ada = { key = %q, max_epsilon_total = 1.1 }, bob = { key = %q } }\n", autoPolicy, print, other)
	c := newStandIn(t, 3, policy, nil)
	s := c.sites[0]
	epsilon := func(e float64) func(*proposal.Spec) { return func(s *proposal.Spec) { s.Epsilon = e } }
	approved := func(id proposal.Digest) bool { _, ok := s.agent.ledger.Approved(id); return ok }

	first, id := c.offerBy("ada", ada, 1, epsilon(1))
	s.ask(first)
	d, err := s.agent.Views.Study(id)
	if err != nil || !approved(id) || d.Total.Before != 0 || math.Abs(d.Total.After-1) > 0.1 || d.Total.Limit != 1.1 || !d.Total.Fits || d.Total.Delta != 1e-6 {
		t.Fatalf("the first: %+v, %v", d.Total, err)
	}
	s.restart()
	second, next := c.offerBy("ada", ada, 2, epsilon(0.5))
	s.ask(second)
	d, err = s.agent.Views.Study(next)
	if err != nil || approved(next) || !s.agent.pending.Has(next) || math.Abs(d.Total.Before-1) > 0.1 || d.Total.After < 1.1 || d.Total.Fits {
		t.Errorf("beyond the limit: %+v, %v", d.Total, err)
	}
	if says, ok := ruleOf(t, s.agent, next, "analysts.max_epsilon_total"); ok || !strings.Contains(says, "ε = ") {
		t.Errorf("the policy says %q", says)
	}
	// The same key under another name has had as much.
	renamed, third := c.offerBy("eve", ada, 3, epsilon(0.5))
	s.ask(renamed)
	if d, err := s.agent.Views.Study(third); err != nil || d.Total.Fits || d.Total.Limit != 1.1 {
		t.Errorf("by another name: %+v, %v", d.Total, err)
	}
	if err := s.agent.Decisions.Approve(next); err != nil {
		t.Errorf("the operator: %v", err)
	}
	// Another key has had nothing, and no limit but the budget.
	theirs, fourth := c.offerBy("bob", bob, 4, epsilon(0.2))
	s.ask(theirs)
	if d, err := s.agent.Views.Study(fourth); err != nil || !approved(fourth) || d.Total.Before != 0 || d.Total.Limit != 0 {
		t.Errorf("another analyst: %+v, %v", d.Total, err)
	}
	// Nor has ada's new key: the operator is told of the old one, whose studies the total leaves
	// out.
	const warned = "with another key ("
	if d, _ := s.agent.Views.Study(fourth); strings.Contains(strings.Join(d.Warnings, "\n"), warned) {
		t.Errorf("warned of bob's only key: %q", d.Warnings)
	}
	anew, fifth := c.offerBy("ada", bob, 5, epsilon(0.2))
	s.ask(anew)
	if d, err := s.agent.Views.Study(fifth); err != nil || !strings.Contains(strings.Join(d.Warnings, "\n"), warned+print+")") {
		t.Errorf("by a new key: %q, %v", d.Warnings, err)
	}
	// An export holds who proposed what, and a restored ledger counts it.
	for _, v := range s.agent.Views.Ledger().Studies {
		if v.Digest == id && (v.Proposer == nil || !bytes.Equal(v.Proposer.Identity, ada.Public().(ed25519.PublicKey))) {
			t.Errorf("exported as proposed by %+v", v.Proposer)
		}
	}
}

// TestAnalystTotalIsTheLedgers: two studies that are decided at the same time do not both pass.
func TestAnalystTotalIsTheLedgers(t *testing.T) {
	ada, print := analystKey(1)
	c := newStandIn(t, 3, fmt.Sprintf("%sanalysts = { ada = { key = %q, max_epsilon_total = 1.1 } }\n", autoPolicy, print), nil)
	s := c.sites[0]
	one, first := c.offerBy("ada", ada, 1, nil)
	two, second := c.offerBy("ada", ada, 2, func(s *proposal.Spec) { s.Epsilon = 0.6 })
	waiting, code, err := s.agent.sessions.parse(two.Body)
	if code != "" {
		t.Fatal(err)
	}
	waiting.mu.Lock()
	defer waiting.mu.Unlock()
	if rules := waiting.limits(waiting.under, waiting.dataset).Rules(); len(rules) == 0 || !rules[len(rules)-1].OK {
		t.Fatalf("%+v", rules)
	}
	s.ask(one) // in between
	if _, ok := s.agent.ledger.Approved(first); !ok {
		t.Fatal("the first is not approved")
	}
	if e := must.As[*ledger.BudgetError](t, waiting.approve(ledger.ByPolicy)); e.Proposer != "ada" {
		t.Errorf("%+v", e)
	}
	if _, ok := s.agent.ledger.Approved(second); ok {
		t.Error("both are approved")
	}
}

// TestListedLaterWaits: R21. A proposal that was left to the operator stays there when its analyst
// is listed by a new agent.toml; the next one of that analyst is let in.
func TestListedLaterWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ada, print := analystKey(1)
		c := newStandIn(t, 3, autoPolicy, nil)
		s := c.sites[0]
		first, id := c.offerBy("ada", ada, 1, nil)
		if d := want[wire.Decision](s, first); d.Verdict != study.VerdictPending {
			t.Fatalf("%+v", d)
		}
		s.words("max_epsilon = 1.0\n", fmt.Sprintf("max_epsilon = 1.0\nanalysts = { ada = { key = %q } }\n", print))
		if done, err := s.agent.Settings.Reload(false); err != nil || !slices.Equal(done.Changed, []string{"+policy.analysts.ada"}) {
			t.Fatalf("%+v, %v", done, err)
		}
		if d := want[wire.Decision](s, first); d.Verdict != study.VerdictPending {
			t.Errorf("after it was listed: %+v", d)
		}
		if says, ok := ruleOf(t, s.agent, id, "analysts"); !ok || says != `"ada"` {
			t.Errorf("the operator is shown %q", says)
		}
		second, next := c.offerBy("ada", ada, 2, nil)
		s.ask(second)
		if _, ok := s.agent.ledger.Approved(next); !ok {
			t.Error("the next one is not let in")
		}
	})
}

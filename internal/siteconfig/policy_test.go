package siteconfig

import (
	"crypto/ed25519"
	"errors"
	"math"
	"strings"
	"testing"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
)

// TestPolicyLimits takes a study at every limit, and beyond each by itself.
func TestPolicyLimits(t *testing.T) {
	key := func(i byte) proposal.Key {
		return proposal.Key(ed25519.NewKeyFromSeed(append(make([]byte, 31), i)).Public().(ed25519.PublicKey))
	}
	within := Policy{
		Approve: ApproveWithinLimits, MaxEpsilon: 1, MaxDelta: 1e-6, OnDropout: []string{proposal.DropoutWait}, MinSites: 3,
		Noise: []string{proposal.NoiseDistributed}, Columns: []string{"a", "b", "c"},
		Peers:    map[string]string{"s1": pki.Fingerprint([]byte(key(1))), "s2": pki.Fingerprint([]byte(key(2)))},
		Datasets: map[string]DatasetPolicy{"icu": {MaxEpsilon: 0.5, Columns: []string{"a"}}},
	}
	plan := func(change func(*proposal.Proposal)) *study.Plan {
		p := &study.Plan{}
		p.Proposal.Spec = proposal.Spec{Dataset: "ward", Epsilon: 1, Delta: 1e-6, OnDropout: proposal.DropoutWait, Noise: proposal.NoiseDistributed,
			Columns: []proposal.Column{{Name: "a"}, {Name: "b"}}}
		for i := range 3 {
			p.Proposal.Roster = append(p.Proposal.Roster, proposal.Member{Name: "s" + string(rune('0'+i)), Identity: key(byte(i))})
		}
		change(&p.Proposal)
		return p
	}
	same := func(*proposal.Proposal) {}
	if rules := within.Judge(plan(same), 0); len(Outside(rules)) != 0 || len(rules) != 7 {
		t.Fatalf("a study at the limits: %q", rules)
	}
	icu := func(p *proposal.Proposal) {
		p.Spec.Dataset, p.Spec.Epsilon, p.Spec.Columns = "icu", 0.5, p.Spec.Columns[:1]
	}
	if rules := within.Judge(plan(icu), 0); len(Outside(rules)) != 0 || len(rules) != 8 {
		t.Fatalf("a study at the data set's limits: %q", rules)
	}
	for _, c := range []struct {
		rule   string
		change func(*proposal.Proposal)
	}{
		{"max_epsilon", func(p *proposal.Proposal) { p.Spec.Epsilon = math.Nextafter(1, 2) }},
		{"max_epsilon", func(p *proposal.Proposal) { p.Spec.Epsilon = math.NaN() }},
		{"max_delta", func(p *proposal.Proposal) { p.Spec.Delta = 2e-6 }},
		{"on_dropout", func(p *proposal.Proposal) { p.Spec.OnDropout = proposal.DropoutContinue }},
		{"min_sites", func(p *proposal.Proposal) { p.Roster = p.Roster[:2] }},
		{"noise", func(p *proposal.Proposal) { p.Spec.Noise = proposal.NoiseCentral }},
		{"central_detail", func(p *proposal.Proposal) { p.Spec.CentralDetail = true }},
		{"picture_by_site", func(p *proposal.Proposal) { p.Spec.PictureBy = proposal.PictureBySite }},
		{"columns", func(p *proposal.Proposal) { p.Spec.Columns[1].Name = "secret" }},
		{"peers", func(p *proposal.Proposal) { p.Roster[2].Identity = key(9) }},
		{"peers", func(p *proposal.Proposal) { p.Roster[2].Name = "s1"; p.Roster[1].Name = "s2" }},
		{"peers", func(p *proposal.Proposal) { p.Roster = append(p.Roster, proposal.Member{Name: "s3", Identity: key(3)}) }},
		{"dataset.icu.max_epsilon", func(p *proposal.Proposal) { icu(p); p.Spec.Epsilon = 0.6 }},
		{"dataset.icu.columns", func(p *proposal.Proposal) { p.Spec.Dataset, p.Spec.Epsilon = "icu", 0.5 }},
	} {
		if out := Outside(within.Judge(plan(c.change), 0)); len(out) != 1 || out[0].Rule != c.rule {
			t.Errorf("%s: outside of %q, want that limit alone", c.rule, out)
		}
	}
	allows := within
	allows.PictureBySite = true
	bySite := plan(func(p *proposal.Proposal) { p.Spec.PictureBy = proposal.PictureBySite })
	if rules := allows.Judge(bySite, 0); len(Outside(rules)) != 0 {
		t.Errorf("a policy that allows pictures of this site: %q", rules)
	}
	// Nobody may approve them without the key.
	if allows.Refuses(bySite.Proposal) != nil || within.Refuses(bySite.Proposal) == nil || within.Refuses(plan(same).Proposal) != nil {
		t.Error("pictures of this site are refused by the wrong policy")
	}
	ask := Policy{Approve: ApproveAsk, MinSites: 3}
	signed := func(p *proposal.Proposal) { p.Proposer = &proposal.Party{Name: "ada", Identity: key(8)} }
	for _, change := range []func(*proposal.Proposal){same, signed} {
		if out := Outside(ask.Judge(plan(change), 0)); len(out) != 1 || !out[0].Asks() {
			t.Errorf(`approve = "ask" says %v of a study within all limits`, out)
		}
	}
	ask.Analysts = map[string]Analyst{"bob": {Key: pki.Fingerprint([]byte(key(9)))}}
	if out := Outside(ask.Judge(plan(signed), 0)); len(out) != 2 || out[1].Rule != "analysts" || out[1].Asks() {
		t.Errorf("of an analyst who is not listed: %v", out)
	}
}

// TestLimitsThatLimitNothing: a list without entries, and a limit of 0, decode like those that are
// not given, and would let in what they seem to keep out.
func TestLimitsThatLimitNothing(t *testing.T) {
	budgets := strings.Replace(goodConfig, "cap_rho = 0.25", "budget = { epsilon = 3.0, delta = 1e-6 }", 1)
	const ada = `ada = { key = "abcd-efgh-ijkl-mnop-qrst-uvwx"`
	for _, c := range []struct{ lines, key string }{
		{"[policy.dictionary]\n", "policy.dictionary"},
		{"[policy.dictionary]\n[policy.dictionary.age]\n", ""}, // which lists a column
		{"dictionary = {}\n", "policy.dictionary"},
		{"[policy.Dictionary]\n", "policy.dictionary"}, // the decoder takes any case of letters
		{"[policy.Dataset.rows]\nMax_Epsilon = 0\n", "policy.dataset.rows.max_epsilon"},
		{"coordinator_key = \"\"\n", "policy.coordinator_key"},
		{"[policy.dataset.rows]\n[policy.dataset.rows.dictionary]\n", "policy.dataset.rows.dictionary"},
		{"[policy.dataset.rows]\nmax_epsilon = 0\n", "policy.dataset.rows.max_epsilon"},
		{"[policy.dataset.rows]\nmax_epsilon = -0.0\n", "policy.dataset.rows.max_epsilon"},
		{"[policy.analysts]\n" + ada + ", max_epsilon_total = 0.0 }\n", "policy.analysts.ada.max_epsilon_total"},
		{"[policy.dictionary]\nage = {}\n[policy.dataset.rows]\nmax_epsilon = 0.5\n[policy.analysts]\n" + ada + ", max_epsilon_total = 1.0 }\n", ""},
		{"[policy.dataset.rows]\n", ""},
	} {
		config, err := Parse([]byte(budgets+c.lines), "/site/agent.toml")
		bad, _ := errors.AsType[*Error](err)
		if c.key == "" && err != nil || c.key != "" && (bad == nil || bad.Key != c.key || !strings.Contains(bad.Reason, "leave it out")) {
			t.Errorf("%q: %v", c.lines, err)
		}
		if err == nil && strings.Contains(c.lines, "age") && len(config.Policy.Dictionary) != 1 {
			t.Errorf("%q lists %v", c.lines, config.Policy.Dictionary)
		}
	}
}

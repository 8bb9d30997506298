package siteconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/must"
	"covey/test/runs"
	"covey/test/texts"
)

// TestAttackSybilWithinLimits: a policy that approves by itself approves no study with a site that
// its operator did not list, and none with central noise unless that is written; a configuration
// that would is refused.
func TestAttackSybilWithinLimits(t *testing.T) {
	const listed = "peers = { beta = \"abcd-efgh-ijkl-mnop-qrst-uvwx\" }\n"
	text := strings.Replace(goodConfig, listed, "", 1)
	if text == goodConfig {
		t.Fatal("the configuration lists no peers")
	}
	for _, p := range []string{"", "peers = {}\n"} {
		_, err := Parse([]byte(text+p), File)
		if at, ok := errors.AsType[*Error](err); !ok || at.Key != "policy.peers" || !strings.Contains(at.Reason, "FINGERPRINT") {
			t.Errorf("%q: %v", p, err)
		}
	}
	config, err := Parse([]byte(goodConfig), File)
	if err != nil {
		t.Fatal(err)
	}
	// This site and two made-up ones, of the listed name or not.
	plan := &study.Plan{}
	plan.Proposal.Spec = proposal.Spec{Epsilon: 1, Delta: 1e-6, Noise: proposal.NoiseCentral, OnDropout: proposal.DropoutWait}
	for i, name := range []string{"alpha", "beta", "gamma"} {
		plan.Proposal.Roster = append(plan.Proposal.Roster, proposal.Member{Name: name, Identity: proposal.Key(make([]byte, 32))})
		plan.Proposal.Roster[i].Identity[0] = byte(i)
	}
	rules := Outside(config.Policy.Judge(plan, 0))
	var names []string
	for _, r := range rules {
		names = append(names, r.Rule)
	}
	if !slices.Equal(names, []string{"noise", "peers"}) {
		t.Errorf("a study of made-up sites with central noise is outside of %q", names)
	}
	if words := config.Policy.Unattended(); !strings.Contains(words, `"beta"`) || !strings.Contains(words, "any number of studies") || !strings.Contains(words, "nobody sees an exact sum") {
		t.Errorf("the policy in words: %s", words)
	}
	config.Policy.Noise = []string{proposal.NoiseCentral}
	if words := config.Policy.Unattended(); !strings.Contains(words, "exact sums") || !strings.Contains(words, "differ by a row or a site") {
		t.Errorf("the policy in words: %s", words)
	}
}

// TestAttackFewOfManyPeers: a proposer picks this site and two colluding ones among the nine peers
// of a policy. The coordinator and these two then read this site's sum with half of the noise,
// where among ten sites three may collude. The policy in words says how few the smallest study
// withstands.
func TestAttackFewOfManyPeers(t *testing.T) {
	roster := texts.Roster(9000, 9000, 9000)
	plan := runs.PlanOf(t, must.Get(proposal.ParseSpec([]byte(texts.Studies["distributed"])))(t), 9000, 9000, 9000)
	if own := must.Get(plan.Noise.Share(1<<50))(t).Variance() / 0x1p80; plan.Thresholds.Corrupt != 0 || own < 0.5 || own > 0.501 {
		t.Fatalf("%d sites may collude, and a site's own share is %g of σ²", plan.Thresholds.Corrupt, own)
	}
	for _, c := range []struct {
		sites, corrupt int
		says           string
		approved       bool
	}{
		{0, 0, "one of 3 sites withstands none that colludes", true},
		{0, 1, "no more than 1 sites that collude", false},
		{7, 0, "one of 7 sites withstands 2 that collude", false},
	} {
		p := Policy{Approve: ApproveWithinLimits, MaxEpsilon: 1, MaxDelta: 1e-6, MinSites: c.sites, MinCorrupt: c.corrupt, Peers: map[string]string{}}
		for i := range 7 {
			p.Peers[fmt.Sprintf("peer-%d", i)] = pki.Fingerprint(fmt.Append(nil, i))
		}
		for _, m := range roster[1:] {
			p.Peers[m.Name] = pki.Fingerprint([]byte(m.Identity))
		}
		if err := p.check(&Config{}); err != nil {
			t.Fatal(err)
		}
		if rules := Outside(p.Judge(plan, 0)); (len(rules) == 0) != c.approved {
			t.Errorf("at least %d sites, %d corrupt: outside %v", c.sites, c.corrupt, rules)
		}
		if words := p.Unattended(); !strings.Contains(words, c.says) {
			t.Errorf("at least %d sites, %d corrupt: %s", c.sites, c.corrupt, words)
		}
	}
}

// TestAttackFewCorrupt: a proposer who lowers η, so that the leader and two of ten sites open
// single sites' sums where by default it takes four, needs each site's operator. One who raises it
// does not.
func TestAttackFewCorrupt(t *testing.T) {
	within := Policy{Approve: ApproveWithinLimits, MaxEpsilon: 1, MaxDelta: 1e-6, MinSites: 3}
	for _, c := range []struct {
		sites, corrupt, least int
		ok                    bool
	}{
		{10, 0, 0, true}, {10, 1, 0, false}, {10, 2, 0, false}, {10, 3, 0, true}, {10, 5, 0, true}, {4, 1, 0, true}, {3, 1, 0, true},
		{64, 20, 0, false}, {1000, 1, 0, false}, {1000, 20, 20, true}, {1000, 19, 20, false}, {10, 0, 3, true}, {10, 0, 4, false},
	} {
		within.MinCorrupt = c.least
		plan := &study.Plan{}
		plan.Proposal.Spec = proposal.Spec{Epsilon: 1, Delta: 1e-6, Noise: proposal.NoiseDistributed, OnDropout: proposal.DropoutContinue, Corrupt: c.corrupt}
		plan.Proposal.Roster = make([]proposal.Member, c.sites)
		var names []string
		for _, r := range Outside(within.Judge(plan, 0)) {
			names = append(names, r.Rule)
		}
		if want := []string{"min_corrupt"}; c.ok && names != nil || !c.ok && !slices.Equal(names, want) {
			t.Errorf("corrupt = %d of %d sites is outside of %q", c.corrupt, c.sites, names)
		}
	}
}

// TestAttackPolicyPrefersCentral: with a policy's defaults a study with distributed noise, which
// goes on over drop-outs, is no worse than one with central noise that waits. Where on_dropout is
// written it is kept to the letter.
func TestAttackPolicyPrefersCentral(t *testing.T) {
	for _, c := range []struct {
		noise, dropout string
		allowed        []string
		want           bool
	}{
		{proposal.NoiseDistributed, proposal.DropoutContinue, nil, true},
		{proposal.NoiseDistributed, proposal.DropoutWait, nil, true},
		{proposal.NoiseCentral, proposal.DropoutWait, nil, true},
		{proposal.NoiseCentral, proposal.DropoutContinue, nil, false},
		{proposal.NoiseDistributed, proposal.DropoutContinue, []string{proposal.DropoutWait}, false},
		{proposal.NoiseCentral, proposal.DropoutContinue, []string{proposal.DropoutContinue}, true},
	} {
		p := &study.Plan{}
		p.Proposal.Spec = proposal.Spec{Noise: c.noise, OnDropout: c.dropout}
		policy := Policy{OnDropout: c.allowed}
		for _, r := range policy.Judge(p, 0) {
			if r.Rule == "on_dropout" && r.OK != c.want {
				t.Errorf("noise %q, on_dropout %q, allowed %q: %v", c.noise, c.dropout, c.allowed, r)
			}
		}
	}
}

// TestAttackOtherLeader: with coordinator_key the policy approves no study of another signing key,
// which a holder of the CA's key alone would have to use.
func TestAttackOtherLeader(t *testing.T) {
	ours, theirs := proposal.Key(make([]byte, 32)), append(proposal.Key{1}, make([]byte, 31)...)
	text := strings.Replace(goodConfig, "[policy]\n", "[policy]\ncoordinator_key = \""+pki.Fingerprint([]byte(ours))+"\"\n", 1)
	config, err := Parse([]byte(text), File)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key    proposal.Key
		within bool
	}{{ours, true}, {theirs, false}} {
		plan := &study.Plan{}
		plan.Proposal.Coordinator = c.key
		rules := config.Policy.Judge(plan, 0)
		at := slices.IndexFunc(rules, func(r PolicyRule) bool { return r.Rule == "coordinator_key" })
		if at < 0 || rules[at].OK != c.within {
			t.Errorf("%x: %v", c.key[:1], rules)
		}
	}
	_, err = Parse([]byte(strings.Replace(text, pki.Fingerprint([]byte(ours)), "here", 1)), File)
	if at, ok := errors.AsType[*Error](err); !ok || at.Key != "policy.coordinator_key" {
		t.Errorf("a key that is no fingerprint: %v", err)
	}
}

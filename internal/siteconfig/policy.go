package siteconfig

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
)

// The values of Policy.Approve and Policy.Outside.
const (
	ApproveAsk          = "ask"
	ApproveWithinLimits = "within-limits"
	OutsideAsk          = "ask"
	OutsideReject       = "reject"
)

// MaxUnsigned is how many studies that nobody signed may be approved by a policy and not over. Each
// holds the site's rows, in memory or in a cache file, and may take next to nothing of a budget.
const MaxUnsigned = 20

// Policy says which studies the site approves without asking its operator: those within all limits
// below. One outside waits for the operator, or is rejected, as Outside says.
type Policy struct {
	// Approve is "ask" (the default: the operator decides every study) or
	// "within-limits" (studies within all limits below are approved at once).
	Approve string `toml:"approve,omitempty"`
	// Outside is "ask" (the default) or "reject": a study outside the limits is rejected at once.
	Outside string `toml:"outside,omitempty"`
	// MaxEpsilon and MaxDelta bound a study's own privacy parameters.
	MaxEpsilon float64 `toml:"max_epsilon,omitempty"`
	MaxDelta   float64 `toml:"max_delta,omitempty"`
	// OnDropout lists the allowed values of a study's on_dropout. If not given it is "wait", and
	// "continue" too where the study's noise is distributed: no exact sum is ever open there.
	OnDropout []string `toml:"on_dropout,omitempty"`
	// MinSites is the smallest roster. 3 if not given.
	MinSites int `toml:"min_sites,omitempty"`
	// MinCorrupt is the smallest η, the number of sites that may collude with the coordinator
	// before sums of single sites can be opened. If not given, ⌊(N-1)/3⌋ of N sites: a proposal
	// with fewer trusts more sites than an operator who does not read it would expect.
	MinCorrupt int `toml:"min_corrupt,omitempty"`
	// Noise lists the allowed values of a study's noise. If not given it is any, and with
	// "within-limits" ["distributed"]: with central noise the coordinator's leader sees exact sums.
	Noise []string `toml:"noise,omitempty"`
	// PictureBySite lets in studies with picture_by = "site", which show this site's scores by
	// themselves, noised. Without it they are refused, and not even the operator can approve them.
	PictureBySite bool `toml:"picture_by_site,omitempty"`
	// Columns are those that a study may use; any if not given.
	Columns []string `toml:"columns,omitempty"`
	// Dictionary is what the site agreed on for columns, by their names: a study may use those
	// alone, and must have equal what an entry names. Any columns if not given.
	Dictionary map[string]Entry `toml:"dictionary,omitempty"`
	// Peers are the other sites that may be in a roster, each with its key's fingerprint as its
	// operator read it to this one's; any if not given. "within-limits" needs them: who has the
	// CA's key can make up sites, and a sum over this site and made-up ones is this site's own.
	Peers map[string]string `toml:"peers,omitempty"`
	// CoordinatorKey is the fingerprint of the key that signs releases, as the coordinator's
	// operator read it to this site's; any key if not given. Who has the CA's key, and the way to
	// the sites, can pass for a coordinator, but has not this key.
	CoordinatorKey string `toml:"coordinator_key,omitempty"`
	// Analysts are those whose proposals may be approved without the operator, by name, each with
	// its key. If not given, no analyst's may be, but those of the coordinator's operator, which
	// nobody signs; if given, the operator's may not.
	Analysts map[string]Analyst `toml:"analysts,omitempty"`
	// QuantumSafeLinks makes the agent refuse a link to the coordinator whose key exchange is not
	// quantum-safe, before anything but the handshake's first message has left.
	QuantumSafeLinks bool `toml:"quantum_safe_links,omitempty"`
	// Datasets hold tighter limits for single data sets, by name.
	Datasets map[string]DatasetPolicy `toml:"dataset,omitempty"`
}

// DatasetPolicy has a data set's own limits, in addition to the policy's.
type DatasetPolicy struct {
	// MaxEpsilon bounds each study on it.
	MaxEpsilon float64 `toml:"max_epsilon,omitempty"`
	// Columns are those that a study may use, in place of the policy's.
	Columns []string `toml:"columns,omitempty"`
	// Dictionary is in place of the policy's.
	Dictionary map[string]Entry `toml:"dictionary,omitempty"`
}

// PolicyRule is what one limit says of one study.
type PolicyRule struct {
	Rule  string `json:"rule"`  // key of [policy]
	Limit string `json:"limit"` // as configured
	Study string `json:"study"` // what the study has
	OK    bool   `json:"ok"`
}

// asksAlways is the rule of a policy that asks about every study: it says nothing of this one.
var asksAlways = PolicyRule{Rule: "approve", Limit: `"ask"`, Study: "every study"}

// Asks reports whether the rule leaves every study to the operator.
func (r PolicyRule) Asks() bool { return r == asksAlways }

func (r PolicyRule) String() string {
	if r.OK {
		return fmt.Sprintf("%s: %s is within %s", r.Rule, r.Study, r.Limit)
	}
	return fmt.Sprintf("%s: %s is outside %s", r.Rule, r.Study, r.Limit)
}

var fingerprintForm = regexp.MustCompile(`^([a-z2-7]{4}-){5}[a-z2-7]{4}$`)

func (p *Policy) check(c *Config) error {
	p.Approve, p.Outside, p.MinSites = cmp.Or(p.Approve, ApproveAsk), cmp.Or(p.Outside, OutsideAsk), cmp.Or(p.MinSites, 3)
	if err := oneOf(c, "policy.on_dropout", p.OnDropout, proposal.DropoutWait, proposal.DropoutContinue); err != nil {
		return err
	}
	if err := oneOf(c, "policy.noise", p.Noise, proposal.NoiseCentral, proposal.NoiseDistributed); err != nil {
		return err
	}
	if err := p.checkLimits(c); err != nil {
		return err
	}
	if p.Approve == ApproveWithinLimits && p.Noise == nil {
		p.Noise = []string{proposal.NoiseDistributed}
	}
	for _, check := range []func(*Config) error{p.checkPeers, p.checkAnalysts, p.checkDatasets} {
		if err := check(c); err != nil {
			return err
		}
	}
	return c.checkDictionary("policy.dictionary", p.Dictionary)
}

// checkLimits checks what every study is held to, and that no policy approves without limits.
func (p *Policy) checkLimits(c *Config) error {
	within := p.Approve == ApproveWithinLimits
	switch {
	case p.MinSites < 2 || p.MinSites > proposal.MaxSites:
		return c.Errorf("policy.min_sites", "must be in 2..%d, got %d", proposal.MaxSites, p.MinSites)
	case p.MinCorrupt < 0 || p.MinCorrupt >= proposal.MaxSites:
		return c.Errorf("policy.min_corrupt", "must be in 1..%d, got %d", proposal.MaxSites-1, p.MinCorrupt)
	case p.Outside != OutsideAsk && p.Outside != OutsideReject:
		return c.Errorf("policy.outside", "must be %q or %q, got %q", OutsideAsk, OutsideReject, p.Outside)
	case p.Approve != ApproveAsk && !within:
		return c.Errorf("policy.approve", "must be %q or %q, got %q", ApproveAsk, ApproveWithinLimits, p.Approve)
	case !within && (p.MaxEpsilon != 0 || p.MaxDelta != 0 || p.Outside == OutsideReject):
		return c.Errorf("policy", `max_epsilon, max_delta and outside need approve = "within-limits"`)
	case within && (!(p.MaxEpsilon > 0) || math.IsInf(p.MaxEpsilon, 0)):
		return c.Errorf("policy.max_epsilon", "must be positive, got %v", p.MaxEpsilon)
	case within && !(p.MaxDelta > 0 && p.MaxDelta < 1):
		return c.Errorf("policy.max_delta", "must be in (0, 1), got %v", p.MaxDelta)
	case within && len(p.Peers) == 0:
		return c.Errorf("policy.peers", `is needed with approve = "within-limits": { NAME = "FINGERPRINT" } of each other site, as its operator read it to you`+
			` ("agent status" there shows it); without it a study of this site and made-up ones would be approved`)
	}
	return nil
}

// checkPeers checks the keys that other sites and the coordinator must have.
func (p *Policy) checkPeers(c *Config) error {
	for _, name := range slices.Sorted(maps.Keys(p.Peers)) {
		key := fmt.Sprintf("policy.peers.%s", name)
		if err := pki.ValidName(name); err != nil {
			return c.Errorf("policy.peers", "%v", err)
		}
		if !fingerprintForm.MatchString(p.Peers[name]) {
			return c.Errorf(key, "must be a fingerprint, six groups of four letters and digits, got %q", p.Peers[name])
		}
	}
	if p.CoordinatorKey != "" && !fingerprintForm.MatchString(p.CoordinatorKey) {
		return c.Errorf("policy.coordinator_key", "must be a fingerprint, six groups of four letters and digits, got %q", p.CoordinatorKey)
	}
	return nil
}

func (p *Policy) checkDatasets(c *Config) error {
	for _, name := range slices.Sorted(maps.Keys(p.Datasets)) {
		key := fmt.Sprintf("policy.dataset.%s", name)
		if _, ok := c.Dataset(name); !ok {
			return c.Errorf(key, "no [[dataset]] is named %q", name)
		}
		if e := p.Datasets[name].MaxEpsilon; !(e >= 0) || math.IsInf(e, 0) {
			return c.Errorf(key+".max_epsilon", "must be positive, got %v", e)
		}
		if err := c.checkDictionary(key+".dictionary", p.Datasets[name].Dictionary); err != nil {
			return err
		}
	}
	return nil
}

// checkGiven refuses limits that are given and decode like those that are not, which limit nothing:
// an empty list would let in any analyst or column, and a limit of 0 any epsilon.
func (p *Policy) checkGiven(c *Config, given map[string]bool) error {
	empty, zero := map[string]string{}, []string(nil)
	if len(p.Analysts) == 0 {
		empty["policy.analysts"] = "nobody: give NAME = { key = FINGERPRINT }"
	}
	const column = "no column: give NAME = { measure = ..., offset = ..., scale = ... }"
	if len(p.Dictionary) == 0 {
		empty["policy.dictionary"] = column
	}
	for name, own := range p.Datasets {
		if len(own.Dictionary) == 0 {
			empty["policy.dataset."+name+".dictionary"] = column
		}
		if own.MaxEpsilon == 0 {
			zero = append(zero, "policy.dataset."+name+".max_epsilon")
		}
	}
	for name, a := range p.Analysts {
		if a.MaxEpsilonTotal == 0 {
			zero = append(zero, "policy.analysts."+name+".max_epsilon_total")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(empty)) {
		if given[key] {
			return c.Errorf(key, "lists %s, or leave it out", empty[key])
		}
	}
	if key := "policy.coordinator_key"; p.CoordinatorKey == "" && given[key] {
		return c.Errorf(key, "must be a fingerprint, got an empty text; to allow any key, leave it out")
	}
	slices.Sort(zero)
	for _, key := range zero {
		if given[key] {
			return c.Errorf(key, `must be positive, got 0, which would be no limit: leave it out, or to let nothing in, use approve = "ask"`)
		}
	}
	return nil
}

func oneOf(c *Config, key string, given []string, allowed ...string) error {
	for i, v := range given {
		if !slices.Contains(allowed, v) {
			return c.Errorf(fmt.Sprintf("%s[%d]", key, i), "must be one of %q, got %q", allowed, v)
		}
	}
	return nil
}

// Judge reports of each limit whether a plan is within it; self is this site's place in the roster.
func (p *Policy) Judge(plan *study.Plan, self int) []PolicyRule {
	s := plan.Proposal.Spec
	own := p.Datasets[s.Dataset]
	var out []PolicyRule
	add := func(rule, limit, has string, ok bool) { out = append(out, PolicyRule{rule, limit, has, ok}) }
	if p.Approve == ApproveWithinLimits {
		add("max_epsilon", fmt.Sprintf("%g", p.MaxEpsilon), fmt.Sprintf("ε = %g", s.Epsilon), s.Epsilon <= p.MaxEpsilon)
		add("max_delta", fmt.Sprintf("%g", p.MaxDelta), fmt.Sprintf("δ = %g", s.Delta), s.Delta <= p.MaxDelta)
	} else {
		out = append(out, asksAlways)
	}
	if key := pki.Fingerprint([]byte(plan.Proposal.Coordinator)); p.CoordinatorKey != "" {
		add("coordinator_key", p.CoordinatorKey, key, key == p.CoordinatorKey)
	}
	if rule, applies := p.judgeProposer(plan.Proposal.Proposer); applies {
		out = append(out, rule)
	}
	if own.MaxEpsilon > 0 {
		add("dataset."+s.Dataset+".max_epsilon", fmt.Sprintf("%g", own.MaxEpsilon), fmt.Sprintf("ε = %g", s.Epsilon), s.Epsilon <= own.MaxEpsilon)
	}
	dropout, allowed := fmt.Sprintf("%q", p.OnDropout), slices.Contains(p.OnDropout, s.OnDropout)
	if p.OnDropout == nil {
		dropout, allowed = `"wait", or noise = "distributed"`, s.Waits() || s.Noise == proposal.NoiseDistributed
	}
	add("on_dropout", dropout, fmt.Sprintf("%q", s.OnDropout), allowed)
	n := len(plan.Proposal.Roster)
	add("min_sites", fmt.Sprint(p.MinSites), fmt.Sprintf("%d sites", n), n >= p.MinSites)
	if s.CentralDetail { // a person must read what the leader would
		add("central_detail", "not without the operator", "central_detail = true", false)
	}
	if s.Corrupt > 0 || p.MinCorrupt > 0 {
		usual := proposal.UsualCorrupt(n)
		least, eta := cmp.Or(p.MinCorrupt, usual), cmp.Or(s.Corrupt, usual)
		add("min_corrupt", fmt.Sprintf("%d of %d sites", least, n), fmt.Sprintf("corrupt = %d", eta), eta >= least)
	}
	if s.PictureBy == proposal.PictureBySite {
		add("picture_by_site", fmt.Sprint(p.PictureBySite), "it pictures each site by itself", p.PictureBySite)
	}
	if p.Noise != nil {
		add("noise", fmt.Sprintf("%q", p.Noise), fmt.Sprintf("%q", s.Noise), slices.Contains(p.Noise, s.Noise))
	}
	out = append(out, p.judgeColumns(s)...)
	if p.Peers != nil {
		var strange []string
		for i, m := range plan.Proposal.Roster {
			if i != self && p.Peers[m.Name] != pki.Fingerprint([]byte(m.Identity)) {
				strange = append(strange, m.Name)
			}
		}
		add("peers", fmt.Sprintf("the %d listed, by name and fingerprint", len(p.Peers)), named(strange, n-1, "peer"), len(strange) == 0)
	}
	return out
}

// judgeColumns reports whether a study's columns are those listed, and as the dictionary has them.
// What a data set has of its own is in place of the rest.
func (p *Policy) judgeColumns(s proposal.Spec) (out []PolicyRule) {
	own := p.Datasets[s.Dataset]
	add := func(rule, limit string, strange []string) {
		out = append(out, PolicyRule{rule, limit, named(strange, len(s.Columns), "column"), len(strange) == 0})
	}
	rule, columns := "columns", p.Columns
	if own.Columns != nil {
		rule, columns = "dataset."+s.Dataset+".columns", own.Columns
	}
	if columns != nil {
		var strange []string
		listed := map[string]bool{} // the proposer chooses how many columns are looked up
		for _, name := range columns {
			listed[name] = true
		}
		for _, c := range s.Columns {
			if !listed[c.Name] {
				strange = append(strange, c.Name)
			}
		}
		add(rule, fmt.Sprintf("the %d listed", len(columns)), strange)
	}
	rule, dictionary := "dictionary", p.Dictionary
	if own.Dictionary != nil {
		rule, dictionary = "dataset."+s.Dataset+".dictionary", own.Dictionary
	}
	if dictionary != nil {
		add(rule, fmt.Sprintf("the %d columns as agreed", len(dictionary)), unlike(dictionary, s.Columns))
	}
	return out
}

// Refuses returns why the policy refuses a proposal that nobody may approve here, nil if it does
// not.
func (p *Policy) Refuses(asked proposal.Proposal) error {
	if asked.Spec.PictureBy == proposal.PictureBySite && !p.PictureBySite {
		return errors.New(`it pictures each site by itself (picture_by = "site"), which this site's policy refuses without picture_by_site = true`)
	}
	return nil
}

// named tells of what is not listed, a few by name, or how many all are.
func named(strange []string, all int, what string) string {
	switch {
	case len(strange) == 0:
		return fmt.Sprintf("%d %ss", all, what)
	case len(strange) > 5:
		return fmt.Sprintf("%q and %d more", strange[:5], len(strange)-5)
	}
	return strings.Trim(fmt.Sprintf("%q", strange), "[]")
}

// Unattended says in words what the policy can let in without the operator.
func (p *Policy) Unattended() string {
	if p.Approve != ApproveWithinLimits {
		return "every study waits for the operator"
	}
	columns := "of any columns"
	if p.Columns != nil {
		columns = fmt.Sprintf("of the %d columns that are listed", len(p.Columns))
	}
	if p.Dictionary != nil {
		columns += fmt.Sprintf(", as the dictionary has them (%d)", len(p.Dictionary))
	}
	var own []string // in place of those
	for _, name := range slices.Sorted(maps.Keys(p.Datasets)) {
		if of := p.Datasets[name]; of.Columns != nil || of.Dictionary != nil {
			own = append(own, name)
		}
	}
	if own != nil {
		columns += fmt.Sprintf(", but on data sets with lists of their own (%s) of what those have", named(own, len(own), "data set"))
	}
	noise := "with distributed noise: nobody sees an exact sum"
	if slices.Contains(p.Noise, proposal.NoiseCentral) {
		noise = "central noise too: the coordinator's leader sees the exact sums of each, and two studies that differ by a row or a site reveal that row or that site"
	}
	from := fmt.Sprintf("proposed by the coordinator's own operator, without a signature (%d open at a time)", MaxUnsigned)
	if p.Analysts != nil {
		from = fmt.Sprintf("proposed and signed by a listed analyst (%s)", named(slices.Sorted(maps.Keys(p.Analysts)), len(p.Analysts), "analyst"))
	}
	corrupt, pictures := "", ""
	switch least := proposal.UsualCorrupt(p.MinSites); {
	case p.MinCorrupt > 0:
		corrupt = fmt.Sprintf("; it need withstand no more than %d sites that collude with the coordinator", p.MinCorrupt)
	case least == 0: // who proposes chooses the roster among the peers
		corrupt = fmt.Sprintf("; one of %d sites withstands none that colludes with the coordinator (min_corrupt = 1 lets in no such study)", p.MinSites)
	default:
		corrupt = fmt.Sprintf("; one of %d sites withstands %d that collude with the coordinator", p.MinSites, least)
	}
	if p.PictureBySite {
		pictures = "; this site may be pictured by itself, with noise"
	}
	return fmt.Sprintf("without the operator: any number of studies until a budget is spent, each %s, up to ε = %g and δ = %g, of at least %d sites, all of them listed (%s), %s, %s%s",
		from, p.MaxEpsilon, p.MaxDelta, p.MinSites, named(slices.Sorted(maps.Keys(p.Peers)), len(p.Peers), "peer"), columns, noise, corrupt+pictures)
}

// Outside returns the rules that a study does not keep; none means that the policy approves it.
func Outside(rules []PolicyRule) []PolicyRule {
	return slices.DeleteFunc(slices.Clone(rules), func(r PolicyRule) bool { return r.OK })
}

// Knows is what [policy.peers] has of a site, by its name and its key's fingerprint: "yes", "no",
// or "other key"; empty where there are no peers.
func (p *Policy) Knows(name, fingerprint string) string {
	pinned, listed := p.Peers[name]
	return knows(p.Peers != nil, listed, pinned, fingerprint)
}

func knows(any, listed bool, pinned, fingerprint string) string {
	switch {
	case !any:
		return ""
	case !listed:
		return "no"
	case pinned != fingerprint:
		return "other key"
	}
	return "yes"
}

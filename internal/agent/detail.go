package agent

import (
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"

	"covey/internal/egress"
	"covey/internal/ledger"
	"covey/internal/limits"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
	"covey/internal/terms"
	"covey/internal/uplink"
)

// StudyDetail is everything that an operator reads before approving.
type StudyDetail struct {
	StudyView
	Dataset string `json:"dataset,omitempty"`
	// Analyst is the proposer by what this site has of it, Total what its studies here come to;
	// nil of a proposal that nobody signed.
	Analyst *AnalystView  `json:"analyst,omitempty"`
	Total   *limits.Total `json:"analyst_total,omitempty"`
	// Readers are the analysts who may read the result besides the proposer, the coordinator and
	// the sites of the roster.
	Readers []AnalystView           `json:"readers,omitempty"`
	Privacy []string                `json:"privacy,omitempty"` // in plain words
	Learns  []terms.Learner         `json:"learns,omitempty"`  // who could learn what
	Leaves  []egress.Planned        `json:"leaves,omitempty"`
	Sent    map[string]egress.Count `json:"sent,omitempty"`
	Roster  []RosterLine            `json:"roster,omitempty"`
	// fingerprint: it signs what is released
	Key    string         `json:"coordinator_key,omitempty"`
	Budget *limits.Budget `json:"budget,omitempty"`
	// what each of the site's limits says of it
	Policy   []siteconfig.PolicyRule `json:"policy,omitempty"`
	Warnings []string                `json:"warnings,omitempty"`
	// Since says how the study differs from the last one of the same proposer that was approved
	// here; nil if there was none.
	Since *Since      `json:"since,omitempty"`
	Plan  *study.Plan `json:"plan,omitempty"`
	// Figures are of this site's own rows, for its operator alone; FiguresError is why there are
	// none. "study show" fills them in.
	Figures      *sitedata.Figures `json:"figures,omitempty"`
	FiguresError string            `json:"figures_error,omitempty"`
}

// RosterLine is one site of the roster.
type RosterLine struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
	Units       int    `json:"units"`
	Self        bool   `json:"self,omitempty"`
	// Known is what [policy.peers] says of it: "yes", "no", or "other key"; empty where there are
	// none.
	Known string `json:"known,omitempty"`
}

// Study returns everything about one study. If it is over, that is what the ledger keeps; the rest
// is there only if its proposal was kept, too.
func (vs *Views) Study(id proposal.Digest) (StudyDetail, error) {
	d := StudyDetail{StudyView: vs.View(id)}
	for _, e := range vs.a.egress.Snapshot().Studies {
		if e.Study == id {
			d.Sent = e.Sent
		}
	}
	s, code := vs.a.sessions.of(id)
	if _, over := vs.a.endings.past.Get(id); s == nil && over {
		if s = vs.shown(id); s == nil {
			return d, nil
		}
	}
	if s == nil {
		if _, ok := vs.a.ledger.Study(id); !ok && code == study.CodeUnknownStudy {
			return StudyDetail{}, &proposal.UnknownError{Ref: id.String()}
		}
		if code != study.CodeUnknownStudy {
			d.Code = string(code) // approved or pending, but not as configured now
		}
		return d, nil
	}
	if d.State == statePending {
		if _, code, _ := asked(vs.a.Settings.current.Load(), s.asks); code != "" {
			d.Code = string(code) // as above: not as agent.toml has it now
			return d, nil
		}
	}
	if d.State == statePending || d.State == string(ledger.Approved) {
		budget := s.limits(s.terms()).Budget()
		d.Budget = &budget
	}
	d.Plan, d.Dataset = s.plan, s.plan.Proposal.Spec.Dataset
	d.Privacy, d.Learns, d.Leaves, d.Warnings = terms.Privacy(s.plan), terms.Learners(s.plan), uplink.Planned(s.plan, s.self), s.plan.Warnings()
	if d.State == statePending {
		d.Warnings = append(d.Warnings, vs.again(s)...)
		d.Since = vs.since(s)
	}
	config, dataset := s.terms()
	policy := &config.Policy
	allowed := s.limits(config, dataset)
	d.Policy = allowed.Rules()
	if by := s.plan.Proposal.Proposer; by != nil {
		analyst := analystOf(policy, *by)
		d.Analyst, d.Total = &analyst, allowed.Total()
		d.Warnings = append(d.Warnings, allowed.OtherKeys()...)
	}
	for _, r := range s.plan.Proposal.Readers {
		d.Readers = append(d.Readers, analystOf(policy, r))
	}
	d.Key = pki.Fingerprint(ed25519.PublicKey(s.plan.Proposal.Coordinator))
	for i, m := range s.plan.Proposal.Roster {
		line := RosterLine{m.Name, pki.Fingerprint([]byte(m.Identity)), m.Units, i == s.self, ""}
		if i != s.self {
			line.Known = policy.Knows(line.Name, line.Fingerprint)
		}
		d.Roster = append(d.Roster, line)
	}
	return d, nil
}

// shown makes what is needed to show the proposal of a study that is over, nil if it is not kept: a
// site that refused it may have no place in its roster, or no data set of its name.
func (vs *Views) shown(id proposal.Digest) *session {
	body := vs.a.endings.past.Proposal(id)
	if body == nil {
		return nil
	}
	if s, _, _ := vs.a.sessions.parse(body); s != nil {
		return s
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		return nil
	}
	self := slices.IndexFunc(plan.Proposal.Roster, func(m proposal.Member) bool { return m.Name == vs.a.config.Site })
	if self < 0 {
		return nil
	}
	s := vs.a.sessions.bare(body, plan)
	s.self = self
	return s
}

// again warns of the completed studies that asked the same, and of what studies of the data set
// were charged to other budgets, as far as their proposals are kept; and of an older ledger.
func (vs *Views) again(s *session) []string {
	var same []string
	elsewhere, population := map[string]float64{}, s.population()
	for _, e := range vs.a.ledger.Studies() {
		before, err := vs.kept(e.Study)
		if err != nil || e.Study == s.plan.Digest {
			continue
		}
		if e.Code == string(study.CodeCompleted) && s.plan.Proposal.Again(before) {
			same = append(same, s.plan.AgainText(e.Study, e.Name))
		}
		if rho := e.SpentRho + e.ReservedRho; rho > 0 && e.Population != population && before.Spec.Dataset == s.plan.Proposal.Spec.Dataset {
			elsewhere[e.Population] += rho
		}
	}
	out := study.Again(same)
	if older := limits.Older(vs.a.strangers.beyond()); older != "" {
		out = append(out, older)
	}
	for _, name := range slices.Sorted(maps.Keys(elsewhere)) {
		out = append(out, fmt.Sprintf("this data set was charged ρ = %.4g of the budget of %q before, which that of %q does not count: if these are the same people, they can lose more than either allows", elsewhere[name], name, population))
	}
	return out
}

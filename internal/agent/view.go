package agent

import (
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"time"

	"covey/internal/chainwatch"
	"covey/internal/egress"
	"covey/internal/enroll"
	"covey/internal/holding"
	"covey/internal/ledger"
	"covey/internal/limits"
	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
	"covey/internal/terms"
	"covey/internal/uplink"
	"covey/internal/wire"
)

// Views are what the operator's page and commands ask an agent to show. They change nothing, but
// what has expired ends before it is shown.
type Views struct {
	a       *Agent
	figures figures
}

// Status is the agent at a glance.
type Status struct {
	Site        string `json:"site"`
	Identity    string `json:"identity"` // fingerprint of the site's key
	Linked      bool   `json:"linked"`
	Coordinator string `json:"coordinator,omitempty"` // the address linked to, or tried last
	LinkError   string `json:"link_error,omitempty"`
	// KeyExchange is the link's.
	KeyExchange pki.KeyExchange `json:"key_exchange,omitzero"`
	Expires     time.Time       `json:"certificate_expires"`
	DaysLeft    int             `json:"certificate_days_left"`
	Pending     int             `json:"pending"` // proposals that await the operator
	Approved    int             `json:"approved"`
	// Datasets are those that the site offers, and those of studies under way.
	Datasets []holding.Status `json:"datasets,omitempty"`
	Chain    chainwatch.View  `json:"chain,omitzero"`
}

// Status tells how the agent stands.
func (vs *Views) Status() (Status, error) {
	if err := vs.a.expiry.sweep(); err != nil {
		return Status{}, err
	}
	pending, err := vs.a.pending.List()
	if err != nil {
		return Status{}, err
	}
	leaf, datasets := vs.a.site.Certificate(), vs.Datasets(false)
	s := Status{Site: vs.a.config.Site, Identity: pki.Fingerprint(vs.a.identity.Public().(ed25519.PublicKey)),
		Expires: leaf.NotAfter, DaysLeft: pki.Expiry(leaf, vs.a.now()), Pending: len(pending), Approved: len(vs.a.ledger.Active()), Datasets: datasets}
	link := vs.a.uplink.Stands()
	s.Linked, s.Coordinator, s.KeyExchange, s.LinkError = link.Linked, link.Address, link.KeyExchange, enroll.Plain(link.Err)
	s.Chain, err = vs.a.Chain.View()
	return s, err
}

// StudyView is one study as listed.
type StudyView struct {
	Digest     proposal.Digest `json:"digest"`
	Name       string          `json:"name,omitempty"`
	State      string          `json:"state"` // pending, or the ledger's word
	Code       string          `json:"code,omitempty"`
	Population string          `json:"population,omitempty"`
	Rho        float64         `json:"rho,omitempty"`
	// gdp where every charge has the bridge, else zcdp
	Curve      string  `json:"curve,omitempty"`
	SpentRho   float64 `json:"spent_rho"`             // forfeited ρ included
	ForfeitRho float64 `json:"forfeit_rho,omitempty"` // counted as spent without a query
	Queries    int     `json:"queries"`               // charged
	// Proposer is the analyst who signed the proposal, with its key; nil of one that the
	// coordinator's operator made, and of one that is not kept.
	Proposer *proposal.Party `json:"proposer,omitempty"`
	By       string          `json:"by,omitempty"`
	Time     *time.Time      `json:"time,omitempty"`
	// Ended is when a study that was approved ended here; Why says in words how one came to be
	// over, for this site's operator.
	Ended *time.Time `json:"ended,omitempty"`
	Why   string     `json:"why,omitempty"`
	// Expires is when a study ends here by its expiry; not there once this site's first sum was
	// charged.
	Expires *time.Time `json:"expires,omitempty"`
}

// statePending is a proposal that awaits the operator.
const statePending = "pending"

// View is one study as listed.
func (vs *Views) View(id proposal.Digest) StudyView {
	v := vs.stands(id)
	switch v.State {
	case statePending, string(ledger.Approved):
		if s := vs.a.sessions.listed(id); s != nil {
			if at := s.expires(); !at.IsZero() {
				v.Expires = &at
			}
		}
	}
	return v
}

func (vs *Views) stands(id proposal.Digest) StudyView {
	before, over := vs.a.endings.past.Get(id)
	if e, ok := vs.a.ledger.Study(id); ok {
		v := StudyView{Digest: id, Name: e.Name, State: string(e.State), Code: e.Code, Population: e.Population,
			Rho: e.Rho, Curve: curveOf(e.GDP), SpentRho: e.SpentRho, ForfeitRho: e.ForfeitRho, Queries: e.Queries, Proposer: party(e.Proposer), By: e.By, Time: &e.Time}
		if over && e.State != ledger.Approved {
			v.Name, v.Why, v.Ended = before.Name, before.Why, &before.Time
			if v.Proposer == nil {
				v.Proposer = before.Proposer
			}
		}
		return v
	}
	if over && !vs.a.pending.Has(id) {
		return StudyView{Digest: id, Name: before.Name, State: before.State, Code: string(before.Code), Population: before.Population,
			Rho: before.Rho, Proposer: before.Proposer, By: before.By, Time: &before.Time, Why: before.Why}
	}
	v := StudyView{Digest: id, State: statePending}
	if s := vs.a.sessions.listed(id); s != nil {
		v.Name, v.Population, v.Rho, v.Curve = s.asks.Spec.Name, s.population(), s.rho, string(s.curve)
		v.Proposer = s.asks.Proposer
	}
	return v
}

func curveOf(gdp bool) string {
	if gdp {
		return string(noise.GDP)
	}
	return string(noise.ZCDP)
}

// Studies lists every study that this site knows: those that await the operator
// first, then the others, the newest first.
func (vs *Views) Studies() ([]StudyView, error) {
	if err := vs.a.expiry.sweep(); err != nil {
		return nil, err
	}
	known, err := vs.known()
	if err != nil {
		return nil, err
	}
	out := make([]StudyView, 0, len(known))
	for _, id := range known {
		out = append(out, vs.View(id))
	}
	return out, nil
}

// Find resolves a digest, the beginning of one of at least 4 digits, or else a
// study's name, for reading: a decision names its digest whole. The error is an
// *proposal.UnknownError.
func (vs *Views) Find(ref string) (proposal.Digest, error) {
	all, err := vs.Studies()
	if err != nil {
		return proposal.Digest{}, err
	}
	var found, open []proposal.Digest
	for _, v := range all {
		if proposal.Refers(ref, v.Digest, v.Name) {
			found = append(found, v.Digest)
			if v.State == statePending || v.State == string(ledger.Approved) {
				open = append(open, v.Digest)
			}
		}
	}
	if len(open) == 1 { // what is over takes no decision
		return open[0], nil
	}
	if len(found) != 1 {
		return proposal.Digest{}, &proposal.UnknownError{Ref: ref, Matches: found}
	}
	return found[0], nil
}

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
	// Since is what differs from the last study of the same proposer that was approved here; nil
	// if there was no such study.
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

// Study tells all about one study. Of one that is over, what the ledger keeps, and the
// rest if its proposal was kept, too.
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

// again warns of the completed studies that asked the same, and of what studies of the data set
// were charged to other budgets, as far as their proposals are kept; and of an older ledger.
func (vs *Views) again(s *session) []string {
	var out []string
	elsewhere, population := map[string]float64{}, s.population()
	for _, e := range vs.a.ledger.Studies() {
		before, err := vs.kept(e.Study)
		if err != nil || e.Study == s.plan.Digest {
			continue
		}
		if e.Code == string(study.CodeCompleted) && s.plan.Proposal.Again(before) {
			out = append(out, s.plan.AgainText(e.Study, e.Name))
		}
		if rho := e.SpentRho + e.ReservedRho; rho > 0 && e.Population != population && before.Spec.Dataset == s.plan.Proposal.Spec.Dataset {
			elsewhere[e.Population] += rho
		}
	}
	if older := limits.Older(vs.a.strangers.beyond()); older != "" {
		out = append(out, older)
	}
	for _, name := range slices.Sorted(maps.Keys(elsewhere)) {
		out = append(out, fmt.Sprintf("this data set was charged ρ = %.4g of the budget of %q before, which that of %q does not count: if these are the same people, they can lose more than either allows", elsewhere[name], name, population))
	}
	return out
}

// LedgerReply is the ledger as shown.
type LedgerReply struct {
	Populations []limits.Population `json:"populations"`
	Studies     []StudyView         `json:"studies"`
	// Beyond are studies that there are signs of and that the ledger does not have.
	Beyond []proposal.Digest `json:"beyond,omitempty"`
}

// Ledger returns the budgets and the studies on record.
func (vs *Views) Ledger() LedgerReply {
	out := LedgerReply{limits.Populations(vs.a.Settings.current.Load(), vs.a.ledger), []StudyView{}, vs.a.strangers.beyond()}
	for _, e := range vs.a.ledger.Studies() {
		out.Studies = append(out.Studies, vs.View(e.Study))
	}
	return out
}

// Egress tells what left so far, and for studies that are pending or approved
// what will have left at their end.
func (vs *Views) Egress() egress.Reply {
	out := vs.a.egress.Snapshot()
	for i := range out.Studies {
		e := &out.Studies[i]
		e.Name = vs.View(e.Study).Name
		if s := vs.a.sessions.listed(e.Study); s != nil {
			e.Planned = s.leaves()
		}
	}
	return out
}

// hello says what this site offers: the names of its data sets and their sizes,
// public under replacement adjacency. One that cannot be read is not offered.
func (a *Agent) hello() wire.Hello {
	h := wire.Hello{Software: enroll.Software}
	for _, d := range a.Settings.current.Load().Datasets {
		units, err := a.stock.Count(a.config.Source(d), d, a.now)
		if err != nil {
			a.log.Error("a data set is not offered", "dataset", d.Name, "error", err)
			continue
		}
		h.Datasets = append(h.Datasets, wire.Dataset{Name: d.Name, Units: uint64(units)})
	}
	a.Chain.Greet(&h)
	return h
}

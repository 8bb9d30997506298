package agent

import (
	"cmp"
	"crypto/ed25519"
	"time"

	"covey/internal/chainwatch"
	"covey/internal/egress"
	"covey/internal/enroll"
	"covey/internal/holding"
	"covey/internal/limits"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/uplink"
)

// Views answer what the operator's page and commands ask an agent to show. They change nothing,
// except that what has expired ends before it is shown.
type Views struct {
	a       *Agent
	figures figures
}

// MaxSkew is how far a site's clock may be from the coordinator's before its operator is told.
const MaxSkew = uplink.MaxSkew

// Status is the agent at a glance.
type Status struct {
	Site        string `json:"site"`
	Identity    string `json:"identity"` // fingerprint of the site's key
	Linked      bool   `json:"linked"`
	Coordinator string `json:"coordinator,omitempty"` // the address linked to, or tried last
	LinkError   string `json:"link_error,omitempty"`
	// KeyExchange is that of the link.
	KeyExchange pki.KeyExchange `json:"key_exchange,omitzero"`
	Expires     time.Time       `json:"certificate_expires"`
	DaysLeft    int             `json:"certificate_days_left"`
	// ClockAhead is by how many seconds this machine's clock is ahead of the coordinator's, which
	// told it last; nil if none was told in this run: a clock that is wrong enough allows no link.
	ClockAhead *int64 `json:"clock_ahead_seconds,omitempty"`
	Pending    int    `json:"pending"` // proposals that await the operator
	Approved   int    `json:"approved"`
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
	if link.Compared {
		s.ClockAhead = new(int64(link.Ahead.Round(time.Second) / time.Second))
	}
	s.Chain, err = vs.a.Chain.View()
	return s, err
}

// Datasets returns the data sets that the site offers, in the order of agent.toml, and then those
// that studies under way still use. Each says whether it is the one that these studies pinned: by
// size and time, or with hash by all bytes.
func (vs *Views) Datasets(hash bool) []holding.Status {
	type used struct {
		d     siteconfig.Dataset
		pins  [][32]byte
		fault string // of a study that could not have the rows
	}
	var all []used
	find := func(d siteconfig.Dataset) *used {
		for i := range all {
			if holding.Seen(all[i].d) == holding.Seen(d) {
				return &all[i]
			}
		}
		all = append(all, used{d: d})
		return &all[len(all)-1]
	}
	config := vs.a.Settings.current.Load()
	for _, d := range config.Datasets {
		find(d)
	}
	for _, e := range vs.a.ledger.Active() {
		approval, ok := vs.a.ledger.Approved(e.Study)
		if !ok {
			continue
		}
		if s := vs.a.sessions.listed(e.Study); s != nil {
			_, d := s.terms()
			u := find(d)
			u.pins, u.fault = append(u.pins, approval.DataSHA256), cmp.Or(s.stood(), u.fault)
		}
	}
	out := []holding.Status{}
	for i, u := range all {
		v := vs.a.stock.Status(vs.a.config.Source(u.d), u.d, u.pins, hash)
		v.Offered = i < len(config.Datasets)
		v.Fault = cmp.Or(v.Fault, u.fault)
		out = append(out, v)
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
		v := vs.View(e.Study)
		v.Population, v.Rho = e.Population, e.Rho // what was never approved takes nothing
		out.Studies = append(out.Studies, v)
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

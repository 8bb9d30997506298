package agent

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sync"
	"weak"

	"covey/internal/frame"
	"covey/internal/holding"
	"covey/internal/keyring"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/proposals"
	"covey/internal/responder"
	"covey/internal/siteconfig"
	"covey/internal/study"
)

// sessions are the studies that are pending or approved, as far as they are in memory.
type sessions struct {
	a      *Agent
	making sync.Mutex // held while a proposal is read: that takes several times its bytes

	mu     sync.Mutex
	places map[proposal.Digest]*place
	sizes  map[proposal.Digest]int // the longest message of each approved study (limit.go)
}

// place is where the agent has a study's session. The session of a short proposal stays in memory,
// and so does that of any study from its setup on. The session of a waiting long proposal (30 MB
// for 100,000 columns) is dropped when nobody uses it, and made again from the data directory. The
// pointer to it is weak, so that a study never has two.
type place struct {
	*summary
	session weak.Pointer[session]
	held    *session // nil: it may be let go. Written with the sessions' mu held
}

// of returns the session of a study that is pending or approved, from memory or from what the
// data directory holds of it.
func (m *sessions) of(id proposal.Digest) (*session, study.Code) {
	if _, s := m.placed(id); s != nil {
		return s, ""
	}
	m.making.Lock()
	defer m.making.Unlock()
	at, s := m.placed(id)
	if s != nil { // made meanwhile
		return s, ""
	}
	body, pending := []byte(nil), false
	if approved, ok := m.a.ledger.Proposal(id); ok {
		body = approved
	} else if body, pending = m.a.pending.Get(id); !pending {
		return nil, study.CodeUnknownStudy
	}
	var code study.Code
	if at == nil {
		s, code = m.make(body)
	} else if s, _, code, _ = m.planned(body); s != nil {
		s.summary = at.summary // it was let go, and goes on with what was kept of it
	}
	if code != "" {
		return nil, code
	}
	return m.keep(s), ""
}

// placed returns a study's place, nil if there is none, and its session, nil if it is not in
// memory.
func (m *sessions) placed(id proposal.Digest) (*place, *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.places[id]
	if at == nil {
		return nil, nil
	}
	return at, at.session.Value()
}

// keep puts a session into memory, or returns the one that is there.
func (m *sessions) keep(s *session) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.places[s.id]; at != nil {
		if old := at.session.Value(); old != nil {
			return old
		}
		s.summary = at.summary
	}
	at := &place{summary: s.summary, session: weak.Make(s)}
	if s.roomy() {
		at.held = s
	} else {
		m.a.stock.Worked() // it goes when memory is given back
	}
	m.places[s.id] = at
	return s
}

// listed returns what lists show of a study that is pending or approved, nil if it has no session.
func (m *sessions) listed(id proposal.Digest) *summary {
	if at, _ := m.placed(id); at != nil {
		return at.summary
	}
	if s, _ := m.of(id); s != nil {
		return s.summary
	}
	return nil
}

// make makes the session of a proposal. The code says why it cannot be:
// plan_mismatch, data, unit, or rejected where the policy refuses it.
func (m *sessions) make(body []byte) (*session, study.Code) {
	s, code, why := m.parse(body)
	if code != "" {
		m.a.log.Warn("a proposal is refused", "study", proposal.DigestOf(body), "code", code, "error", why)
	}
	return s, code
}

// parse is make, but returns the reason in words and does not log it.
func (m *sessions) parse(body []byte) (*session, study.Code, error) {
	s, approval, code, err := m.planned(body)
	if code != "" {
		return nil, code, err
	}
	s.under = m.a.Settings.current.Load()
	if len(approval.Config) > 0 {
		if s.dataset, err = siteconfig.ParseDataset(approval.Config); err != nil {
			return nil, study.CodeData, err
		}
		return s, "", nil
	}
	s.dataset, code, err = asked(s.under, s.plan.Proposal)
	return s, code, err
}

// planned is parse without what follows from agent.toml, and returns the approval on
// record, the zero one if there is none.
func (m *sessions) planned(body []byte) (*session, ledger.Approval, study.Code, error) {
	id := proposal.DigestOf(body)
	if len(body) > proposals.MaxProposal {
		return nil, ledger.Approval{}, study.CodePlanMismatch, errors.New("it is over 32 MiB")
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		// it may repeat as much as the proposal holds
		return nil, ledger.Approval{}, study.CodePlanMismatch, errors.New(frame.Cleaned(err.Error()))
	}
	s := m.bare(body, plan)
	s.journal = m.a.ledger.Journal(id)
	public := m.a.identity.Public().(ed25519.PublicKey)
	s.self = slices.IndexFunc(plan.Proposal.Roster, func(m proposal.Member) bool { return bytes.Equal(m.Identity, public) })
	if s.self < 0 || plan.Proposal.Roster[s.self].Name != m.a.config.Site {
		return nil, ledger.Approval{}, study.CodePlanMismatch, errors.New("its roster does not hold this site with its key")
	}
	s.rows = m.rows(id, s.self)
	s.ring = keyring.New(plan, s.self, m.a.identity, s.journal, m.a.log, owner{s})
	s.responder = responder.New(responder.Options{Body: body, Plan: plan, Self: s.self, Identity: m.a.identity, Ledger: m.a.ledger,
		Ring: s.ring, Chain: m.a.Chain, Log: m.a.log, Now: m.a.now, Work: &m.a.work, Owner: owner{s}})
	// A study's charge is computed by this program; an approval under another
	// version's rules does not stand for this one's.
	approval, approved := m.a.ledger.Approved(id)
	s.unattended = approved && approval.By == ledger.ByPolicy
	if approved && approval.Rho != plan.Rho {
		return nil, ledger.Approval{}, study.CodePlanMismatch, fmt.Errorf("it was approved with a plan of ρ = %g, and this version's takes %g", approval.Rho, plan.Rho)
	}
	return s, approval, "", nil
}

// bare returns a session that shows a proposal, and does nothing else.
func (m *sessions) bare(body []byte, plan *study.Plan) *session {
	return &session{summary: &summary{agent: m.a, id: plan.Digest, asks: brief(plan.Proposal), rho: plan.Rho, curve: plan.Curve()}, body: body, plan: plan}
}

// rows are a study's rows, which are not read yet.
func (m *sessions) rows(id proposal.Digest, self int) *holding.Rows {
	return holding.New(holding.Options{Study: id, Self: self, Source: m.a.config.Source, Cache: m.a.cache, Stock: m.a.stock, Log: m.a.log,
		Approved: func() ([32]byte, bool) {
			approval, ok := m.a.ledger.Approved(id)
			return approval.DataSHA256, ok
		}})
}

// forget drops a study's session, and with it the rows and secrets in memory and the
// study's own cache file. Called with the session's mu held, if there is one.
func (m *sessions) forget(id proposal.Digest) {
	m.mu.Lock()
	at := m.places[id]
	delete(m.places, id)
	delete(m.sizes, id)
	m.mu.Unlock()
	if at != nil {
		at.rows.Release()
	}
	if err := m.a.cache.Drop(holding.Owner(id)); err != nil {
		m.a.log.Error("the cache file of a study that is over cannot be removed", "study", id, "error", err)
	}
}

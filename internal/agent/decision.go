package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/proposals"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
	"covey/internal/study"
	"covey/internal/wire"
)

// Decisions are this site's on proposals: what the operator says of them, and the signed word that
// the coordinator is told.
type Decisions struct{ a *Agent }

// sign puts the identity key's signature on a decision, so that it can be shown later
// and nobody else, the coordinator included, can make it.
func (ds *Decisions) sign(d wire.Decision) wire.Decision {
	if d.Verdict != study.VerdictPending {
		d.Signature = study.SignDecision(ds.a.identity, d.Study, d.Verdict, d.Code)
	}
	return d
}

// decided returns the verdict on record.
func (ds *Decisions) decided(id proposal.Digest) (wire.Decision, bool) {
	e, ok := ds.a.ledger.Study(id)
	if !ok {
		return wire.Decision{}, false
	}
	switch e.State {
	case ledger.Approved:
		return wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictApproved}, true
	case ledger.Finished:
		code := study.CodeLeft
		if withdrew(e) {
			code = study.Code(e.Code)
		}
		return wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictRejected, Code: code}, true
	}
	return wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictRejected, Code: study.CodeRejected}, true
}

// decide looks at the budget, the policy and the data, in this order. The rows are read where the
// policy approves and nowhere else: a proposal that nobody approved must not be answered by what is
// in them. Where the policy approves, their schema alone can refuse: names and types of columns,
// and how many units there are. Called with mu held.
func (s *session) decide() wire.Decision {
	id, a := s.plan.Digest, s.agent
	_, approved := a.ledger.Approved(id)
	why := s.expired()
	if why != nil && (approved || a.pending.Has(id)) {
		s.lapse(why)
		if _, decided := a.Decisions.decided(id); !decided {
			return wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictRejected, Code: study.CodeExpired}
		}
	}
	if verdict, decided := a.Decisions.decided(id); decided {
		return verdict // the operator was quicker
	}
	log := a.log.With("study", id, "name", s.plan.Proposal.Spec.Name)
	reject := func(code study.Code, err error) wire.Decision {
		log.Warn("a proposal is refused", "code", code, "error", err)
		s.closed(stateRefused, code, "check", err)
		return wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictRejected, Code: code}
	}
	if why != nil {
		return reject(study.CodeExpired, why)
	}
	if err := a.expiry.sweep(); err != nil { // what has expired reserves nothing
		return reject(a.unkept(err))
	}
	if code, why := s.renew(); code != "" {
		return reject(code, why)
	}
	if budget := s.limits(s.terms()).Budget(); !budget.Fits {
		return reject(study.CodeBudget, fmt.Errorf("%s: %s. This proposal is over here: the study must be proposed again", budget, budget.Remedy))
	}
	if a.pending.Has(id) {
		// It was left to the operator and stays so, whatever the policy says now.
		return wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictPending}
	}
	if s.plan.Proposal.Proposer == nil {
		a.unsigned.Lock()
		defer a.unsigned.Unlock()
	}
	rules := s.limits(s.under, s.dataset).Rules()
	if beyond := siteconfig.Outside(rules); len(beyond) > 0 {
		return s.outside(log, beyond)
	}
	log.Info("the policy approves a proposal", "why", rules)
	if err := s.approve(ledger.ByPolicy); err != nil {
		if data, ok := errors.AsType[*sitedata.DataError](err); ok {
			return reject(data.Code(), err)
		}
		if over, ok := errors.AsType[*ledger.BudgetError](err); ok { // another study was quicker
			if over.Proposer != "" {
				return s.outside(log, siteconfig.Outside(s.limits(s.under, s.dataset).Rules()))
			}
			return reject(study.CodeBudget, err)
		}
		return reject(s.store(err), err)
	}
	return wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictApproved}
}

// outside leaves a study that is outside the policy's limits to the operator, or rejects it. Called
// with mu held.
func (s *session) outside(log *slog.Logger, beyond []siteconfig.PolicyRule) wire.Decision {
	d := wire.Decision{Header: wire.Header{Study: s.plan.Digest}, Verdict: study.VerdictPending}
	if s.under.Policy.Outside == siteconfig.OutsideReject {
		log.Warn("the policy rejects a proposal", "why", beyond)
		s.closed(stateRefused, study.CodeRejected, "policy", outsideError(beyond))
		d.Verdict, d.Code = study.VerdictRejected, study.CodeRejected
		return d
	}
	if err := s.agent.pending.Put(s.body); err != nil {
		if !errors.Is(err, proposals.ErrFull) {
			s.agent.unkept(err)
			return d // which nobody is told
		}
		log.Warn("a proposal is refused", "code", study.CodeTooMany, "error", err)
		s.closed(stateRefused, study.CodeTooMany, "check", err)
		d.Verdict, d.Code = study.VerdictRejected, study.CodeTooMany
		return d
	}
	s.agent.endings.reopened(s.plan.Digest)
	log.Info("a proposal awaits the operator", "why", beyond)
	return d
}

// approve loads the rows and puts the approval on record, fsynced, with the study's whole charge
// reserved. A value at fault is an error for the operator, who can mend it, and none for the
// policy, whose verdict leaves at once. Called with mu held.
func (s *session) approve(by string) error {
	a := s.agent
	s.unattended = by == ledger.ByPolicy
	if err := s.rows.Load(s.plan, s.dataset, s.unattended); err != nil {
		return &sitedata.DataError{Dataset: s.dataset.Name, Err: err}
	}
	population, ok := s.under.Population(s.dataset.Population)
	if !ok {
		return &siteconfig.Error{File: s.under.File(), Key: "dataset", Reason: "names no population"}
	}
	bridged := a.ledger.Population(population.Name).Bridged
	limit, gdp, err := population.Caps(bridged)
	if err != nil {
		return err
	}
	approval := ledger.Approval{
		Study: s.plan.Digest, Name: s.plan.Proposal.Spec.Name, Population: population.Name, Proposal: s.body, Proposer: proposerOf(s.plan.Proposal),
		Rho: s.plan.Rho, GDP: s.plan.Curve() == noise.GDP, CapRho: limit, CapGDP: gdp, DataSHA256: s.rows.Pin(), Config: s.dataset.Record(), By: by, Time: a.now(),
	}
	if p := s.plan.Proposal.Proposer; p != nil && by == ledger.ByPolicy {
		// Beyond it the operator decides, like beyond all limits of the policy.
		approval.ProposerCapRho, approval.ProposerCapGDP = s.under.Policy.AnalystCaps(pki.Fingerprint([]byte(p.Identity)), population, bridged)
	}
	err = a.ledger.Approve(approval)
	if over, ok := errors.AsType[*ledger.BudgetError](err); ok && over.Proposer == "" {
		err = fmt.Errorf("%w: %s", err, s.limits(s.under, s.dataset).Budget().Remedy)
	}
	if err != nil {
		a.failed(err)
		return err
	}
	a.endings.reopened(s.plan.Digest)
	a.log.Info("study approved", "study", s.plan.Digest, "by", by, "rho", s.plan.Rho, "population", population.Name)
	if err := a.pending.Remove(s.plan.Digest); err != nil {
		a.log.Error("an approved proposal cannot be removed from pending", "study", s.plan.Digest, "error", err)
	}
	return nil
}

// Approve records the operator's approval of a proposal that was offered, and
// tells the coordinator. Approving what is approved changes nothing. The error
// is a *proposal.UnknownError, a *RefusedError, a *siteconfig.Error, a
// *sitedata.DataError, or the ledger's *BudgetError or *StateError.
func (ds *Decisions) Approve(id proposal.Digest) error {
	s, code := ds.a.sessions.of(id)
	if s == nil {
		if e, ok := ds.a.ledger.Study(id); ok {
			var err error = &ledger.StateError{Study: id, State: e.State}
			if e.State == ledger.Rejected || e.State == ledger.Finished {
				err = fmt.Errorf("%w, and no longer offered: only a new proposal can be approved", err)
			}
			return err
		}
		if code == study.CodeUnknownStudy {
			return ds.a.endings.unknown(id)
		}
		return &RefusedError{id, code}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := s.expired(); why != nil {
		if said := s.lapse(why); said != nil {
			ds.a.post(said)
		}
		return ds.a.endings.unknown(id)
	}
	if _, ok := ds.a.ledger.Approved(id); !ok {
		if code, why := s.renew(); code != "" {
			ds.a.log.Warn("a proposal cannot be approved", "study", id, "code", code, "error", why)
			return &RefusedError{id, code}
		}
		if err := s.approve(ledger.ByOperator); err != nil {
			return err
		}
	}
	ds.a.post(ds.sign(wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictApproved}))
	return nil
}

// RefusedError is a proposal that this site cannot take part in as configured.
type RefusedError struct {
	Study proposal.Digest
	Code  study.Code
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("study %s cannot be approved here: %s (the agent's log says more)", e.Study, e.Code)
}

// Reject records the operator's no and tells the coordinator. An approval is withdrawn, as Withdraw
// does. A study whose setup has begun is left: what it charged stays charged, the rest is free
// again, and its secrets are erased. Either way it cannot be entered again.
func (ds *Decisions) Reject(id proposal.Digest) error {
	s, _ := ds.a.sessions.of(id)
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	if approval, ok := ds.a.ledger.Approved(id); ok {
		err := ds.withdraw(id, s)
		if _, late := errors.AsType[*TooLateError](err); !late {
			return err
		}
		if err := ds.finish(approval, study.CodeLeft, ledger.ByOperator, nil); err != nil {
			return err
		}
		ds.a.log.Info("a study is left after its setup began", "study", id, "name", approval.Name, "by", ledger.ByOperator, "code", study.CodeLeft)
		ds.a.post(wire.Refusal{Header: wire.Header{Study: id}, Code: study.CodeLeft})
		return nil
	}
	body, pending := ds.a.pending.Get(id)
	if _, ok := ds.a.ledger.Study(id); !ok && s == nil && !ds.a.pending.Has(id) { // its file may be damaged
		return ds.a.endings.unknown(id)
	}
	if err := ds.a.ledger.Reject(id, ledger.ByOperator, ds.a.now()); err != nil {
		ds.a.failed(err)
		return err
	}
	if pending {
		ds.a.endings.rejected(id, body)
	}
	if err := ds.a.pending.Remove(id); err != nil {
		ds.a.log.Error("a rejected proposal cannot be removed from pending", "study", id, "error", err)
	}
	ds.a.log.Info("a study is rejected", "study", id, "by", ledger.ByOperator, "code", study.CodeRejected)
	ds.a.sessions.forget(id)
	ds.a.post(ds.sign(wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictRejected, Code: study.CodeRejected}))
	return nil
}

// outsideError names the limits that a study is outside of.
func outsideError(beyond []siteconfig.PolicyRule) error {
	words := make([]string, len(beyond))
	for i, r := range beyond {
		words[i] = r.String()
	}
	return errors.New(strings.Join(words, "; "))
}

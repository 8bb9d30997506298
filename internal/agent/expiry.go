package agent

import (
	"context"
	"fmt"
	"time"

	"covey/internal/keyring"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

const (
	// unbegun is how long an approved study of which nobody said when it expires may wait for its
	// first sum: without an end the approvals of studies that another site never approves would
	// hold their part of the budget forever.
	unbegun = 30 * 24 * time.Hour
	// lapseEvery is how often a running agent looks for what has expired.
	lapseEvery = 10 * time.Minute
)

// expiresAt returns when a study expires by this site's own clock, e being its entry on the ledger:
// at the proposal's expiry, or some time after the approval if it has not begun. The zero time
// means never: this site was charged for its first sum, or nobody has approved a proposal without
// expiry. Only the coordinator checks that a proposal's expiry is near. Here an approval lasts no
// longer than an honest coordinator lets it, or a proposal could hold its part of the budget
// forever.
func expiresAt(p proposal.Proposal, e ledger.StudyEntry) time.Time {
	switch at := p.Expires(); {
	case e.State == ledger.Approved && e.Queries > 0:
		return time.Time{}
	case at.IsZero() && e.State == ledger.Approved:
		return e.Time.Add(unbegun)
	case e.State == ledger.Approved && at.After(e.Time.Add(proposal.MaxExpiry)):
		return e.Time.Add(proposal.MaxExpiry)
	default:
		return at
	}
}

func (s *summary) expires() time.Time {
	e, _ := s.agent.ledger.Study(s.id)
	return expiresAt(s.asks, e)
}

// expired returns why the study has expired, nil if it has not.
func (s *summary) expired() error {
	at := s.expires()
	if !at.IsZero() && !s.agent.now().Before(at) {
		return fmt.Errorf("it expired on %s by this machine's clock", at.UTC().Format(time.RFC3339))
	}
	return nil
}

// lapse ends a study that has expired and is pending or approved here, and returns what the
// coordinator is told. What an approval reserved is free, and the digest barred for good, by one
// fsynced line of the ledger: no crash leaves one without the other, and no clock that is set back
// undoes it. A study whose setup has begun here is left, as by its operator. Called with mu held.
func (s *session) lapse(why error) wire.Message {
	id, a := s.plan.Digest, s.agent
	log := a.log.With("study", id, "name", s.plan.Proposal.Spec.Name)
	if approval, ok := a.ledger.Approved(id); ok {
		begun, err := keyring.Begun(a.ledger.Journal(id))
		if err != nil {
			a.failed(err)
			return nil
		}
		code := study.CodeExpired
		if begun {
			code = study.CodeLeft
		}
		if err := a.Decisions.finish(approval, code, "", why); err != nil {
			return nil
		}
		log.Warn("an approved study expired by this machine's clock, before this site's first sum; what it reserved is free again", "code", code, "rho", approval.Rho)
		if begun {
			return wire.Refusal{Header: wire.Header{Study: id}, Code: code}
		}
		return a.Decisions.withdrawal(id, code)
	}
	s.closed(stateEnded, study.CodeExpired, "", why)
	if err := a.pending.Remove(id); err != nil {
		a.log.Error("an expired proposal cannot be removed", "study", id, "error", err)
	}
	log.Info("a proposal expired by this machine's clock, before it was approved here")
	a.sessions.forget(id)
	return a.Decisions.sign(wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictRejected, Code: study.CodeExpired})
}

// expiry ends the studies of an agent that have expired.
type expiry struct{ a *Agent }

// sweep ends what has expired before somebody is shown what is open, or a budget is looked at. What
// is being worked on just now is left to that.
func (x *expiry) sweep() error {
	open, err := x.a.pending.List()
	if err != nil {
		return err
	}
	for _, e := range x.a.ledger.Active() {
		if e.Queries == 0 {
			open = append(open, e.Study)
		}
	}
	for _, id := range open {
		if listed := x.a.sessions.listed(id); listed == nil || listed.expired() == nil {
			continue
		}
		s, _ := x.a.sessions.of(id)
		if s == nil || !s.mu.TryLock() {
			continue
		}
		_, approved := x.a.ledger.Approved(id)
		if why := s.expired(); why != nil && (approved || x.a.pending.Has(id)) {
			if said := s.lapse(why); said != nil {
				x.a.post(said)
			}
		}
		s.mu.Unlock()
	}
	return nil
}

// run runs sweep until ctx ends.
func (x *expiry) run(ctx context.Context) {
	tick := time.NewTicker(lapseEvery)
	defer tick.Stop()
	for {
		if err := x.sweep(); err != nil {
			x.a.log.Error("the proposals that wait cannot be listed", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

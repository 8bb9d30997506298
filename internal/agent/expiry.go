package agent

import (
	"fmt"
	"time"

	"covey/internal/study"
)

// expired reports whether the proposal can no longer be approved, by this site's own clock.
func (s *session) expired() error {
	at := s.plan.Proposal.Expires()
	if !at.IsZero() && s.plan.Proposal.Expired(s.agent.now()) {
		return fmt.Errorf("it expired on %s", at.Format(time.RFC3339))
	}
	return nil
}

// lapse drops an expired proposal that waits for the operator. Called with mu held.
func (s *session) lapse(why error) {
	id, a := s.plan.Digest, s.agent
	s.closed(stateEnded, study.CodeExpired, "", why)
	if err := a.pending.Remove(id); err != nil {
		a.log.Error("an expired proposal cannot be removed", "study", id, "error", err)
	}
	a.log.Info("a proposal expired before it was approved here", "study", id, "name", s.plan.Proposal.Spec.Name)
	a.forget(id)
}

// lapse drops expired proposals before somebody is shown which ones wait. One that is being decided
// just now is left to that.
func (a *Agent) lapse() error {
	pending, err := a.pending.List()
	if err != nil {
		return err
	}
	for _, id := range pending {
		s, _ := a.session(id)
		if s == nil || s.expired() == nil || !s.mu.TryLock() {
			continue
		}
		if _, decided := a.standing(id); !decided {
			s.lapse(s.expired())
		}
		s.mu.Unlock()
	}
	return nil
}

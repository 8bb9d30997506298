package agent

import (
	"errors"
	"slices"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// A ledger that was restored to an earlier state, from a backup or a snapshot of its machine, looks
// whole: its two files fit. It no longer knows what this site has sent since, and the once-only
// rules rest on that. What only a later state of the site can have made is found in what the
// coordinator shows, by internal/keyring and internal/responder, and here in egress.jsonl. What
// cannot be found is in docs/threat-model.md.

// rolledBack leaves a study because of such evidence, and says so.
func (s *session) rolledBack(r wire.Message, evidence string) wire.Message {
	if err := s.leave(evidence); err != nil {
		return wire.Refuse(r, s.store(err))
	}
	return wire.Refuse(r, study.CodeRolledBack)
}

// leave ends the study here for good. Nobody can say what else was sent for it, so
// all of its approved ρ counts as spent.
func (s *session) leave(evidence string) error {
	s.agent.log.Error("THE LEDGER IS OLDER THAN WHAT THIS SITE HAS ALREADY SENT (a restored backup, or a snapshot of its machine?): "+
		"this site leaves the study for good, and all of the study's ρ counts as spent; other charges may be missing: "+
		"stop the agent, move the ledger's folder away and run agent ledger recover --from the latest export",
		"study", s.plan.Digest, "name", s.plan.Proposal.Spec.Name, "evidence", evidence,
		"population", s.dataset.Population, "rho", s.plan.Rho)
	if err := s.agent.ledger.Forfeit(s.plan.Digest, string(study.CodeRolledBack)); err != nil {
		return err
	}
	s.closed(string(ledger.Finished), study.CodeRolledBack, "check", errors.New("the ledger was older than what this site had sent: "+evidence))
	s.agent.sessions.forget(s.plan.Digest)
	return nil
}

// foundEgress is evidence, as the log names it. Others are of internal/keyring and
// internal/responder.
const foundEgress = "egress.jsonl lists a message that is not on record"

// compareEgress looks for what left by egress.jsonl and is not on the ledger, which
// is on disk before a message is on its way: a ledger restored alone.
func (a *Agent) compareEgress() error {
	uncharged := func(e ledger.StudyEntry) bool { return e.Queries == 0 }
	charged := slices.DeleteFunc(a.ledger.Studies(), uncharged)
	if len(charged) > 0 && a.egress.Anew(a.now()) {
		a.log.Error("egress.jsonl IS GONE, and this site has sent what its ledger was charged for; a new one is begun, without what left before")
	}
	all := a.egress.Witness()
	if i := slices.IndexFunc(charged, func(e ledger.StudyEntry) bool { return all[e.Study].Sent == nil }); i >= 0 && !a.egress.BegunAnew() {
		a.log.Error("egress.jsonl WAS CUT OR REPLACED: it has no message of a study that the ledger was charged for; stop the agent, put the whole file back, or if it is lost move this one away, and start it again",
			"study", proposal.Digest(charged[i].Study), "name", charged[i].Name)
	}
	for id, left := range all {
		e, known := a.ledger.Study(id)
		if !known && left.Sent["announcement"].Messages > 0 {
			a.strangers.log(id, "egress.jsonl lists messages of a study that is not on this ledger")
		}
		if e.State != ledger.Approved {
			continue
		}
		s, code := a.sessions.of(id)
		if code != "" {
			continue // it cannot be gone on with as configured now; looked at again then
		}
		missing, err := s.responder.Missing(left)
		if err == nil && missing {
			err = s.leave(foundEgress)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

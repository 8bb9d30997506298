package agent

import (
	"fmt"

	"covey/internal/keyring"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/proposals"
	"covey/internal/study"
	"covey/internal/wire"
)

// TooLateError is a withdrawal of an approval after the setup of its study began: every site had
// approved.
type TooLateError struct {
	Study       proposal.Digest
	ReservedRho float64
}

func (e *TooLateError) Error() string {
	return fmt.Sprintf("too late to withdraw from study %s: every site had approved, and its setup has begun; ρ = %.6g stays reserved until it ends. "+
		"\"agent study reject\" leaves it at once: what was charged stays charged, and a study that waits for every site ends with that",
		e.Study.String()[:12], e.ReservedRho)
}

// Withdraw takes this site's approval back, for good: what it reserved is free again, and the
// coordinator is told, now or on the next link, by a signed word that ends the study. Once this
// site has answered in the setup it is a *TooLateError, and nothing changes. Withdrawing again
// tells the coordinator again. Other errors: a *proposal.UnknownError, or the ledger's.
func (ds *Decisions) Withdraw(id proposal.Digest) error {
	s, _ := ds.a.sessions.of(id)
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	return ds.withdraw(id, s)
}

// withdraw is Withdraw with the session's mu held; there may be none. A crash after the ledger's
// line leaves a study that is withdrawn, and a coordinator that hears so when it asks on the next
// link.
func (ds *Decisions) withdraw(id proposal.Digest, s *session) error {
	approval, approved := ds.a.ledger.Approved(id)
	if !approved {
		e, ok := ds.a.ledger.Study(id)
		switch {
		case ok && withdrew(e) && e.Code == string(study.CodeWithdrawn):
			ds.a.post(ds.withdrawal(id, study.CodeWithdrawn))
			return nil
		case ok:
			return &ledger.StateError{Study: id, State: e.State}
		case s != nil:
			return &NotApprovedError{id}
		}
		return ds.a.endings.unknown(id)
	}
	begun, err := keyring.Begun(ds.a.ledger.Journal(id))
	if err != nil {
		ds.a.failed(err)
		return err
	}
	if e, _ := ds.a.ledger.Study(id); begun || e.Queries > 0 {
		return &TooLateError{id, e.ReservedRho}
	}
	if err := ds.finish(approval, study.CodeWithdrawn, ledger.ByOperator, nil); err != nil {
		return err
	}
	ds.a.log.Info("an approval is withdrawn; what it reserved is free again", "study", id, "name", approval.Name, "by", ledger.ByOperator,
		"code", study.CodeWithdrawn, "population", approval.Population, "rho", approval.Rho)
	ds.a.post(ds.withdrawal(id, study.CodeWithdrawn))
	return nil
}

// finish ends an approved study here: by its operator's word, or by its expiry.
func (ds *Decisions) finish(approval ledger.Approval, code study.Code, by string, why error) error {
	id := proposal.Digest(approval.Study)
	body, _ := ds.a.ledger.Proposal(id)
	if err := ds.a.ledger.Leave(id, string(code)); err != nil {
		ds.a.failed(err)
		return err
	}
	ds.a.endings.put(proposals.Past{Digest: id, Name: approval.Name, State: string(ledger.Finished), Code: code, By: by,
		Population: approval.Population, Rho: approval.Rho, Proposer: party(approval.Proposer)}, body, why)
	ds.a.sessions.forget(id)
	return nil
}

// withdrew reports whether a study is over because its approval was taken back, or expired, here
// before its setup began. A coordinator ends a study with the same codes where another site's was,
// and this site MUST NOT sign that its own was.
func withdrew(e ledger.StudyEntry) bool {
	return e.Own && e.State == ledger.Finished && (e.Code == string(study.CodeWithdrawn) || e.Code == string(study.CodeExpired))
}

// withdrawal is the signed word that ends a study that this site had approved.
func (ds *Decisions) withdrawal(id proposal.Digest, code study.Code) wire.Decision {
	return ds.sign(wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictRejected, Code: code})
}

// NotApprovedError is a withdrawal of an approval that was not given.
type NotApprovedError struct{ Study proposal.Digest }

func (e *NotApprovedError) Error() string {
	return fmt.Sprintf("study %s is not approved here, so there is nothing to withdraw; \"agent study reject\" rejects it", e.Study.String()[:12])
}

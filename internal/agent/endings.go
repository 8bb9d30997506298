package agent

import (
	"errors"
	"fmt"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/proposals"
	"covey/internal/study"
)

// What a past study's state is where the ledger says nothing of it.
const (
	stateRefused = "refused" // by a check or the policy, before anybody was asked
	stateEnded   = "ended"   // by the coordinator, or by its expiry, before this site approved it
)

// endings are how proposals ended here, as the operator sees it.
type endings struct {
	a    *Agent
	past *proposals.PastStore
}

// put puts on record how a proposal ended here. That the record cannot be written is logged and
// changes nothing else.
func (e *endings) put(one proposals.Past, body []byte, why error) {
	one.Time = e.a.now()
	one.Proposal = body
	if why != nil {
		one.Why = why.Error()
	}
	if err := e.past.Put(one); err != nil {
		e.a.log.Error("how a proposal ended is not kept for \"study list\"", "study", one.Digest, "error", err)
	}
}

// elsewhere says whose doing an end is that the coordinator tells of: without it a site that
// approved reads "rejected" of its own study. Nobody signed the coordinator's word.
func elsewhere(code study.Code) error {
	what, ok := map[study.Code]string{
		study.CodeRejected:  "another site rejected it",
		study.CodeWithdrawn: "another site took its approval back",
		study.CodeExpired:   "not every site had approved it in time",
		study.CodeRetracted: "its analyst took it back",
		study.CodeAborted:   "its operator ended it",
	}[code]
	switch {
	case code == study.CodeCompleted:
		return nil
	case !ok:
		return fmt.Errorf("the coordinator ended it: docs/errors.md explains %s", code)
	}
	return errors.New("the coordinator says that " + what)
}

// closed is endings.put with what the session knows.
func (s *session) closed(state string, code study.Code, by string, why error) {
	s.agent.endings.put(proposals.Past{Digest: s.plan.Digest, Name: s.plan.Proposal.Spec.Name, State: state, Code: code, By: by,
		Population: s.dataset.Population, Rho: s.plan.Rho, Proposer: s.plan.Proposal.Proposer}, s.body, why)
}

// rejected keeps what the operator said no to.
func (e *endings) rejected(id proposal.Digest, body []byte) {
	one := proposals.Past{Digest: id, State: string(ledger.Rejected), Code: study.CodeRejected, By: ledger.ByOperator}
	if p, err := proposal.Parse(body); err == nil {
		one.Name, one.Proposer = p.Spec.Name, p.Proposer
		if d, ok := e.a.Settings.current.Load().Dataset(p.Spec.Dataset); ok {
			one.Population = d.Population
		}
		if plan, err := study.NewPlan(body); err == nil {
			one.Rho = plan.Rho
		}
	}
	e.put(one, body, nil)
}

// refused keeps a proposal that no session can be made of. Of bytes that are no proposal the digest
// alone is kept.
func (e *endings) refused(body []byte, code study.Code, why error) {
	one := proposals.Past{Digest: proposal.DigestOf(body), State: stateRefused, Code: code, By: "check"}
	if p, err := proposal.Parse(body); err == nil {
		one.Name, one.Proposer = p.Spec.Name, p.Proposer
	} else {
		body = nil
	}
	e.put(one, body, why)
}

// reopened forgets how a proposal ended that is pending or approved now.
func (e *endings) reopened(id proposal.Digest) {
	if err := e.past.Remove(id); err != nil {
		e.a.log.Error("the record of a proposal that is open again cannot be removed", "study", id, "error", err)
	}
}

// ClosedError is a decision about a study that is over here. It is also a *proposal.UnknownError:
// nothing can be decided.
type ClosedError struct {
	Study proposal.Digest
	State string
	Code  study.Code
}

func (e *ClosedError) Error() string {
	return "study " + e.Study.String()[:12] + " is over here: " + e.State + " (" + string(e.Code) + "); \"agent study show\" says why"
}

// Unwrap returns the *proposal.UnknownError.
func (e *ClosedError) Unwrap() error { return &proposal.UnknownError{Ref: e.Study.String()} }

// unknown is the error for a study that is neither pending nor on the ledger.
func (e *endings) unknown(id proposal.Digest) error {
	if one, ok := e.past.Get(id); ok {
		return &ClosedError{id, one.State, one.Code}
	}
	return &proposal.UnknownError{Ref: id.String()}
}

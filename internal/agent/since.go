package agent

import (
	"bytes"
	"time"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/terms"
)

// Since says what a proposal asks for that an earlier one did not.
type Since struct {
	Digest proposal.Digest `json:"digest"`
	Name   string          `json:"name"`
	// Approved is when the earlier one was approved here.
	Approved time.Time `json:"approved"`
	Changes  []string  `json:"changes"` // in words; empty if there are none
}

// since compares a proposal with the last one of the same proposer's key and population that was
// approved here and not withdrawn; it returns nil if there was no such proposal, or if it is no
// longer kept. A name alone matches nothing: anybody can take it.
func (vs *Views) since(s *session) *Since {
	population := s.population()
	for _, e := range vs.a.ledger.Studies() { // the newest first
		id := proposal.Digest(e.Study)
		if id == s.plan.Digest || e.Population != population || e.State != ledger.Approved && e.State != ledger.Finished || withdrew(e) {
			continue
		}
		before, err := vs.kept(id)
		if err != nil || !sameProposer(before, s.plan.Proposal) {
			continue
		}
		return &Since{id, before.Spec.Name, e.Time, terms.Changes(before, s.plan.Proposal)}
	}
	return nil
}

// kept returns a study's proposal, as far as it is kept here.
func (vs *Views) kept(id proposal.Digest) (proposal.Proposal, error) {
	body, approved := vs.a.ledger.Proposal(id)
	if !approved {
		body = vs.a.endings.past.Proposal(id)
	}
	return proposal.Parse(body)
}

// sameProposer reports whether one key made both proposals: an analyst's, or the coordinator's
// where its operator did.
func sameProposer(a, b proposal.Proposal) bool {
	if a.Proposer == nil || b.Proposer == nil {
		return a.Proposer == nil && b.Proposer == nil && bytes.Equal(a.Coordinator, b.Coordinator)
	}
	return bytes.Equal(a.Proposer.Identity, b.Proposer.Identity)
}

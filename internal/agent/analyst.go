package agent

import (
	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/siteconfig"
)

// AnalystView is an analyst of a proposal as this site's operator sees it.
type AnalystView struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"` // of its key
	// Known is whether [policy.analysts] lists it: "yes", "no", or "other key"; empty where the
	// policy lists no analysts.
	Known string `json:"known,omitempty"`
}

// analystOf returns an analyst as the operator sees it, with whether the policy lists it.
func analystOf(policy *siteconfig.Policy, p proposal.Party) AnalystView {
	return AnalystView{p.Name, pki.Fingerprint([]byte(p.Identity)), policy.KnowsAnalyst(p)}
}

// proposerOf returns a proposal's proposer as the ledger keeps it.
func proposerOf(p proposal.Proposal) ledger.Proposer {
	if p.Proposer == nil {
		return ledger.Proposer{}
	}
	return ledger.Proposer{Name: p.Proposer.Name, Key: p.Proposer.Identity}
}

// party returns a proposer on the ledger as a party, nil for the zero Proposer.
func party(p ledger.Proposer) *proposal.Party {
	if len(p.Key) == 0 {
		return nil
	}
	return &proposal.Party{Name: p.Name, Identity: p.Key}
}

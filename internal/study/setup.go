package study

import (
	"crypto/ed25519"

	"covey/internal/secagg"
)

// Setup returns what a setup attempt of the plan's study binds.
func (p *Plan) Setup(attempt uint32) secagg.Config {
	t := p.Thresholds
	c := secagg.Config{
		Study: p.Digest, Corrupt: t.Corrupt, Quorum: t.Quorum, MinSurvivors: t.MinSurvivors,
		Slots: p.Slots, Attempt: attempt, Sparse: t.Neighbourhood(),
	}
	for _, m := range p.Proposal.Roster {
		c.Identity = append(c.Identity, ed25519.PublicKey(m.Identity))
	}
	return c
}

// Summed is what package secagg calls the query of an ask, after a setup of that transcript.
func (p *Plan) Summed(transcript [32]byte, a Ask) secagg.Query {
	return secagg.Query{Slot: a.Slot, Context: p.Context(transcript, a), Bits: p.Bits, Lanes: p.Queries[a.Query].Lanes}
}

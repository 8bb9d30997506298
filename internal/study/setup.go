package study

import (
	"crypto/ed25519"

	"covey/internal/proposal"
	"covey/internal/secagg"
)

// What a setup may take of a coordinator.
const (
	maxKept   = 4 << 30   // bytes in a leader's memory
	maxLogged = 256 << 20 // bytes in the log
)

// setupFits refuses a setup that takes too much of a coordinator: of each pair and slot a tag and a
// deposit, 32 bytes each, which on the sparse graph are in the leader's memory alone; in the log of
// each site and slot two commitments and the hash of the tags.
func setupFits(t proposal.Thresholds, slots int) error {
	pairs := t.Sites * min(t.Degree, t.Sites/2)
	kept, logged := 64*slots*pairs, 96*slots*t.Sites
	if !t.Sparse() {
		logged = kept + 64*slots*t.Sites
	}
	if t.Whole() { // nothing is kept for when one drops out
		kept, logged = 0, 32*slots*t.Sites
	}
	if kept > maxKept || logged > maxLogged {
		return proposal.FieldErrorf("sites", "%d sites with %d queries and spare slots: a coordinator would keep %d MiB for when sites drop out, at most %d, and %d MiB in its log, at most %d",
			t.Sites, slots, kept>>20, maxKept>>20, logged>>20, maxLogged>>20)
	}
	return nil
}

// Setup returns what the setup of the plan's study binds.
func (p *Plan) Setup() secagg.Config {
	t := p.Thresholds
	c := secagg.Config{
		Study: p.Digest, Corrupt: t.Corrupt, Quorum: t.Quorum, MinSurvivors: t.MinSurvivors,
		Slots: p.Slots, Sparse: t.Numbers(),
	}
	for _, m := range p.Proposal.Roster {
		c.Identity = append(c.Identity, ed25519.PublicKey(m.Identity))
	}
	return c
}

// Summed returns package secagg's name for the query of an ask, after the setup with this
// transcript.
func (p *Plan) Summed(transcript [32]byte, a Ask) secagg.Query {
	return secagg.Query{Slot: a.Slot, Context: p.Context(transcript, a), Bits: p.Bits, Lanes: p.Queries[a.Query].Lanes, Chain: p.Noise.Removes()}
}

package agent

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestOnlySignedProposals: a proposal that names a proposer is looked at only with that key's
// signature over these very bytes, whoever would approve it.
func TestOnlySignedProposals(t *testing.T) {
	ada := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	for _, policy := range []string{`approve = "ask"`, autoPolicy} {
		c := newStandIn(t, 3, policy, nil)
		p, err := proposal.Parse(c.body)
		if err != nil {
			t.Fatal(err)
		}
		by := &proposal.Party{Name: "ada", Identity: proposal.Key(ada.Public().(ed25519.PublicKey))}
		body, err := proposal.ProposeAs(by, p.Spec, p.Roster, nil, c.key.Public().(ed25519.PublicKey), [32]byte{2})
		if err != nil {
			t.Fatal(err)
		}
		signed := proposal.SignProposal(ada, proposal.DigestOf(body))
		for name, offer := range map[string]wire.Proposal{
			"without":               {Body: body},
			"by the coordinator":    {Body: body, Signature: proposal.SignProposal(c.key, proposal.DigestOf(body))},
			"over other bytes":      {Body: append(bytes.Clone(body), '\n'), Signature: signed},
			"where there is nobody": {Body: c.body, Signature: signed},
		} {
			s := c.sites[0]
			if d := want[wire.Decision](s, offer); d.Verdict != study.VerdictRejected || d.Code != study.CodeBadSignature || d.Study != proposal.DigestOf(offer.Body) {
				t.Errorf("%s: a proposal with a signature %s is answered %+v", policy, name, d)
			}
			if s.agent.pending.Has(proposal.DigestOf(offer.Body)) {
				t.Errorf("%s: a proposal with a signature %s is kept", policy, name)
			}
		}
		if d := want[wire.Decision](c.sites[1], wire.Proposal{Body: body, Signature: signed}); d.Verdict == study.VerdictRejected {
			t.Errorf("%s: a signed proposal is answered %+v", policy, d)
		}
	}
}

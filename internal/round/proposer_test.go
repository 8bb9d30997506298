package round

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"

	"covey/internal/proposal"
)

// TestProposalsAreSigned: R14. A proposal that names an analyst is applied, and taken from a
// snapshot, with the analyst's signature over these very bytes alone; agents are sent it.
func TestProposalsAreSigned(t *testing.T) {
	ada := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	p, err := proposal.Parse(proposed(t, 3, nil))
	if err != nil {
		t.Fatal(err)
	}
	by := &proposal.Party{Name: "ada", Identity: proposal.Key(ada.Public().(ed25519.PublicKey))}
	body, err := proposal.ProposeAs(by, p.Spec, p.Roster, nil, ed25519.PublicKey(p.Coordinator), [32]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	id := proposal.DigestOf(body)
	good := proposal.SignProposal(ada, id)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	entry := Entry{Kind: EntryProposed, Study: id, Body: body, Signature: good}
	s := &State{}
	if err := s.apply(entry); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(s.Durable); err != nil {
		t.Error(err)
	}
	for name, signature := range map[string][]byte{"none": nil, "another's": proposal.SignProposal(other, id), "of other bytes": proposal.SignProposal(ada, proposal.DigestOf(p.Coordinator))} {
		wrong := entry
		wrong.Signature = signature
		if _, ok := errors.AsType[*proposal.SignatureError]((&State{}).apply(wrong)); !ok {
			t.Errorf("a signature that is %s is applied", name)
		}
		kept := s.Durable
		kept.Signature = signature
		if _, err := Restore(kept); err == nil {
			t.Errorf("a snapshot whose signature is %s is taken", name)
		}
	}
}

package result

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestVerifyProposer: the result of an analyst's study shows the analyst's signature on its digest,
// and one of the operator's shows none: whoever holds the coordinator's key cannot say that an
// analyst asked for it.
func TestVerifyProposer(t *testing.T) {
	ada := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	by := &proposal.Party{Name: "ada", Identity: proposal.Key(ada.Public().(ed25519.PublicKey))}
	p, body, signed := courseBy(t, by, public, nil)
	signature := proposal.SignProposal(ada, p.Digest)
	e := evidenceOf(t, p, signed)
	e.Proposer = signature
	r := wholly(t, p, body, signed, e)
	v, err := Verify(file(t, r))
	if err != nil || v.Proposer == nil || !v.Proposer.Same(*by) || r.Proposer != "ada" {
		t.Fatalf("%+v, %v", v, err)
	}
	other := bytes.Clone(signature)
	other[3] ^= 1
	for name, wrong := range map[string]Blob{"none": nil, "altered": other, "the coordinator's": proposal.SignProposal(texts.Signer, p.Digest), "of another digest": proposal.SignProposal(ada, proposal.Digest{1})} {
		r.ProposerSignature = wrong
		reseal(t, r)
		refuses(t, file(t, r), "proposer_signature", -1)
		e.Proposer = wrong
		if _, err := Sign(p, body, signed, e, texts.Signer); err == nil {
			t.Errorf("a result is made with a proposer's signature that is %s", name)
		}
	}
	r.ProposerSignature, r.Proposer = signature, "bob"
	reseal(t, r)
	refuses(t, file(t, r), "proposer", -1)

	q, body, signed := course(t, public, nil)
	r = made(t, q, body, signed)
	if v, err := Verify(file(t, r)); err != nil || v.Proposer != nil || r.Proposer != "" {
		t.Fatalf("%+v, %v", v, err)
	}
	r.ProposerSignature = proposal.SignProposal(ada, q.Digest)
	reseal(t, r)
	refuses(t, file(t, r), "proposer_signature", -1)
}

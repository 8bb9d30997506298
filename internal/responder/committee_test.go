package responder

import (
	"crypto/ed25519"
	"crypto/rand"
	"testing"

	"covey/internal/keyring"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/parties"
	"covey/test/texts"
)

// TestTheCommitteeSignsWithItsUploads: on the sparse graph a site outside of the committee, which
// is asked for no signature, makes none with its upload, which it would show again with each.
func TestTheCommitteeSignsWithItsUploads(t *testing.T) {
	const sites = 100
	keys, units := make([]ed25519.PrivateKey, sites), make([]int, sites)
	for i := range keys {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		keys[i], units[i] = key, 1000
	}
	roster := texts.Roster(units...)
	for i := range roster {
		roster[i].Identity = proposal.Key(keys[i].Public().(ed25519.PublicKey))
	}
	spec, err := proposal.ParseSpec([]byte(texts.Four))
	if err != nil {
		t.Fatal(err)
	}
	body, err := proposal.Propose(spec, roster, texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		t.Fatal(err)
	}
	if spec := plan.Proposal.Spec; spec.OnDropout != proposal.DropoutWait || !plan.Thresholds.Sparse() {
		t.Fatalf("%q, %+v", spec.OnDropout, plan.Thresholds)
	}
	all, err := parties.New(plan.Setup(), keys, nil)
	if err != nil {
		t.Fatal(err)
	}
	signers := 0
	for i := range sites {
		s := &Responder{plan: plan, self: i, ring: &keyring.Ring{Setup: all.Setup}}
		s.answers.s = s
		signs := s.answers.opening(&openQuery{})[0].Sign != nil
		if counts := all.Setup.Graph().Signs(i); counts != signs {
			t.Errorf("site %d, of the committee: %t, signs: %t", i, counts, signs)
		}
		if signs {
			signers++
		}
	}
	if signers == 0 || signers == sites {
		t.Errorf("%d of %d sites sign", signers, sites)
	}
}

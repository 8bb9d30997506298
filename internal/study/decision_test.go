package study

import (
	"crypto/ed25519"
	"testing"
)

// TestDecisionSignature: a signature is good for one key, digest, word and reason.
func TestDecisionSignature(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	m := Member{Identity: Key(key.Public().(ed25519.PublicKey))}
	d := Digest{7}
	no := SignDecision(key, d, VerdictRejected, CodeData)
	if !CheckDecision(m, d, VerdictRejected, CodeData, no) || !CheckDecision(m, d, VerdictApproved, "", SignDecision(key, d, VerdictApproved, "")) {
		t.Fatal("a good one is refused")
	}
	for name, bad := range map[string]bool{
		"digest":    CheckDecision(m, Digest{8}, VerdictRejected, CodeData, no),
		"word":      CheckDecision(m, d, VerdictApproved, CodeData, no),
		"code":      CheckDecision(m, d, VerdictRejected, CodeBudget, no),
		"key":       CheckDecision(Member{Identity: make(Key, 32)}, d, VerdictRejected, CodeData, no),
		"no key":    CheckDecision(Member{}, d, VerdictRejected, CodeData, no),
		"no word":   CheckDecision(m, d, "pending", "", SignDecision(key, d, "pending", "")),
		"truncated": CheckDecision(m, d, VerdictRejected, CodeData, no[:63]),
	} {
		if bad {
			t.Errorf("another %s is taken", name)
		}
	}
}

// TestVerifyApprovals: a result shows all sites' approvals of its digest.
func TestVerifyApprovals(t *testing.T) {
	p, body, signed := course(t, public, nil)
	all := approvalsOf(p)
	r, err := SignResult(body, signed, signer, all...)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(file(t, r)); err != nil || !v.Approved {
		t.Fatalf("%+v, %v", v, err)
	}
	r.Approvals = all[:4]
	reseal(t, r)
	refuses(t, file(t, r), "approvals", -1)
	r.Approvals = append(append([]Blob{}, all[:4]...), all[3])
	reseal(t, r)
	refuses(t, file(t, r), "approvals", -1)
	if _, err := SignResult(body, signed, signer, all[1:]...); err == nil {
		t.Error("a result is made with approvals that do not check")
	}
	r.Approvals = nil
	reseal(t, r)
	refuses(t, file(t, r), "approvals", -1)
	if _, err := SignResult(body, signed, signer); err == nil {
		t.Error("a result is made without approvals")
	}
}

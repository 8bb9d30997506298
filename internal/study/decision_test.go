package study

import (
	"crypto/ed25519"
	"testing"

	"covey/internal/proposal"
)

// TestDecisionSignature: a signature is good for one key, digest, word and reason.
func TestDecisionSignature(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	m := proposal.Member{Identity: proposal.Key(key.Public().(ed25519.PublicKey))}
	d := proposal.Digest{7}
	no := SignDecision(key, d, VerdictRejected, CodeData)
	if !CheckDecision(m, d, VerdictRejected, CodeData, no) || !CheckDecision(m, d, VerdictApproved, "", SignDecision(key, d, VerdictApproved, "")) {
		t.Fatal("a good one is refused")
	}
	for name, bad := range map[string]bool{
		"digest":    CheckDecision(m, proposal.Digest{8}, VerdictRejected, CodeData, no),
		"word":      CheckDecision(m, d, VerdictApproved, CodeData, no),
		"code":      CheckDecision(m, d, VerdictRejected, CodeBudget, no),
		"key":       CheckDecision(proposal.Member{Identity: make(proposal.Key, 32)}, d, VerdictRejected, CodeData, no),
		"no key":    CheckDecision(proposal.Member{}, d, VerdictRejected, CodeData, no),
		"no word":   CheckDecision(m, d, "pending", "", SignDecision(key, d, "pending", "")),
		"truncated": CheckDecision(m, d, VerdictRejected, CodeData, no[:63]),
	} {
		if bad {
			t.Errorf("another %s is taken", name)
		}
	}
}

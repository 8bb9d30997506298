package study

import (
	"crypto/ed25519"
	"slices"
)

// The words of a decision that is signed.
const (
	DecisionApproved = "approved"
	DecisionRejected = "rejected"
)

// decisionLabel separates decisions from all else that an identity key signs.
const decisionLabel = "covey decision v1\x00"

// decisionInput is what a site signs: the digest, which stands for the proposal's exact
// bytes, the roster and the budget in them; then the word, and why. Neither holds a NUL.
func decisionInput(d Digest, word string, code Code) []byte {
	return slices.Concat([]byte(decisionLabel), d[:], []byte(word), []byte{0}, []byte(code))
}

// SignDecision signs a site's word on a proposal, DecisionApproved or DecisionRejected,
// with its identity key. An approval's code is empty. Ed25519 signatures are a function
// of key and message: whoever holds the key can show the same approval again.
func SignDecision(key ed25519.PrivateKey, d Digest, word string, code Code) []byte {
	return ed25519.Sign(key, decisionInput(d, word, code))
}

// CheckDecision reports whether a member's key has signed this word on this digest.
func CheckDecision(m Member, d Digest, word string, code Code, signature []byte) bool {
	return len(m.Identity) == ed25519.PublicKeySize && (word == DecisionApproved || word == DecisionRejected) &&
		ed25519.Verify(ed25519.PublicKey(m.Identity), decisionInput(d, word, code), signature)
}

// checkApprovals checks the approvals that a result shows: one of each site of the roster,
// in its order, each over this proposal's digest.
func (r *Result) checkApprovals(p *Plan) error {
	if len(r.Approvals) != len(p.Proposal.Roster) {
		return unverified(-1, "approvals", "has %d signatures, the roster %d sites", len(r.Approvals), len(p.Proposal.Roster))
	}
	for i, m := range p.Proposal.Roster {
		if !CheckDecision(m, p.Digest, DecisionApproved, "", r.Approvals[i]) {
			return unverified(-1, "approvals", "%s's is not its identity key's over this digest", m.Name)
		}
	}
	return nil
}

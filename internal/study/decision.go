package study

import (
	"crypto/ed25519"
	"slices"

	"covey/internal/proposal"
)

// Verdict is a site's answer to a proposal.
type Verdict string

// The verdicts. A pending one is not signed.
const (
	VerdictPending  Verdict = "pending"
	VerdictApproved Verdict = "approved"
	VerdictRejected Verdict = "rejected"
)

// decisionLabel separates decisions from all else that an identity key signs.
const decisionLabel = "covey decision v1\x00"

// decisionInput returns the bytes that a site signs: the digest, which covers the proposal's exact
// bytes with roster and budget; then the verdict, and its code. Neither holds a NUL.
func decisionInput(d proposal.Digest, verdict Verdict, code Code) []byte {
	return slices.Concat([]byte(decisionLabel), d[:], []byte(verdict), []byte{0}, []byte(code))
}

// SignDecision signs a site's verdict on a proposal, VerdictApproved or VerdictRejected,
// with its identity key. An approval's code is empty. Ed25519 signatures are a function
// of key and message: whoever holds the key can show the same approval again.
func SignDecision(key ed25519.PrivateKey, d proposal.Digest, verdict Verdict, code Code) []byte {
	return ed25519.Sign(key, decisionInput(d, verdict, code))
}

// CheckDecision reports whether a member's key has signed this verdict on this digest.
func CheckDecision(m proposal.Member, d proposal.Digest, verdict Verdict, code Code, signature []byte) bool {
	return len(m.Identity) == ed25519.PublicKeySize && (verdict == VerdictApproved || verdict == VerdictRejected) &&
		ed25519.Verify(ed25519.PublicKey(m.Identity), decisionInput(d, verdict, code), signature)
}

package result

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"

	"covey/internal/proposal"
	"covey/internal/study"
)

// Blob is bytes written in base64, in one form only: padded, without line breaks,
// unused bits zero. encoding/json's own form of []byte has several for the same bytes.
type Blob []byte

// MarshalText writes base64.
func (b Blob) MarshalText() ([]byte, error) { return base64.StdEncoding.AppendEncode(nil, b), nil }

// UnmarshalText reads what MarshalText writes and nothing else.
func (b *Blob) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	// a decoder skips line breaks
	if err != nil || base64.StdEncoding.EncodedLen(len(raw)) != len(text) {
		return proposal.FieldErrorf("base64", "must be padded, without line breaks, its unused bits zero")
	}
	*b = raw
	return nil
}

// SignedRelease is a release exactly as the coordinator signed it.
type SignedRelease struct {
	Encoded   Blob `json:"encoded"`   // Release.Encode
	Signature Blob `json:"signature"` // of SigningInput, Ed25519
}

// chainLabel begins every link, resultLabel separates the coordinator's signatures of
// results from every other.
const (
	chainLabel  = "covey result chain v1"
	resultLabel = "covey result v1\x00"
)

// ChainOf is the last link of a study's hash chain: link 0 is H(label ‖ digest) and
// link i H(label ‖ link i-1 ‖ release i ‖ its signature), where H is SHA-256 and
// label, release and signature stand behind their lengths.
func ChainOf(digest proposal.Digest, signed []SignedRelease) proposal.Digest {
	label := sized([]byte(chainLabel))
	link := sha256.Sum256(slices.Concat(label, digest[:]))
	for _, s := range signed {
		link = sha256.Sum256(slices.Concat(label, link[:], sized(s.Encoded), sized(s.Signature)))
	}
	return link
}

// sized returns bytes behind their length, of 8 bytes, big-endian.
func sized(b []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(len(b))), b...)
}

// signingInput is what the coordinator signs of a result: the digest, which
// stands for the proposal, the chain, which stands for every release, and the
// hash of the rest, so that no output and no number beside them can be changed.
// The rest is the JSON of a Result without those, and its floats are written as
// the shortest text that reads back the same: reading and writing changes nothing.
func (r *Result) signingInput() ([]byte, error) {
	rest := *r
	rest.Proposal, rest.Signed, rest.Releases, rest.Signature = nil, nil, nil, nil
	rest.Digest, rest.Chain = proposal.Digest{}, proposal.Digest{}
	text, err := json.Marshal(rest)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text)
	return slices.Concat([]byte(resultLabel), r.Digest[:], r.Chain[:], hash[:]), nil
}

// seal fills in what Verify needs and signs.
func (r *Result) seal(body []byte, signed []SignedRelease, key ed25519.PrivateKey) error {
	r.Proposal, r.Signed, r.Chain = body, signed, ChainOf(r.Digest, signed)
	input, err := r.signingInput()
	if err != nil {
		return err
	}
	r.Signature = ed25519.Sign(key, input)
	return nil
}

// Sign makes the result of a proposal's exact bytes and all of its releases,
// in order, and signs it with the proposal's coordinator key. Ed25519 signatures are a
// function of key and message: every replica on the same kind of processor gives the
// same bytes.
// approvals are the sites' signatures on the digest, by roster index.
func Sign(body []byte, signed []SignedRelease, key ed25519.PrivateKey, approvals ...Blob) (*Result, error) {
	return SignOf(body, nil, signed, key, approvals...)
}

// SignOf is Sign of an analyst's proposal, with its signature.
func SignOf(body, proposer []byte, signed []SignedRelease, key ed25519.PrivateKey, approvals ...Blob) (*Result, error) {
	plan, err := study.NewPlan(body)
	if err != nil {
		return nil, err
	}
	if !ed25519.PublicKey(plan.Proposal.Coordinator).Equal(key.Public()) {
		return nil, errors.New("study: the signing key is not the proposal's coordinator key")
	}
	var releases []study.Release
	for _, s := range signed {
		release, err := study.ParseRelease(s.Encoded)
		if err != nil {
			return nil, err
		}
		releases = append(releases, release)
	}
	r, err := New(plan, releases)
	if err != nil {
		return nil, err
	}
	r.Approvals, r.ProposerSignature = approvals, proposer
	if err := r.checkApprovals(plan); err != nil {
		return nil, err
	}
	if err := r.checkProposer(plan); err != nil {
		return nil, err
	}
	return r, r.seal(body, signed, key)
}

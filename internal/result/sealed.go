package result

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"

	"covey/internal/chain"
	"covey/internal/packed"
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
	raw, err := packed.DecodeBase64(nil, text)
	*b = raw
	return err
}

// SignedRelease is a release exactly as the coordinator signed it.
type SignedRelease struct {
	Encoded   []byte // Release.Encode
	Signature []byte // of SigningInput, Ed25519
}

// chainLabel begins every link; resultLabel and siteLabel separate the coordinator's and the sites'
// signatures of results from every other.
const (
	chainLabel  = "covey result chain v1"
	resultLabel = "covey result v1\x00"
	siteLabel   = "covey result site v1\x00"
)

// chainOf is the last link of a study's hash chain: link 0 is H(label ‖ digest) and
// link i H(label ‖ link i-1 ‖ release i ‖ its signature), where H is SHA-256 and
// label, release and signature stand behind their lengths.
func chainOf(digest proposal.Digest, signed []SignedRelease) proposal.Digest {
	link := firstLink(digest)
	for _, s := range signed {
		link = nextLink(link, s)
	}
	return link
}

func firstLink(digest proposal.Digest) proposal.Digest {
	return sha256.Sum256(slices.Concat(sized([]byte(chainLabel)), digest[:]))
}

func nextLink(link proposal.Digest, s SignedRelease) (next proposal.Digest) {
	h := sha256.New()
	for _, part := range [][]byte{sized([]byte(chainLabel)), link[:], size(s.Encoded), s.Encoded, sized(s.Signature)} {
		h.Write(part)
	}
	h.Sum(next[:0])
	return next
}

// sized returns bytes behind their length, of 8 bytes, big-endian.
func sized(b []byte) []byte { return append(size(b), b...) }

func size(b []byte) []byte { return binary.BigEndian.AppendUint64(nil, uint64(len(b))) }

// signingInput is what the coordinator signs of a result: the digest, which
// stands for the proposal, the chain, which stands for every release, and the
// hash of the rest, so that no output and no number beside them can be changed.
// The rest is the JSON of a Result without those, and its floats are written as
// the shortest text that reads back the same: reading and writing changes nothing.
//
// The signatures in a result are not signed again: each is checked by itself. So a coordinator that
// lost which sites certified a release, and asks them again, makes the same result.
func (r *Result) signingInput() ([]byte, error) {
	rest := *r
	rest.dropSignatures()
	rest.Proposal, rest.Signatures, rest.Releases, rest.Signature = nil, nil, nil, nil
	rest.Digest, rest.Chain = proposal.Digest{}, proposal.Digest{}
	hash := sha256.New()
	if err := rest.marshal(hash); err != nil {
		return nil, err
	}
	return slices.Concat([]byte(resultLabel), r.Digest[:], r.Chain[:], hash.Sum(nil)), nil
}

// dropSignatures takes every signature out of a result but the coordinator's on releases and on the
// whole.
func (r *Result) dropSignatures() {
	r.Approvals, r.ProposerSignature, r.Confirmations, r.Certificates, r.SiteSignatures = nil, nil, nil, nil, nil
}

// siteInput is what a site signs of a result: the hash of what the coordinator signs.
func (r *Result) siteInput() ([]byte, error) {
	input, err := r.signingInput()
	hash := sha256.Sum256(input)
	return append([]byte(siteLabel), hash[:]...), err
}

// Evidence is what the sites signed on the way to a result, and where in the coordinators' log it
// stands.
type Evidence struct {
	Proposer      []byte          // the proposer's signature; nil without one
	Approvals     []Blob          // of the digest, by roster index
	Transcript    proposal.Digest // of the setup
	Confirmations []Blob          // of the transcript, by roster index
	Certificates  []Blob          // of each release, in their order
	ChainHead     chain.Head      // of the coordinators' log, as of the last release
}

// put fills evidence in.
func (r *Result) put(e Evidence) {
	r.ProposerSignature, r.Approvals = e.Proposer, e.Approvals
	r.Transcript, r.Confirmations, r.Certificates = e.Transcript, e.Confirmations, e.Certificates
	r.ChainHead = e.ChainHead
}

// Sign makes the result of a proposal, of which the caller has the plan and the exact bytes, and of
// all of its releases, in order, and signs it with the proposal's coordinator key. Sites have not
// signed it yet. What they signed of the setup and of sums is not checked again: the coordinator
// took nothing that did not hold, and sites (Attest) and readers (Verify) check all of it.
//
// Of a wide study's releases the result holds what outputs are made of ([study.Plan.Spent]), which
// is enough for its draft: Draft.Complete has them whole.
func Sign(plan *study.Plan, body []byte, signed []SignedRelease, e Evidence, key ed25519.PrivateKey) (*Result, error) {
	if proposal.DigestOf(body) != plan.Digest {
		return nil, errors.New("result: the plan belongs to another proposal")
	}
	if !ed25519.PublicKey(plan.Proposal.Coordinator).Equal(key.Public()) {
		return nil, errors.New("result: the signing key is not the proposal's coordinator key")
	}
	c := plan.Start()
	var releases []study.Release
	for _, s := range signed {
		release, err := parseCanonical(len(releases), s.Encoded)
		if err != nil {
			return nil, err
		}
		if c, err = plan.NextOf(c, release, s.Encoded, releases); err != nil {
			return nil, err
		}
		releases = append(releases, plan.Spent(release))
	}
	if c.Query != len(plan.Queries) {
		return nil, proposal.FieldErrorf("releases", "the releases end before query %d", c.Query)
	}
	r, err := newResult(plan, releases, c, 0)
	if err != nil {
		return nil, err
	}
	r.put(e)
	r.Proposal, r.Signatures, r.Chain = body, signatures(signed), chainOf(r.Digest, signed)
	if err := r.checkPeople(plan); err != nil {
		return nil, err
	}
	input, err := r.signingInput()
	if err != nil {
		return nil, err
	}
	r.Signature = ed25519.Sign(key, input)
	return r, nil
}

func signatures(signed []SignedRelease) (all []Blob) {
	for _, s := range signed {
		all = append(all, s.Signature)
	}
	return all
}

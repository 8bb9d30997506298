package result

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"iter"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
)

// Draft is a result without what everybody holds who took part in its study, as the coordinator
// sends it to the sites for their signatures: the proposal, the releases and the signatures are
// taken out. What is left is a few numbers for each component. It is the JSON of a Result, in the
// one form that encoding/json writes.
type Draft []byte

// Draft returns r's.
func (r *Result) Draft() (Draft, error) {
	var text bytes.Buffer
	err := r.bare().marshal(&text)
	return text.Bytes(), err
}

func (r *Result) bare() *Result {
	bare := *r
	bare.dropSignatures()
	bare.Proposal, bare.Signatures, bare.Releases = nil, nil, nil
	return &bare
}

// Bare returns the result of a draft with the parts that were taken out of it, but for releases and
// the signatures on them; transcript and the chain's head are the draft's. It checks that the draft
// is one, and nothing else. Sites have not signed it.
func (d Draft) Bare(body []byte, e Evidence) (*Result, error) {
	r, err := d.parse()
	if err != nil {
		return nil, err
	}
	e.Transcript, e.ChainHead = r.Transcript, r.ChainHead
	r.put(e)
	r.Proposal = body
	return r, nil
}

// parse reads a draft, which has one form.
func (d Draft) parse() (*Result, error) {
	var r Result
	if err := json.Unmarshal(d, &r); err != nil {
		return nil, unverified(-1, WhatJSON, "is not a draft of a result")
	}
	again := expected(d)
	if err := r.bare().marshal(&again); err != nil || len(again) > 0 {
		return nil, unverified(-1, WhatJSON, "is a draft in another encoding than the only valid one")
	}
	return &r, nil
}

// Transcript shows the releases of a study one after another, each with its certificate, until see
// fails.
type Transcript func(see func(s SignedRelease, certificate []byte) error) error

// Complete is Bare with the releases, which show their certificates, and the signatures of sites,
// by roster index, nil where absent: of those that count as many as are needed. It is as if it had
// been read from its file ([Read]).
func (d Draft) Complete(body []byte, e Evidence, attestations [][]byte, each Transcript) (*Result, error) {
	r, plan, err := d.signed(body, e, attestations)
	if err != nil {
		return nil, err
	}
	left, err := r.keeps(plan)
	if err != nil {
		return nil, err
	}
	err = each(func(s SignedRelease, certificate []byte) error {
		release, err := parseCanonical(len(r.Releases), s.Encoded)
		if err != nil {
			return err
		}
		r.Releases, r.Signatures, r.Certificates = append(r.Releases, left(release)), append(r.Signatures, s.Signature), append(r.Certificates, certificate)
		return nil
	})
	return r, err
}

// Writer returns what writes the file of the result that Complete returns. No release is kept, or
// read.
func (d Draft) Writer(body []byte, e Evidence, attestations [][]byte, each Transcript) (func(io.Writer) error, error) {
	r, _, err := d.signed(body, e, attestations)
	if err != nil {
		return nil, err
	}
	return func(to io.Writer) error {
		whole := *r
		return whole.write(to, func(see func(text []byte) error) error {
			return each(func(s SignedRelease, certificate []byte) error { // these keys come behind
				whole.Signatures, whole.Certificates = append(whole.Signatures, s.Signature), append(whole.Certificates, certificate)
				return see(s.Encoded)
			})
		})
	}, nil
}

// signed is Bare with the signatures of sites, and the plan.
func (d Draft) signed(body []byte, e Evidence, attestations [][]byte) (*Result, *study.Plan, error) {
	r, err := d.Bare(body, e)
	if err != nil {
		return nil, nil, err
	}
	plan, err := study.NewPlan(body)
	if err != nil {
		return nil, nil, err
	}
	setup, err := secagg.NewWitness(plan.Setup(), r.Transcript)
	if err != nil {
		return nil, nil, err
	}
	r.SiteSignatures = setup.Pack(attestations)
	return r, plan, nil
}

// Checked is what shows a release: the SHA-256 of its bytes, the coordinator's signature on them
// and the certificate of its survivors.
type Checked struct {
	Release                proposal.Digest
	Signature, Certificate []byte
}

// Attest is a site's signature on a bare result that verifies but for the sites' signatures, with
// its identity key: the same function checks it here and in Verify. own is the plan's setup that
// the site took part in: what it found of the roster's keys is not computed again. Attest does not
// check signatures and certificates of releases of which before, if not nil, reports that the site
// checked them before, against the same setup. That a site signs one result of a study, ever, is
// for its journal. The error is a *VerifyError.
//
// Releases are taken one by one. Neither their bytes nor all of their numbers are kept: of a wide
// study there are many ([study.Plan.Spent]).
func (r *Result) Attest(plan *study.Plan, own secagg.Config, key ed25519.PrivateKey, signed iter.Seq[SignedRelease], before func(query int, of Checked) bool) ([]byte, error) {
	t := transcript{left: plan.Spent, each: func(yield func(told, error) bool) {
		for s := range signed {
			release, err := parseCanonical(len(r.Signatures), s.Encoded)
			r.Signatures = append(r.Signatures, s.Signature)
			if !yield(told{release, s.Encoded}, err) {
				return
			}
		}
	}}
	if _, _, err := r.check(plan, own, t, before); err != nil {
		return nil, err
	}
	input, err := r.siteInput()
	if err != nil {
		return nil, unverified(-1, WhatJSON, "%v", err)
	}
	return ed25519.Sign(key, input), nil
}

// Attested returns what reports whether a signature by an identity key is a site's on the result of
// the draft.
func (d Draft) Attested() (func(identity, signature []byte) bool, error) {
	r, err := d.parse()
	if err != nil {
		return nil, err
	}
	input, err := r.siteInput()
	return func(identity, signature []byte) bool {
		return len(identity) == ed25519.PublicKeySize && ed25519.Verify(identity, input, signature)
	}, err
}

package result

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"

	"covey/internal/study"
)

// Draft is a result without what everybody holds who took part in its study, as the coordinator
// sends it to the sites for their signatures: the proposal, the releases and the signatures are
// taken out. What is left is a few numbers for each component. It is the JSON of a Result, in the
// one form that encoding/json writes.
type Draft []byte

// Draft returns r's.
func (r *Result) Draft() (Draft, error) {
	bare := *r
	bare.dropSignatures()
	bare.Proposal, bare.Signed, bare.Releases = nil, nil, nil
	return json.Marshal(bare)
}

// Whole returns the result of a draft with the parts that were taken out of it. It checks that the
// draft is one, and nothing else. sites are the signatures of sites, packed; nil before they are
// there.
func (d Draft) Whole(body []byte, signed []SignedRelease, e Evidence, sites []byte) (*Result, error) {
	var r Result
	if err := json.Unmarshal(d, &r); err != nil {
		return nil, unverified(-1, WhatJSON, "is no draft of a result")
	}
	if again, err := r.Draft(); err != nil || !bytes.Equal(again, d) {
		return nil, unverified(-1, WhatJSON, "is a draft in another form than its one")
	}
	releases, err := parseReleases(signed)
	if err != nil {
		return nil, unverified(-1, "signed", "is no release")
	}
	if r.Attempt != e.Attempt || r.Transcript != e.Transcript {
		return nil, unverified(-1, "transcript", "is of another setup")
	}
	r.put(e)
	r.Proposal, r.Signed, r.Releases, r.SiteSignatures = body, signed, releases, sites
	return &r, nil
}

// SignAs is a site's signature on a result that verifies but for the sites' signatures, with its
// identity key: the same function checks it here and in Verify. That a site signs one result of a
// study, ever, is for its journal. The error is a *VerifyError.
func (r *Result) SignAs(plan *study.Plan, key ed25519.PrivateKey) ([]byte, error) {
	if _, _, err := r.check(plan); err != nil {
		return nil, err
	}
	input, err := r.siteInput()
	if err != nil {
		return nil, unverified(-1, WhatJSON, "%v", err)
	}
	return ed25519.Sign(key, input), nil
}

// CheckSite reports whether a signature of a site, by its roster index, is on this result.
func (r *Result) CheckSite(plan *study.Plan, site int, signature []byte) bool {
	input, err := r.siteInput()
	return err == nil && site >= 0 && site < len(plan.Proposal.Roster) &&
		ed25519.Verify(ed25519.PublicKey(plan.Proposal.Roster[site].Identity), input, signature)
}

package result

import (
	"io"

	"covey/internal/chain"
	"covey/internal/proposal"
	"covey/internal/study"
)

// ReadSimulated reads a file of a simulated study's result, to be drawn: that all of it
// follows from its proposal and its releases is checked as [Verify] does, and signatures it must
// have none. It proves nothing of any site's rows. The error is a *[VerifyError].
func ReadSimulated(file io.Reader) (*Result, error) {
	r, p, err := parsePlanned(file, nil)
	if err != nil {
		return nil, err
	}
	if !r.Simulated {
		return nil, unverified(-1, WhatSimulated, "is not set")
	}
	if len(r.Signatures)+len(r.Approvals)+len(r.Signature)+len(r.Confirmations)+len(r.Certificates)+len(r.SiteSignatures) > 0 ||
		r.Chain != (proposal.Digest{}) || r.Transcript != (proposal.Digest{}) || r.ChainHead != (chain.Head{}) {
		return nil, unverified(-1, "signature", "a simulated study has none, nor a setup, chain or approvals")
	}
	var releases []study.Release
	c, slot := p.Start(), -1
	for i, release := range r.Releases {
		if c.Query == len(p.Queries) || c.End != "" {
			return nil, unverified(-1, "releases", "has %d releases, the study ended with %d", len(r.Releases), i)
		}
		encoded, err := release.Encode()
		if err != nil {
			return nil, unverified(i, "releases", "%v", err)
		}
		if c, err = follow(p, c, slot, release, encoded, releases); err != nil {
			return nil, err
		}
		slot = release.Slot
		releases = append(releases, release)
	}
	if c.Query != len(p.Queries) {
		return nil, unverified(-1, "releases", "has %d releases, and query %d is not among them", len(r.Releases), c.Query)
	}
	unmarked := *r // the mark follows from nothing
	unmarked.Simulated = false
	return r, unmarked.checkOutputs(p, releases, c)
}

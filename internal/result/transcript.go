package result

import (
	"crypto/ed25519"
	"errors"
	"io"
	"strings"

	"covey/internal/proposal"
	"covey/internal/study"
)

// checkReleases checks every release in its place, but for signatures that were checked before. It
// returns the SHA-256 of each as it was signed, the last link of their chain and the course that
// they end in.
func (r *Result) checkReleases(p *study.Plan, checked func(i int, hash proposal.Digest) bool) (hashes []proposal.Digest, link proposal.Digest, c study.Course, err error) {
	link, c = firstLink(r.Digest), p.Start()
	slot := -1
	for i, release := range r.Releases {
		if c.Query == len(p.Queries) || c.End != "" {
			return nil, link, c, unverified(-1, "releases", "has %d releases, the study ended with %d", len(r.Releases), i)
		}
		encoded, err := release.Encode()
		if err != nil {
			return nil, link, c, unverified(i, "releases", "%v", err)
		}
		hash := proposal.DigestOf(encoded)
		if !checked(i, hash) && !verifies(p, study.SigningInput(encoded), r.Signatures[i]) {
			return nil, link, c, unverified(i, "signatures", "is not the coordinator key's over this release")
		}
		hashes, link = append(hashes, hash), nextLink(link, SignedRelease{encoded, r.Signatures[i]})
		if c, err = follow(p, c, slot, release, encoded, r.Releases[:i]); err != nil {
			return nil, link, c, err
		}
		slot = release.Slot
	}
	if c.Query != len(p.Queries) {
		return nil, link, c, unverified(-1, "releases", "has %d releases, and query %d is not among them", len(r.Releases), c.Query)
	}
	return hashes, link, c, nil
}

// follow checks a release in its place, after those before it, the last of which was of a slot, and
// returns the course after it. encoded are the release's bytes.
func follow(p *study.Plan, c study.Course, slot int, release study.Release, encoded []byte, before []study.Release) (study.Course, error) {
	i := len(before)
	if release.Query != c.Query {
		return c, unverified(i, "query", "%d stands in the place of %d", release.Query, c.Query)
	}
	if release.Slot <= slot {
		return c, unverified(i, "slot", "%d does not come after slot %d of the query before", release.Slot, slot)
	}
	// Each charge is within the tolerance of the plan's: so is their sum.
	if err := p.CheckRelease(release); err != nil {
		if m, ok := errors.AsType[*study.MismatchError](err); ok {
			return c, unverified(i, m.Field, "%s", m.Reason)
		}
		return c, unverified(i, "release", "%v", err)
	}
	if err := p.CheckCourse(c, release.Ask()); err != nil {
		if m, ok := errors.AsType[*study.MismatchError](err); ok {
			return c, unverified(i, m.Field, "%s", m.Reason)
		}
		return c, unverified(i, "release", "%v", err)
	}
	next, err := p.NextOf(c, release, encoded, before)
	if err != nil {
		return c, unverified(i, "noised", "%v", err)
	}
	return next, nil
}

// parseCanonical reads a release that is in its one encoding, so that no two
// readers of the same signed bytes see different values.
func parseCanonical(query int, encoded []byte) (study.Release, error) {
	release, err := study.ParseRelease(encoded)
	if err != nil {
		return study.Release{}, unverified(query, "releases", "is no release")
	}
	if !release.EncodedAs(encoded) {
		return study.Release{}, unverified(query, "releases", "is a release in another encoding than the only valid one")
	}
	return release, nil
}

// parsePlanned reads a result file, and the plan of the proposal in it.
func parsePlanned(file io.Reader) (*Result, *study.Plan, error) {
	r, err := parse(file)
	if err != nil {
		return nil, nil, err
	}
	if proposal.DigestOf(r.Proposal) != r.Digest {
		return nil, nil, unverified(-1, "digest", "is not the proposal's, %v", proposal.DigestOf(r.Proposal))
	}
	plan, err := study.NewPlan(r.Proposal)
	if err != nil {
		return nil, nil, unverified(-1, "proposal", "gives no plan: %s", strings.TrimPrefix(err.Error(), "study: "))
	}
	return r, plan, nil
}

func verifies(p *study.Plan, input, signature []byte) bool {
	return ed25519.Verify(ed25519.PublicKey(p.Proposal.Coordinator), input, signature)
}

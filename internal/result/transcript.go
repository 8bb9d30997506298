package result

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
)

// transcript is a result's releases, in order, and what is left of them.
type transcript struct {
	// each release as it was signed; an error is a *VerifyError
	each iter.Seq2[told, error]
	left func(study.Release) study.Release // of one that was checked
}

// told is a release and its bytes, of which nothing is kept.
type told struct {
	study.Release
	encoded []byte
}

// followed is what a result's releases lead to.
type followed struct {
	hashes []proposal.Digest // of each as it was signed, SHA-256
	sums   []secagg.Query    // of each that was not checked before: its sum
	link   proposal.Digest   // the last of the chain
	course study.Course      // that they end in
}

// checkReleases checks every release of a transcript in its place, but for signatures that were
// checked before. Of each the result then has what is left.
func (r *Result) checkReleases(p *study.Plan, t transcript, checked func(query, i int, hash proposal.Digest) bool) (followed, error) {
	f := followed{link: firstLink(r.Digest), course: p.Start()}
	slot := -1
	var left []study.Release
	for release, err := range t.each {
		i := len(left)
		if err != nil {
			return followed{}, err
		}
		if f.course.Query == len(p.Queries) || f.course.End != "" {
			return followed{}, unverified(-1, "releases", "has more releases than the study, which ended with %d", i)
		}
		hash := proposal.DigestOf(release.encoded)
		if i >= len(r.Signatures) {
			return followed{}, unverified(-1, "signatures", "has %d, and there are more releases", i)
		}
		before := checked(release.Query, i, hash)
		if !before && !verifies(p, study.SigningInput(release.encoded), r.Signatures[i]) {
			return followed{}, unverified(i, "signatures", "is not the coordinator key's over this release")
		}
		f.hashes, f.link = append(f.hashes, hash), nextLink(f.link, SignedRelease{release.encoded, r.Signatures[i]})
		if f.course, err = follow(p, f.course, slot, release.Release, release.encoded, left); err != nil {
			return followed{}, err
		}
		var sum secagg.Query
		if !before {
			sum = p.Summed(r.Transcript, release.Ask())
		}
		slot, f.sums, left = release.Slot, append(f.sums, sum), append(left, t.left(release.Release))
	}
	if len(r.Signatures) != len(left) {
		return followed{}, unverified(-1, "signatures", "has %d, releases %d", len(r.Signatures), len(left))
	}
	if f.course.Query != len(p.Queries) {
		return followed{}, unverified(-1, "releases", "has %d releases, and query %d is not among them", len(left), f.course.Query)
	}
	r.Releases = left
	return f, nil
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

// parsePlanned reads a result file, as parse does, and the plan of the proposal in it.
func parsePlanned(file io.Reader, read func(d *json.Decoder, i int) error) (*Result, *study.Plan, error) {
	r, err := parse(file, read)
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

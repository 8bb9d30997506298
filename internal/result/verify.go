package result

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"covey/internal/chain"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
)

// Verified is what a person is told of a result file that Verify found good.
type Verified struct {
	Name        string          `json:"name"`
	Digest      proposal.Digest `json:"digest"`
	Coordinator proposal.Key    `json:"coordinator"` // the key in the proposal, which signed everything
	Sites       int             `json:"sites"`
	// Signed is how many sites signed all that the result says: so many that no second result of
	// the proposal can have as many, while no more sites are corrupt than the plan survives.
	Signed int `json:"sites_signed"`
	// FewestSurvivors is the fewest sites in any sum, by the sites' signatures on each.
	FewestSurvivors int     `json:"fewest_survivors"`
	N               int     `json:"n"` // units
	D               int     `json:"d"`
	Rounds          int     `json:"rounds"`
	Queries         int     `json:"queries"`
	Epsilon         float64 `json:"epsilon"`
	Delta           float64 `json:"delta"`
	Adjacency       string  `json:"adjacency"` // what they are for
	SitesPerUnit    int     `json:"sites_per_unit"`
	Rho             float64 `json:"rho"` // charged
	// Unit is the column whose value says what a unit is, to which ε and δ are promised; a row if
	// empty.
	Unit string `json:"unit,omitempty"`
	// Noise says who saw what: NoiseCentral or NoiseDistributed.
	Noise string `json:"noise"`
	// NoiseFactor is the most noise that a sum has, as a multiple of central noise, and NoiseStayed
	// in how many sums some survivor's noise stayed whole that could have been less: both by the
	// coordinator's word on whose was taken away.
	NoiseFactor float64         `json:"noise_factor"`
	NoiseStayed int             `json:"noise_stayed,omitempty"`
	Chain       proposal.Digest `json:"chain"`
	// ChainHead is the head of the chain of the coordinators' log that was signed with the result.
	ChainHead chain.Head `json:"chain_head"`
	// Approved reports whether the result shows every site's signed approval of the digest: no
	// other verifies.
	Approved bool `json:"approvals_signed"`

	// Proposer is the analyst who signed the digest; nil where the coordinator's operator proposed
	// the study. Readers are the analysts who may read the result besides.
	Proposer *proposal.Party  `json:"proposer,omitempty"`
	Readers  []proposal.Party `json:"readers,omitempty"`

	Roster []proposal.Member `json:"-"`

	releases map[int]proposal.Digest // of the exact signed bytes, by query

	columns int    // of the proposal; D counts their coordinates
	done    string // what found the components
	kept    string // how many rows; empty where none could be left out
	gaps    string // how many cells were filled; empty where none could be
	// which constants were learned; empty where none were
	learned string
	found   string // how many components; empty where that was asked for
	// which pictures there are; empty without any
	pictured string
}

// VerifyError is the first thing of a result file that does not hold.
type VerifyError struct {
	What   string // a key of the file, of a release or of the proposal, or WhatJSON
	Query  int    // the query that it is about, -1 for none
	Reason string
}

// WhatJSON is the What of a file that is not JSON, WhatSimulated that of one that says that its
// study was simulated.
const (
	WhatJSON      = "json"
	WhatSimulated = "simulated"
)

func (e *VerifyError) Error() string {
	if e.Query >= 0 {
		return fmt.Sprintf("study: the result does not verify: query %d: %s: %s", e.Query, e.What, e.Reason)
	}
	return fmt.Sprintf("study: the result does not verify: %s: %s", e.What, e.Reason)
}

func unverified(query int, what, format string, args ...any) error {
	return &VerifyError{What: what, Query: query, Reason: fmt.Sprintf(format, args...)}
}

// Verify checks a result file by itself, without a network or a clock: that the
// proposal gives the digest and the plan, that each release is signed by the
// proposal's coordinator key and is the plan's query in its place, with the
// iterate and the radius that follow from the release before and the plan's
// charge, that the chain is theirs, that every output and number follows from them,
// that the same key signed the whole; and that the sites approved the digest, confirmed the setup,
// signed each release's survivors, and that enough of them signed the whole. The error is a
// *VerifyError.
//
// It cannot tell whether the noise was drawn or the rows were true: agents check what of that they
// can, as they answer. Nor whose the keys are: compare their fingerprints.
func Verify(file []byte) (*Verified, error) {
	_, v, err := Read(bytes.NewReader(file))
	return v, err
}

// Read verifies a file as it is read, and also returns the result. It keeps nothing of the file's
// text, and holds one release's at a time.
func Read(file io.Reader) (*Result, *Verified, error) {
	r, plan, err := parsePlanned(file)
	if err != nil {
		return nil, nil, err
	}
	hashes, setup, err := r.check(plan, nil)
	if err != nil {
		return nil, nil, err
	}
	releases := r.Releases
	input, err := r.siteInput()
	if err != nil {
		return nil, nil, unverified(-1, WhatJSON, "%v", err)
	}
	if err := setup.CheckPacked(input, r.SiteSignatures); err != nil {
		return nil, nil, unverified(-1, "site_signatures", "are not those of enough sites over this result: %s", strings.TrimPrefix(err.Error(), "secagg: "))
	}
	v := &Verified{
		Name: r.Name, Digest: r.Digest, Coordinator: plan.Proposal.Coordinator,
		Sites: plan.Thresholds.Sites, Signed: plan.Thresholds.Threshold, FewestSurvivors: plan.Thresholds.Sites,
		N: plan.N, D: plan.D, Rounds: plan.Rounds, Queries: len(releases),
		Epsilon: r.Epsilon, Delta: r.Delta, Adjacency: plan.Adjacency, SitesPerUnit: plan.SitesPerUnit, Rho: r.Rho, Unit: r.Unit, Noise: r.Noise, Chain: r.Chain, ChainHead: r.ChainHead, Roster: plan.Proposal.Roster,
		Proposer: plan.Proposal.Proposer, Readers: plan.Proposal.Readers,
		Approved: true, releases: map[int]proposal.Digest{},
		columns: len(plan.Proposal.Spec.Columns),
		done:    fmt.Sprintf("T = %d", plan.Rounds), kept: r.KeptText(), gaps: r.FilledText(), learned: r.LearnedText(), found: r.ComponentsText(), pictured: r.PictureText(),
	}
	if r.Method == proposal.MethodCovariance {
		v.done = r.Done()
	}
	for i, release := range releases {
		v.releases[release.Query] = hashes[i]
		v.FewestSurvivors = min(v.FewestSurvivors, len(release.Survivors))
		if release.Sigma > 0 { // else it is a choice
			v.NoiseFactor = max(v.NoiseFactor, release.Spread()/release.Sigma.Float())
		}
		if len(release.Removable()) > 0 && len(release.Removed) < len(release.Survivors) {
			v.NoiseStayed++
		}
	}
	return r, v, nil
}

// check is all that a result must be before sites sign it: Verify but for their signatures. It
// returns the SHA-256 of each release as it was signed, and the setup that follows from the
// transcript. before is Attest's.
func (r *Result) check(plan *study.Plan, before func(query int, of Checked) bool) ([]proposal.Digest, *secagg.Witness, error) {
	if r.Simulated {
		return nil, nil, unverified(-1, WhatSimulated, "no site took part and nobody signed it")
	}
	releases := r.Releases
	if len(r.Signatures) != len(releases) {
		return nil, nil, unverified(-1, "signatures", "has %d, releases %d", len(r.Signatures), len(releases))
	}
	checked := func(i int, hash proposal.Digest) bool {
		return before != nil && i < len(r.Certificates) && before(releases[i].Query, Checked{hash, r.Signatures[i], r.Certificates[i]})
	}
	hashes, link, c, err := r.checkReleases(plan, checked)
	if err != nil {
		return nil, nil, err
	}
	if link != r.Chain {
		return nil, nil, unverified(-1, "chain", "is not that of the signed releases")
	}
	if r.ChainHead.Number <= uint64(len(releases)) { // the proposal's entry comes before theirs
		return nil, nil, unverified(-1, "chain_head", "is of entry %d of the coordinators' log, which has %d releases of the study", r.ChainHead.Number, len(releases))
	}
	if err := r.checkOutputs(plan, releases, c); err != nil {
		return nil, nil, err
	}
	setup, err := r.checkSites(plan, releases, func(i int) bool { return checked(i, hashes[i]) })
	if err != nil {
		return nil, nil, err
	}
	input, err := r.signingInput()
	if err != nil || !verifies(plan, input, r.Signature) {
		return nil, nil, unverified(-1, "signature", "is not the coordinator key's over this result")
	}
	return hashes, setup, nil
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

// Release returns the SHA-256 of the exact signed bytes of a query's release, and whether the
// result has one.
func (v *Verified) Release(query int) (proposal.Digest, bool) {
	hash, ok := v.releases[query]
	return hash, ok
}

// Rows returns v as lines for people: a word, and what holds.
func (v *Verified) Rows() [][2]string {
	unit := "one row"
	if v.Unit != "" {
		unit = fmt.Sprintf("all rows with one value of %q at one site", v.Unit)
	}
	noise := "central: the coordinator's leader saw exact sums over the sites"
	if v.Noise == proposal.NoiseDistributed {
		noise = fmt.Sprintf("distributed: nobody saw an exact sum; up to %.3g times central noise", v.NoiseFactor)
		if v.NoiseStayed > 0 {
			noise += fmt.Sprintf("; in %d of %d sums more noise stayed than so many sites need", v.NoiseStayed, v.Queries)
		}
	}
	width := ""
	if v.D != v.columns {
		width = fmt.Sprintf(" (%d numbers a row)", v.D)
	}
	rows := [][2]string{
		{"study", v.Name},
		{"digest", v.Digest.String()},
		{"data", fmt.Sprintf("%d units × %d columns%s at %d sites, at least %d of them in every sum", v.N, v.columns, width, v.Sites, v.FewestSurvivors)},
		{"rounds", v.done + fmt.Sprintf(", %d queries", v.Queries)},
		{"privacy", fmt.Sprintf("ε = %g, δ = %g: ρ = %.6g charged", v.Epsilon, v.Delta, v.Rho)},
		{"adjacency", v.Adjacency + ": one unit is replaced by another; " + study.AtSites(v.SitesPerUnit)},
		{"unit", unit + ": what privacy protects"},
		{"noise", noise},
		{"approvals", fmt.Sprintf("all %d sites signed this digest", v.Sites)},
		{"signatures", fmt.Sprintf("%d of %d sites signed this result, and each sum's survivors", v.Signed, v.Sites)},
		{"chain", v.Chain.String()},
		{"log", fmt.Sprintf("entry %d of the coordinators' chain: head %.16s…", v.ChainHead.Number, v.ChainHead.Link.String())},
	}
	if v.kept != "" {
		rows = append(rows, [2]string{"rows kept", v.kept})
	}
	if v.gaps != "" {
		rows = append(rows, [2]string{"empty cells", v.gaps})
	}
	if v.found != "" {
		rows = append(rows, [2]string{"components", v.found})
	}
	if v.learned != "" {
		rows = append(rows, [2]string{"constants", v.learned})
	}
	if v.pictured != "" {
		rows = append(rows, [2]string{"pictures", v.pictured})
	}
	return rows
}

func verifies(p *study.Plan, input, signature []byte) bool {
	return ed25519.Verify(ed25519.PublicKey(p.Proposal.Coordinator), input, signature)
}

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
		if c, err = follow(p, c, slot, release, r.Releases[:i]); err != nil {
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
// returns the course after it.
func follow(p *study.Plan, c study.Course, slot int, release study.Release, before []study.Release) (study.Course, error) {
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
	next, err := p.Next(c, release, before)
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
	if again, err := release.Encode(); err != nil || !bytes.Equal(again, encoded) {
		return study.Release{}, unverified(query, "releases", "is a release in another encoding than the only valid one")
	}
	return release, nil
}

// checkOutputs makes the result of the releases, and of the course that they end in, anew: what is
// computed in floats must be near, all else equal.
func (r *Result) checkOutputs(p *study.Plan, releases []study.Release, c study.Course) error {
	want, err := newResult(p, releases, c, 0)
	// a value at a threshold may have fallen on its other side on another processor
	for _, slack := range []float64{cutSlack, -cutSlack} {
		if err == nil && want.K != r.K {
			want, err = newResult(p, releases, c, slack)
		}
	}
	if err != nil {
		return unverified(-1, "releases", "%s", strings.TrimPrefix(err.Error(), "study: "))
	}
	if study.Near(r.NoiseToSignal, want.NoiseToSignal) {
		want.NoiseToSignal = r.NoiseToSignal
	}
	want.Releases, want.Proposal, want.Signatures, want.Chain, want.Signature = r.Releases, r.Proposal, r.Signatures, r.Chain, r.Signature
	want.put(Evidence{r.ProposerSignature, r.Approvals, r.Transcript, r.Confirmations, r.Certificates, r.ChainHead})
	want.SiteSignatures = r.SiteSignatures
	for field := range reflect.TypeFor[Result]().Fields() {
		mine, theirs := reflect.ValueOf(*want).FieldByIndex(field.Index), reflect.ValueOf(*r).FieldByIndex(field.Index)
		same := reflect.DeepEqual(mine.Interface(), theirs.Interface())
		if name := strings.TrimSuffix(field.Tag.Get("json"), ",omitempty"); slices.Contains(computed, name) {
			same = alike(mine, theirs)
		}
		if !same {
			return unverified(-1, strings.TrimSuffix(field.Tag.Get("json"), ",omitempty"), "does not follow from the proposal and the releases")
		}
	}
	return nil
}

// computed are the keys whose numbers come out of more than copying and adding.
var computed = []string{
	"mean_", "scale_", "rows_per_unit", "components_", "outputs", "explained_variance_", "explained_variance_interval_",
	"explained_variance_ratio_", "total_variance_", "total_variance_interval_", "rows_kept_", "rows_kept_interval_",
	"filled_", "filled_interval_",
}

// alike is equality, but of floats: those may differ as verifyTolerance says.
func alike(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Float64:
		return study.NearVector([]float64{a.Float()}, []float64{b.Float()})
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return alike(a.Elem(), b.Elem())
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for _, key := range a.MapKeys() {
			if v := b.MapIndex(key); !v.IsValid() || !alike(a.MapIndex(key), v) {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
}

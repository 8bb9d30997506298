package result

import (
	"bytes"
	"errors"
	"fmt"
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
	return VerifyTwice(bytes.NewReader(file))
}

// verify is Verify of a result that was parsed, with its transcript.
func (r *Result) verify(plan *study.Plan, t transcript) (*Verified, error) {
	hashes, setup, err := r.check(plan, plan.Setup(), t, nil)
	if err != nil {
		return nil, err
	}
	releases := r.Releases
	input, err := r.siteInput()
	if err != nil {
		return nil, unverified(-1, WhatJSON, "%v", err)
	}
	if err := setup.CheckPacked(input, r.SiteSignatures); err != nil {
		return nil, unverified(-1, "site_signatures", "are not those of enough sites over this result: %s", strings.TrimPrefix(err.Error(), "secagg: "))
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
	return v, nil
}

// check is all that a result must be before sites sign it: Verify but for their signatures. It
// returns the SHA-256 of each release as it was signed, and the setup that follows from the
// transcript. numbers are the plan's setup, t has the releases, and before is Attest's.
func (r *Result) check(plan *study.Plan, numbers secagg.Config, t transcript, before func(query int, of Checked) bool) ([]proposal.Digest, *secagg.Witness, error) {
	if r.Simulated {
		return nil, nil, unverified(-1, WhatSimulated, "no site took part and nobody signed it")
	}
	checked := func(query, i int, hash proposal.Digest) bool {
		return before != nil && i < len(r.Certificates) && before(query, Checked{hash, r.Signatures[i], r.Certificates[i]})
	}
	f, err := r.checkReleases(plan, t, checked)
	if err != nil {
		return nil, nil, err
	}
	releases := r.Releases
	if f.link != r.Chain {
		return nil, nil, unverified(-1, "chain", "is not that of the signed releases")
	}
	if r.ChainHead.Number <= uint64(len(releases)) { // the proposal's entry comes before theirs
		return nil, nil, unverified(-1, "chain_head", "is of entry %d of the coordinators' log, which has %d releases of the study", r.ChainHead.Number, len(releases))
	}
	stated := r.checkOutputs(plan, releases, f.course)
	setup, err := r.checkSites(plan, numbers, f.sums, func(i int) bool { return checked(releases[i].Query, i, f.hashes[i]) })
	if stated != nil {
		if err == nil {
			stated = r.signedAs(plan, setup, stated)
		}
		return nil, nil, stated
	}
	if err != nil {
		return nil, nil, err
	}
	input, err := r.signingInput()
	if err != nil || !verifies(plan, input, r.Signature) {
		return nil, nil, unverified(-1, "signature", "is not the coordinator key's over this result")
	}
	return f.hashes, setup, nil
}

// signedAs returns stated, an error of checkOutputs. Where the coordinator and enough sites signed
// the result as it is, they computed it alike: it adds that their version may state it otherwise.
func (r *Result) signedAs(plan *study.Plan, setup *secagg.Witness, stated error) error {
	whole, err := r.signingInput()
	if err != nil || !verifies(plan, whole, r.Signature) {
		return stated
	}
	input, err := r.siteInput()
	if bad, ok := errors.AsType[*VerifyError](stated); ok && err == nil && setup.CheckPacked(input, r.SiteSignatures) == nil {
		bad.Reason += ", as this version computes it, but the coordinator and enough sites signed it: verify it with the version that made it"
	}
	return stated
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

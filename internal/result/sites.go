package result

import (
	"slices"
	"strings"

	"covey/internal/secagg"
	"covey/internal/study"
)

// checkSites checks what the sites signed on the way, and returns the setup that they confirmed, of
// the plan's numbers. sums are those of the releases, of each that certified does not report as
// checked before.
func (r *Result) checkSites(p *study.Plan, numbers secagg.Config, sums []secagg.Query, certified func(release int) bool) (*secagg.Witness, error) {
	if err := r.checkPeople(p); err != nil {
		return nil, err
	}
	setup, err := secagg.NewWitness(numbers, r.Transcript)
	if err != nil {
		return nil, unverified(-1, "transcript", "%s", strings.TrimPrefix(err.Error(), "secagg: "))
	}
	// Without all confirmations anybody may have made the transcript, and with it the committee.
	if err := setup.CheckConfirmations(bytesOf(r.Confirmations)); err != nil {
		return nil, unverified(-1, "confirmations", "are not those of all sites over the transcript: %s", strings.TrimPrefix(err.Error(), "secagg: "))
	}
	if len(r.Certificates) != len(r.Releases) {
		return nil, unverified(-1, "certificates", "has %d, signed %d", len(r.Certificates), len(r.Releases))
	}
	for i, release := range r.Releases {
		if certified(i) {
			continue
		}
		if err := setup.CheckReleased(sums[i], release.Survivors, r.Certificates[i]); err != nil {
			return nil, unverified(i, "certificates", "%s", strings.TrimPrefix(err.Error(), "secagg: "))
		}
	}
	return setup, nil
}

// checkPeople checks what people signed: the approvals and the proposal.
func (r *Result) checkPeople(p *study.Plan) error {
	if err := r.checkApprovals(p); err != nil {
		return err
	}
	return r.checkProposer(p)
}

func bytesOf(blobs []Blob) [][]byte {
	out := make([][]byte, len(blobs))
	for i, b := range blobs {
		out[i] = b
	}
	return out
}

// Blobs returns byte strings as a result holds them.
func Blobs(all [][]byte) []Blob {
	out := make([]Blob, len(all))
	for i, b := range all {
		out[i] = slices.Clip(b)
	}
	return out
}

// checkApprovals checks the approvals that a result shows: one of each site of the roster,
// in its order, each over this proposal's digest.
func (r *Result) checkApprovals(p *study.Plan) error {
	if len(r.Approvals) != len(p.Proposal.Roster) {
		return unverified(-1, "approvals", "has %d signatures, the roster %d sites", len(r.Approvals), len(p.Proposal.Roster))
	}
	for i, m := range p.Proposal.Roster {
		if !study.CheckDecision(m, p.Digest, study.VerdictApproved, "", r.Approvals[i]) {
			return unverified(-1, "approvals", "%s's is not by its identity key over this digest", m.Name)
		}
	}
	return nil
}

// checkProposer checks that the proposal is as its proposer signed it, or has none.
func (r *Result) checkProposer(p *study.Plan) error {
	if p.Proposal.CheckSignature(p.Digest, r.ProposerSignature) != nil {
		return unverified(-1, "proposer_signature", "is not that of the proposal's proposer over this digest")
	}
	return nil
}

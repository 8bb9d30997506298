package responder

import (
	"bytes"
	"slices"

	"covey/internal/egress"
	"covey/internal/keyring"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// The evidence that the ledger is older than what this site has sent, as the log names it.
const (
	FoundRelease = "a release certificate with this site's signature that is not on record"
	FoundFinal   = "a signed result that holds an upload of this site that is not on record"
)

// evidence finds, in what the coordinator shows, what a later state of this site made.
type evidence struct{ s *Responder }

// lostSignature reports whether a certificate for the open query holds a signature of
// this site on u that is not on record.
func (v *evidence) lostSignature(u secagg.Survivors, certificate secagg.Certificate) (bool, error) {
	q := v.s.answers.open.query
	if on, err := v.onRecord(q, u); err != nil || on {
		return false, err
	}
	return len(certificate) == len(v.s.plan.Proposal.Roster) && v.s.ring.Setup.CheckRelease(v.s.self, q, u, certificate[v.s.self]) == nil, nil
}

// onRecord reports whether this site's signature on u for a query is on record.
func (v *evidence) onRecord(q secagg.Query, u secagg.Survivors) (bool, error) {
	on, ok, err := v.s.journal.SignedIn(q.Slot)
	return ok && on.Context == q.Context && bytes.Equal(on.Survivors, u.Bytes()), err
}

// lostUpload reports whether a release, which the coordinator signed, holds an upload of
// this site that is not on record. The record of an upload outlives its bytes, so
// results may come late and in any order. A query whose result is on record is
// past that question.
func (v *evidence) lostUpload(release study.Release) (bool, error) {
	if !slices.Contains(release.Survivors, v.s.self) {
		return false, nil
	}
	if _, known := v.s.journal.FinalResult(release.Query); known {
		return false, nil
	}
	query, ok, err := v.s.journal.UploadedIn(release.Slot)
	return err == nil && !(ok && query == release.Query), err
}

// Missing reports whether one of the messages that left is not on record.
func (s *Responder) Missing(left egress.Witness) (bool, error) {
	v := &s.evidence
	for _, kind := range keyring.Kinds() {
		if left.Sent[kind].Messages == 0 {
			continue
		}
		if on, err := v.s.ring.Recorded(kind); err != nil || !on {
			return err == nil, err
		}
	}
	if left.Sent["attestation"].Messages > 0 {
		if on, err := v.s.journal.ResultSigned(); err != nil || !on {
			return err == nil, err
		}
	}
	for kind, of := range map[string]func(egress.Spot) (int, bool, error){
		"upload": func(at egress.Spot) (int, bool, error) { return v.s.journal.UploadedIn(at.Slot) },
		"signature": func(at egress.Spot) (int, bool, error) {
			on, ok, err := v.s.journal.SignedIn(at.Slot)
			return on.Query, ok, err
		},
		"shares": v.sharedAt, "proof": v.sharedAt, "pairkeys": v.sharedAt,
	} {
		at, left := left.Last[kind]
		if !left {
			continue
		}
		if query, ok, err := of(at); err != nil || !ok || query != at.Query {
			return err == nil, err
		}
	}
	return false, nil
}

// sharedAt reports whether shares for a query and slot are on record. Proofs and keys leave after
// them alone.
func (v *evidence) sharedAt(at egress.Spot) (query int, ok bool, err error) {
	on, ok, err := v.s.journal.SharedIn(at.Query, at.Slot)
	return on.Query, ok, err
}

// lostOwn reports whether the certificate of a release, which is good, holds a signature of this
// site that is not on record.
func (v *evidence) lostOwn(setup *secagg.Setup, r wire.Final, release study.Release) (bool, error) {
	if setup.Unpacked(r.Certificate)[v.s.self] == nil {
		return false, nil
	}
	q := v.s.plan.Summed(setup.Transcript(), release.Ask())
	on, err := v.onRecord(q, secagg.Survivors(release.Survivors))
	return err == nil && !on, err
}

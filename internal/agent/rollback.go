package agent

import (
	"bytes"
	"errors"
	"slices"

	"covey/internal/egress"
	"covey/internal/keyring"
	"covey/internal/ledger"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// A ledger that was put back to an earlier state, from a backup or a snapshot of
// its machine, looks whole: its two files fit. It no longer knows what this site
// has sent since, and the once-only rules rest on that. This file finds what only
// a later state of the site can have made, in what the coordinator shows. What it
// cannot find is in docs/threat-model.md.

// rolledBack leaves a study because of such evidence, and says so.
func (s *session) rolledBack(r wire.Message, evidence string) wire.Message {
	if err := s.leave(evidence); err != nil {
		return refuse(r, s.store(err))
	}
	return refuse(r, study.CodeRolledBack)
}

// leave ends the study here for good. Nobody can say what else was sent for it, so
// all of its approved ρ counts as spent.
func (s *session) leave(evidence string) error {
	s.agent.log.Error("THE LEDGER IS OLDER THAN WHAT THIS SITE HAS ALREADY SENT (a restored backup, or a snapshot of its machine?): "+
		"this site leaves the study for good, and all of the study's ρ counts as spent",
		"study", s.plan.Digest, "name", s.plan.Proposal.Spec.Name, "evidence", evidence,
		"population", s.dataset.Population, "rho", s.plan.Rho)
	if err := s.agent.ledger.Forfeit(s.plan.Digest, string(study.CodeRolledBack)); err != nil {
		return err
	}
	s.closed(string(ledger.Finished), study.CodeRolledBack, "check", errors.New("the ledger was older than what this site had sent: "+evidence))
	s.agent.sessions.forget(s.plan.Digest)
	return nil
}

// The evidence, as the log names it.
const (
	foundRelease = "a release certificate with this site's signature that is not on record"
	foundFinal   = "a signed result that holds an upload of this site that is not on record"
	foundEgress  = "egress.jsonl lists a message that is not on record"
)

// evidence finds, in what the coordinator shows, what a later state of this site made.
type evidence struct{ s *session }

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

// compareEgress looks for what left by egress.jsonl and is not on the ledger, which
// is on disk before a message is on its way: a ledger restored alone.
func (a *Agent) compareEgress() error {
	charged := func(e ledger.StudyEntry) bool { return e.Queries > 0 }
	if slices.ContainsFunc(a.ledger.Studies(), charged) && a.egress.Anew(a.now()) {
		a.log.Error("egress.jsonl IS GONE, and this site has sent what its ledger was charged for; a new one is begun, without what left before")
	}
	for id, left := range a.egress.Witness() {
		e, known := a.ledger.Study(id)
		if !known && left.Sent["announcement"].Messages > 0 {
			a.strangers.log(id, "egress.jsonl lists messages of a study that is not on this ledger")
		}
		if e.State != ledger.Approved {
			continue
		}
		s, code := a.sessions.of(id)
		if code != "" {
			continue // it cannot be gone on with as configured now; looked at again then
		}
		missing, err := s.evidence.missing(left)
		if err == nil && missing {
			err = s.leave(foundEgress)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// missing reports whether one of the messages that left is not on record.
func (v *evidence) missing(left egress.Witness) (bool, error) {
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

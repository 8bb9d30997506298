package responder

import (
	"bytes"
	"crypto/ed25519"
	"errors"

	"covey/internal/study"
	"covey/internal/wire"
)

// final records a query's released value, if the coordinator signed it and it is
// the plan's. The ledger then erases the slot's secrets and all before it.
func (s *Responder) final(r wire.Final) wire.Message {
	log := s.log.With("study", s.plan.Digest, "query", r.Query)
	key := ed25519.PublicKey(s.plan.Proposal.Coordinator)
	if !ed25519.Verify(key, study.SigningInput(r.Encoded), r.Signature) {
		log.Warn("a final result's signature is wrong; it is dropped")
		return nil
	}
	setup, err := s.ring.Witness()
	if err != nil {
		s.owner.Store(err)
		return nil
	} else if setup == nil {
		log.Warn("a final result came before this site confirmed a setup; it is dropped")
		return nil
	}
	release, err := study.ParseRelease(r.Encoded)
	if err == nil && (release.Query != r.Query || release.Slot != r.Slot) {
		err = errors.New("it belongs to another query or slot")
	}
	if err == nil {
		err = s.plan.CheckRelease(release)
	}
	if err == nil {
		err = s.attestation.certified(setup, r, release)
	}
	if err == nil {
		if held, ok := s.results.final(r.Query); ok && !bytes.Equal(held.Encoded, r.Encoded) {
			// The coordinator's own signatures prove that it released twice on one charge (promise
			// P3). Ours stays.
			log.Error("the coordinator signed two results of one query; the first is kept",
				"held", study.Link(held.Encoded), "shown", study.Link(r.Encoded))
			return nil
		} else if ok {
			r.Signature, r.Certificate = held.Signature, held.Certificate // others may be as good
		}
		err = s.succeeds(release, r.Encoded)
	}
	if err != nil {
		log.Warn("a final result does not fit the plan; it is dropped", "error", err)
		return nil
	}
	if lost, err := s.evidence.lostUpload(release); err != nil {
		s.owner.Store(err)
		return nil
	} else if lost {
		return s.owner.RolledBack(r, FoundFinal)
	}
	if lost, err := s.evidence.lostOwn(setup, r, release); err != nil {
		s.owner.Store(err)
		return nil
	} else if lost {
		return s.owner.RolledBack(r, FoundRelease)
	}
	s.results.write(r, release)
	if s.answers.open != nil && s.answers.open.ask.Query <= r.Query {
		s.answers.open = nil
	}
	s.released(release)
	return nil
}

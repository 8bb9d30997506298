package keyring

import (
	"encoding/binary"
	"errors"

	"covey/internal/ledger"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// Confirm opens the boxes for this site, checks every share and key against what was announced,
// stores all of it in one step, and only then sends its signature on the transcript. A dealer whose
// box fails is accused instead, with proof, and the setup is over here.
func (s *Ring) Confirm(r wire.Confirm) wire.Message {
	if _, ok, err := s.journal.Setup(setupConfirmation); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	} else if ok {
		return s.confirmedBefore(r)
	}
	if closed, ok, err := s.journal.Setup(setupClosed); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	} else if ok {
		return s.accuse(r, closed)
	}
	if _, dealt, err := s.journal.Setup(setupBoxes); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	} else if !dealt {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	setup, err := s.verified()
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	sec, err := s.secrets()
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	got, err := setup.Receive(s.self, sec, s.identity, r.Boxes, r.Bodies)
	if at, ok := errors.AsType[*secagg.SiteError](err); ok {
		return s.EndSetup(r, setup, sec, at)
	} else if err != nil {
		return s.blame(r, study.CodeBadBox, err) // of what was relayed: nobody is named
	}
	slots, err := slotItems(sec, got.Held)
	if err != nil {
		return wire.Refuse(r, s.Internal(err))
	}
	err = s.journal.PutConfirmation(ledger.Confirmed{
		Slots: slots, Public: got.Public, Deposits: got.Deposits, Statement: got.Statement, Confirmation: got.Confirmation,
	})
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	// Every later answer of the setup is on record, and each slot now has its own copy of what it
	// needs, to be erased with it. The record makes the setup's secrets due: a crash before this
	// leaves them to the next process's Open.
	if err := s.journal.Erase(); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	return wire.Confirmation{Header: r.Header, Signature: got.Confirmation, Deposits: got.Deposits, Statement: got.Statement}
}

// confirmedBefore answers a Confirm of what is confirmed with what is on record. A box whose tags
// differ from those that this site checked was signed a second time by its sender, and together
// with the recorded first one convicts it.
func (s *Ring) confirmedBefore(r wire.Confirm) wire.Message {
	var parts [4][]byte
	for i, kind := range []string{setupPublic, setupDeposits, setupStatement, setupConfirmation} {
		var err error
		if parts[i], err = s.stored(kind); err != nil {
			return wire.Refuse(r, s.owner.Store(err))
		}
	}
	setup, err := s.verified()
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	if owner, evidence, ok := setup.Contradiction(s.self, parts[0], r.Boxes); ok {
		s.log.Warn("a site's keys differ from those that were confirmed", "study", s.plan.Digest, "site", s.plan.Proposal.Roster[owner].Name)
		no := wire.Refuse(r, study.CodeBadBox)
		no.Culprit, no.Evidence = study.SeatOf(owner), evidence
		return no
	}
	return wire.Confirmation{Header: r.Header, Signature: parts[3], Deposits: parts[1], Statement: parts[2]}
}

// EndSetup ends the setup here because of what a site dealt. The end is on record before the
// seeds that prove the fault leave: a setup whose boxes others can open is never confirmed, so
// nothing is ever masked under it.
func (s *Ring) EndSetup(r wire.Confirm, setup *secagg.Setup, sec secagg.Secrets, at *secagg.SiteError) wire.Message {
	box := []byte(nil)
	for i, from := range setup.Graph().Senders(s.self) {
		if from == at.Site && i < len(r.Boxes) {
			box = r.Boxes[i]
		}
	}
	if at.Site == s.self || box == nil {
		return wire.Refuse(r, s.Internal(at))
	}
	s.log.Warn("a check of the setup failed", "study", s.plan.Digest, "code", study.CodeBadShare, "error", at)
	closed := binary.BigEndian.AppendUint16(nil, uint16(at.Site))
	closed, err := s.journal.Close(append(closed, setup.Accusation(sec, box)...))
	if err == nil {
		err = s.journal.Erase() // its slots mask nothing
	}
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	return s.accuse(r, closed)
}

// accuse refuses with what EndSetup has put on record.
func (s *Ring) accuse(r wire.Confirm, closed []byte) wire.Message {
	if len(closed) < 2 {
		return wire.Refuse(r, s.Internal(errStored))
	}
	no := wire.Refuse(r, study.CodeBadShare)
	no.Culprit, no.Evidence = study.SeatOf(int(binary.BigEndian.Uint16(closed))), closed[2:]
	return no
}

// slotItems returns, by slot, its secret and what is held in it, as they are stored.
func slotItems(sec secagg.Secrets, held secagg.Held) (map[int][]byte, error) {
	slots := make(map[int][]byte, len(held))
	for i := range held {
		raw, err := held[i].MarshalBinary()
		if err != nil {
			return nil, err
		}
		slots[i] = append(sec.Slots[i][:len(sec.Slots[i]):len(sec.Slots[i])], raw...)
	}
	return slots, nil
}

// Slot returns what is held in a slot.
func (s *Ring) Slot(i int) (own secagg.SlotSecret, held secagg.SlotHeld, err error) {
	raw, err := s.journal.Slot(i)
	if err != nil {
		return own, held, err
	}
	defer clear(raw)
	if len(raw) < len(own) {
		return own, held, errStored
	}
	copy(own[:], raw)
	held, err = secagg.UnmarshalSlotHeld(raw[len(own):])
	return own, held, err
}

// Confirmed records that every site holds its shares of one and the same
// transcript. Without it nothing is uploaded, ever: a sum could then be masked
// with keys that some site cannot help to remove.
func (s *Ring) Confirmed(r wire.Confirmed) wire.Message {
	if s.Setup != nil {
		return nil
	}
	if _, ok, err := s.journal.Setup(setupConfirmation); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	} else if !ok {
		lost, err := s.lostConfirmation(r)
		switch {
		case err != nil:
			return wire.Refuse(r, s.owner.Store(err))
		case lost:
			return s.owner.RolledBack(r, FoundConfirmation)
		}
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	setup, err := s.verified()
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	if err := setup.CheckConfirmations(r.Signatures); err != nil {
		// The coordinator checked them when they came: nobody else is named.
		s.log.Warn("a check of the setup failed", "study", s.plan.Digest, "code", study.CodeBadConfirmation, "error", err)
		return wire.Refuse(r, study.CodeBadConfirmation)
	}
	if _, err := s.journal.PutSetup(setupConfirmed, encodeList(r.Signatures)); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	s.Setup, s.checked = setup, nil
	return nil
}

// Recall answers a new leader with what the log holds only hashes of: the tags of the boxes that
// this site sent, and its deposits. Both were sent before.
func (s *Ring) Recall(r wire.Recall) wire.Message {
	deposits, ok, err := s.journal.Setup(setupDeposits)
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	if !ok {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	boxes, err := s.storedList(setupBoxes)
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	setup, err := s.verified()
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	if setup.Config().Whole() { // there are none
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	return wire.Recalled{Header: r.Header, Tags: setup.Tags(s.self, boxes), Deposits: deposits}
}

package keyring

import (
	"bytes"
	"errors"

	"covey/internal/ledger"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// Setup, once a study. Each answer is stored before it is sent and, once
// stored, only ever sent again: a coordinator that lost its place and asks from
// the beginning hears the same bytes. What is stored of it, by kind, in the
// order in which it comes to be:
const (
	// seeds, nonce and slot secrets; erased once the setup is confirmed or closed
	setupSecrets      = ledger.SetupSecrets
	setupAnnouncement = ledger.SetupAnnouncement // this site's, signed; stored with the secrets
	// everyone's, verified: the first set wins; on the sparse graph their heads
	setupAnnouncements = "announcements"
	// everyone's, on the sparse graph: the first set wins
	setupNonces = "nonces"
	setupBoxes  = "boxes" // what this site dealt: drawn once, all stored before the first leaves
	// stored in one step with what it received, by slot; or the reason why it will never confirm
	setupPublic       = ledger.SetupPublic
	setupDeposits     = ledger.SetupDeposits
	setupStatement    = ledger.SetupStatement
	setupConfirmation = ledger.SetupConfirmation
	setupClosed       = ledger.SetupClosed
	setupConfirmed    = "confirmed" // everyone's confirmations, checked: from here on it uploads
)

// Announce answers with this site's keys and commitments: the same as before, if it did.
func (s *Ring) Announce(r wire.Announce) wire.Message {
	signed, ok, err := s.journal.Setup(setupAnnouncement)
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	if !ok {
		if signed, err = s.newAnnouncement(); err != nil {
			return wire.Refuse(r, s.owner.Store(err))
		}
	}
	return wire.Announcement{Header: r.Header, Signed: signed}
}

// newAnnouncement makes the setup's secrets and what is announced of them, and stores both in one
// step. A crash before that leaves nothing, and nothing has left: the next try draws anew.
func (s *Ring) newAnnouncement() ([]byte, error) {
	cfg := s.config()
	sec, err := secagg.NewSecrets(cfg)
	if err != nil {
		return nil, err
	}
	signed, err := secagg.Announce(cfg, s.self, sec, s.identity)
	if err != nil {
		return nil, err
	}
	raw, err := sec.MarshalBinary()
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	return s.journal.PutAnnouncement(raw, signed)
}

func (s *Ring) secrets() (secagg.Secrets, error) {
	raw, err := s.stored(setupSecrets)
	if err != nil {
		return secagg.Secrets{}, err
	}
	defer clear(raw)
	return secagg.UnmarshalSecrets(raw)
}

// shown checks a set of announcements, heads on the sparse graph, and stores it: the first set
// wins. With two sets a coordinator could show sites different keys for one setup, and a site might
// sign or share under both. If an answer is returned, the request is done.
func (s *Ring) shown(r wire.Message, set [][]byte, verify func() error) wire.Message {
	if len(set) == len(s.plan.Proposal.Roster) {
		if made, err := s.madeAnnouncement(set[s.self]); err != nil {
			return wire.Refuse(r, s.owner.Store(err))
		} else if made {
			return s.owner.RolledBack(r, FoundAnnouncement)
		}
	}
	own, ok, err := s.journal.Setup(setupAnnouncement)
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	if !ok {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	stored, ok, err := s.journal.Setup(setupAnnouncements)
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	encoded := encodeList(set)
	if ok && !bytes.Equal(stored, encoded) {
		return s.differs(r, stored, set)
	}
	if ok {
		return nil
	}
	if len(set) != len(s.plan.Proposal.Roster) || !bytes.Equal(set[s.self], s.head(own)) {
		return wire.Refuse(r, study.CodeBadAnnouncement)
	}
	if err := verify(); err != nil {
		return s.blame(r, study.CodeBadAnnouncement, err)
	}
	if _, err := s.journal.PutSetup(setupAnnouncements, encoded); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	return nil
}

// differs refuses a second set of announcements, and shows the recorded form of the first one that
// differs: with the coordinator's it convicts a site that signed two.
func (s *Ring) differs(r wire.Message, stored []byte, set [][]byte) wire.Message {
	no := wire.Refuse(r, study.CodeBadAnnouncement)
	first, err := decodeList(stored)
	if err != nil {
		return wire.Refuse(r, s.Internal(err))
	}
	for i := range first {
		if i != s.self && len(set) == len(first) && !bytes.Equal(first[i], set[i]) {
			no.Culprit, no.Announcement = study.SeatOf(i), first[i]
			break
		}
	}
	s.log.Warn("the coordinator shows another set of announcements than before", "study", s.plan.Digest)
	return no
}

// head is the part of this site's announcement that everybody sees.
func (s *Ring) head(own []byte) []byte {
	if !s.plan.Thresholds.Sparse() {
		return own
	}
	head, _, _, err := s.config().Split(s.self, own)
	if err != nil {
		return nil
	}
	return head
}

// Deal checks everyone's announcements, or draws the graph, and answers with sealed shares and
// keys. Sealing is random: every box is on record before the first leaves, and only those ever
// leave.
func (s *Ring) Deal(r wire.Deal) wire.Message {
	var no wire.Message
	if s.plan.Thresholds.Sparse() {
		no = s.draw(r)
	} else {
		no = s.shown(r, r.Announcements, func() (err error) {
			s.checked, err = secagg.Verify(s.config(), r.Announcements)
			return err
		})
	}
	if no != nil {
		return no
	}
	if dealt, ok, err := s.journal.Setup(setupBoxes); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	} else if ok {
		return s.boxes(r, dealt)
	}
	setup, err := s.verified()
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	sec, err := s.secrets()
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	var seals [][]byte // of the complete graph's announcements
	if s.plan.Thresholds.Sparse() {
		seals = r.Keys
		if to := setup.Graph().Recipients(s.self); len(seals) != len(to) {
			return wire.Refuse(r, study.CodeBadAnnouncement)
		}
	}
	sealed, err := setup.Deal(s.self, sec, s.identity, seals)
	if _, ok := errors.AsType[*secagg.RelayError](err); ok {
		return s.blame(r, study.CodeBadAnnouncement, err)
	} else if _, ok := errors.AsType[*secagg.SiteError](err); ok {
		return s.blame(r, study.CodeBadAnnouncement, err)
	} else if err != nil {
		return wire.Refuse(r, s.Internal(err))
	}
	dealt, err := s.journal.PutSetup(setupBoxes, encodeList(sealed))
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	return s.boxes(r, dealt)
}

var (
	errGone   = errors.New("keyring: the setup's record is not there, or not any more")
	errStored = errors.New("keyring: what is stored does not parse")
)

func (s *Ring) boxes(r wire.Deal, dealt []byte) wire.Message {
	sealed, err := decodeList(dealt)
	if err != nil {
		return wire.Refuse(r, s.Internal(err))
	}
	return wire.Boxes{Header: r.Header, Boxes: sealed}
}

// verified returns the setup of the announcements on record.
func (s *Ring) verified() (*secagg.Setup, error) {
	for _, known := range []*secagg.Setup{s.Setup, s.checked} {
		if known != nil {
			return known, nil
		}
	}
	set, err := s.storedList(setupAnnouncements)
	if err != nil {
		return nil, err
	}
	if !s.plan.Thresholds.Sparse() {
		s.checked, err = secagg.Verify(s.config(), set)
		return s.checked, err
	}
	nonces, err := s.storedList(setupNonces)
	if err != nil {
		return nil, err
	}
	board, err := secagg.VerifyHeads(s.config(), set)
	if err != nil {
		return nil, err
	}
	s.checked, err = board.Draw(nonces)
	return s.checked, err
}

// storedList reads a list of byte strings that is on record.
func (s *Ring) storedList(kind string) ([][]byte, error) {
	raw, err := s.stored(kind)
	if err != nil {
		return nil, err
	}
	return decodeList(raw)
}

// stored reads what is on record under kind: errGone where nothing is, or not any more. A ledger
// that cannot tell is another error: nobody may take it for an empty one.
func (s *Ring) stored(kind string) ([]byte, error) {
	raw, ok, err := s.journal.Setup(kind)
	if errors.Is(err, ledger.ErrErased) || err == nil && !ok {
		return nil, errGone
	}
	return raw, err
}

// restored returns the setup that everyone confirmed, from the ledger.
func (s *Ring) restored(confirmed []byte) (*secagg.Setup, error) {
	set, err := s.storedList(setupAnnouncements)
	if err != nil {
		return nil, err
	}
	var nonces [][]byte
	if s.plan.Thresholds.Sparse() {
		if nonces, err = s.storedList(setupNonces); err != nil {
			return nil, err
		}
	}
	signatures, err := decodeList(confirmed)
	if err != nil {
		return nil, err
	}
	return secagg.Restore(s.config(), set, nonces, signatures)
}

// Ready returns the confirmed setup, from the ledger after a restart.
func (s *Ring) Ready() (bool, error) {
	if s.Setup != nil {
		return true, nil
	}
	signatures, ok, err := s.journal.Setup(setupConfirmed)
	if err != nil || !ok {
		return false, err
	}
	s.Setup, err = s.restored(signatures)
	return err == nil, err
}

// blame refuses because of a site's message, and names it. What only the coordinator can have
// altered names nobody.
func (s *Ring) blame(r wire.Message, code study.Code, err error) wire.Message {
	no := wire.Refuse(r, code)
	if at, ok := errors.AsType[*secagg.SiteError](err); ok && at.Site >= 0 && at.Site < len(s.plan.Proposal.Roster) {
		no.Culprit = study.SeatOf(at.Site)
	}
	s.log.Warn("a check of the setup failed", "study", s.plan.Digest, "code", code, "error", err)
	return no
}

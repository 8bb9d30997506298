package keyring

import (
	"bytes"

	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// Reveal answers with this site's nonce, once every announcement is on record: after that nobody
// can make one that suits the graph.
func (s *Ring) Reveal(r wire.Reveal) wire.Message {
	if !s.plan.Thresholds.Sparse() {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	no := s.shown(r, r.Announcements, func() (err error) {
		s.board, err = secagg.VerifyHeads(s.config(), r.Announcements)
		return err
	})
	if no != nil {
		return no
	}
	// The nonce is known to all by then, and all that is left of a setup that is confirmed or
	// closed here: a new leader that begins again must not take that for this site's refusal.
	if nonces, err := s.storedList(setupNonces); err == nil {
		return wire.Nonce{Header: r.Header, Nonce: nonces[s.self]}
	}
	sec, err := s.secrets()
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	return wire.Nonce{Header: r.Header, Nonce: sec.Nonce[:]}
}

// draw takes everyone's nonces, which together with the announcements on record determine the
// graph. The first set wins.
func (s *Ring) draw(r wire.Deal) wire.Message {
	if len(r.Announcements) != 0 {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	if _, ok, err := s.journal.Setup(setupAnnouncements); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	} else if !ok {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	stored, ok, err := s.journal.Setup(setupNonces)
	if err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	set := encodeList(r.Nonces)
	if ok {
		if !bytes.Equal(stored, set) {
			return wire.Refuse(r, study.CodeBadAnnouncement)
		}
		return nil
	}
	if s.board == nil {
		heads, err := s.storedList(setupAnnouncements)
		if err != nil {
			return wire.Refuse(r, s.owner.Store(err))
		}
		if s.board, err = secagg.VerifyHeads(s.config(), heads); err != nil {
			return wire.Refuse(r, s.Internal(err))
		}
	}
	setup, err := s.board.Draw(r.Nonces)
	if err != nil {
		return s.blame(r, study.CodeBadAnnouncement, err)
	}
	if _, err := s.journal.PutSetup(setupNonces, set); err != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	s.checked, s.board = setup, nil
	return nil
}

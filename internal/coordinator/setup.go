package coordinator

import (
	"bytes"
	"slices"

	"covey/internal/graph"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// restore reads a committed setup again: after a restart, or on a new leader.
func (s *session) restore() error {
	if s.setup != nil || s.state.Announcements == nil {
		return nil
	}
	setup, err := secagg.Restore(s.plan.Setup(), s.state.Announcements, s.state.Nonces, s.state.Confirmations)
	s.setup = setup
	s.prepared()
	return err
}

// prepared is called when the setup is on record: what only the setup needed goes.
func (s *session) prepared() {
	s.board, s.seals, s.bodies = nil, nil, nil
	n := s.plan.Thresholds.Sites
	switch {
	case len(s.state.TagHashes) > 0:
		if s.kept.Tags == nil {
			s.kept.Tags, s.kept.Deposits = make([][]byte, n), make([][]byte, n)
		}
		s.kept.TagHashes = s.state.TagHashes
	case len(s.state.Tags) > 0:
		s.kept = secagg.Kept{Tags: s.state.Tags, TagHashes: make([][]byte, n), Deposits: s.state.Deposits}
	}
}

// graph is what round needs of the setup's graph: nil before it is drawn, and for the complete one.
func (s *session) graph() round.Graph {
	if s.setup == nil || !s.plan.Thresholds.Sparse() {
		return nil
	}
	return graph.NewTopology(s.setup.Graph(), s.plan.Thresholds.Threshold)
}

// announced keeps what is only for some sites out of the state: on the sparse graph the bodies of
// all announcements would be most of what the log holds.
func (s *session) announced(site int, signed []byte) round.Event {
	if !s.plan.Thresholds.Sparse() {
		if signed == nil {
			signed = []byte{} // nil means "not announced yet" to round, which would wait forever
		}
		return round.Announced{Site: site, Signed: signed}
	}
	if s.state.Status != round.StatusSetup {
		return nil // it came again
	}
	head, seal, body, err := s.plan.Setup().Split(site, signed)
	if err != nil {
		s.fault(site, study.CodeBadAnnouncement)
		return nil
	}
	if s.bodies == nil {
		s.seals, s.bodies = make([][]byte, s.plan.Thresholds.Sites), make([][]byte, s.plan.Thresholds.Sites)
	}
	if s.bodies[site] == nil { // the first counts, as its head does
		s.seals[site], s.bodies[site] = seal, body
	}
	return round.Announced{Site: site, Signed: head}
}

// revealed checks a site's nonce.
func (s *session) revealed(site int, nonce []byte) round.Event {
	if s.board == nil {
		return nil
	}
	if err := s.board.CheckNonce(site, nonce); err != nil {
		s.fault(site, study.CodeBadAnnouncement)
		return nil
	}
	return round.Revealed{Site: site, Nonce: nonce}
}

// deals reports whether a site's boxes are awaited. The first boxes count.
func (s *session) deals(site int) bool {
	return s.setup != nil && s.state.Status == round.StatusSetup && s.state.Boxes(site) == nil
}

// dealt takes a site's boxes and whether they passed the checks against this setup: a site that got
// one of another length, or without its sender's signature, could prove to nobody whose fault it
// is.
func (s *session) dealt(site int, boxes [][]byte, against *secagg.Setup, hold bool) round.Event {
	if !s.deals(site) || s.setup.Transcript() != against.Transcript() {
		return nil
	}
	if !hold {
		s.fault(site, study.CodeBadBox)
		return nil
	}
	tags := s.setup.Tags(site, boxes)
	if s.plan.Thresholds.Sparse() && tags != nil {
		if s.kept.Tags == nil {
			s.kept.Tags, s.kept.Deposits = make([][]byte, s.plan.Thresholds.Sites), make([][]byte, s.plan.Thresholds.Sites)
		}
		s.kept.Tags[site] = tags
		tags = s.setup.TagHashes(site, tags)
	}
	return round.Dealt{Site: site, Boxes: boxes, Tags: tags}
}

// confirmed checks a site's confirmation, and that its deposits are of keys with the tags in the
// boxes that were relayed to it.
func (s *session) confirmed(site int, m wire.Confirmation) round.Event {
	if s.setup == nil || s.state.Status != round.StatusSetup {
		return nil
	}
	if err := s.setup.CheckConfirmation(site, m.Signature); err != nil {
		s.fault(site, study.CodeBadConfirmation)
		return nil
	}
	if err := s.setup.CheckStatement(site, m.Deposits, m.Statement, s.state.BoxesFor(site)); err != nil {
		s.fault(site, study.CodeWrongDeposit)
		return nil
	}
	deposits := m.Deposits
	if s.plan.Thresholds.Sparse() && s.kept.Tags != nil {
		s.kept.Deposits[site] = deposits
		hash := s.setup.DepositHash(site, deposits)
		deposits = hash[:]
	}
	return round.Confirmed{Site: site, Signature: m.Signature, Deposits: deposits}
}

// recalled takes what the log has hashes of alone, from the site that owns it.
func (s *session) recalled(site int, m wire.Recalled) round.Event {
	if s.setup == nil || s.state.Status != round.StatusRunning || s.kept.TagHashes == nil || s.kept.Tags[site] != nil {
		return nil
	}
	hash := s.setup.DepositHash(site, m.Deposits)
	if !s.setup.CheckTags(site, m.Tags, s.state.TagHashes[site]) || !bytes.Equal(hash[:], s.state.DepositHashes[site]) {
		s.fault(site, study.CodeWrongDeposit)
		return nil
	}
	if s.taken { // whoever unmasks the sum reads the old lists
		s.kept.Tags, s.kept.Deposits = slices.Clone(s.kept.Tags), slices.Clone(s.kept.Deposits)
	}
	s.kept.Tags[site], s.kept.Deposits[site] = m.Tags, m.Deposits
	if m.Tags == nil {
		s.kept.Tags[site] = []byte{} // of a site that owns no pair
	}
	return round.Recalled{Site: site}
}

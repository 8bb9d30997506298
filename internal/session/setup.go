package session

import (
	"bytes"
	"errors"
	"slices"

	"covey/internal/graph"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// Restore reads a committed setup again: after a restart, or on a new leader.
func (s *Session) Restore() error {
	if s.setup != nil || s.State.Announcements == nil {
		return nil
	}
	setup, err := secagg.Restore(s.Plan.Setup(), s.State.Announcements, s.State.Nonces, s.State.Confirmations)
	s.setup = setup
	s.prepared()
	return err
}

// prepared is called when the setup is on record: what only the setup needed goes.
func (s *Session) prepared() {
	s.board, s.seals, s.bodies = nil, nil, nil
	n := s.Plan.Thresholds.Sites
	switch {
	case len(s.State.TagHashes) > 0:
		if s.kept.Tags == nil {
			s.kept.Tags, s.kept.Deposits = make([][]byte, n), make([][]byte, n)
		}
		s.kept.TagHashes = s.State.TagHashes
	case len(s.State.Tags) > 0:
		s.kept = secagg.Kept{Tags: s.State.Tags, TagHashes: make([][]byte, n), Deposits: s.State.Deposits}
	}
}

// Graph is what round needs of the setup's graph: nil before it is drawn, and for the complete one.
func (s *Session) Graph() round.Graph {
	if s.setup == nil || !s.Plan.Thresholds.Sparse() {
		return nil
	}
	return graph.NewTopology(s.setup.Graph(), s.Plan.Thresholds.Threshold)
}

// announced keeps what is only for some sites out of the state: on the sparse graph the bodies of
// all announcements would be most of what the log holds.
func (s *Session) announced(site int, signed []byte) round.Event {
	if !s.Plan.Thresholds.Sparse() {
		if signed == nil {
			signed = []byte{} // nil means "not announced yet" to round, which would wait forever
		}
		return round.Announced{Site: site, Signed: signed}
	}
	if s.State.Status != round.StatusSetup {
		return nil // it came again
	}
	head, seal, body, err := s.Plan.Setup().Split(site, signed)
	if err != nil {
		s.Fault(site, study.CodeBadAnnouncement)
		return nil
	}
	if s.bodies == nil {
		s.seals, s.bodies = make([][]byte, s.Plan.Thresholds.Sites), make([][]byte, s.Plan.Thresholds.Sites)
	}
	if s.bodies[site] == nil { // the first counts, as its head does
		s.seals[site], s.bodies[site] = seal, body
	}
	return round.Announced{Site: site, Signed: head}
}

// revealed checks a site's nonce.
func (s *Session) revealed(site int, nonce []byte) round.Event {
	if s.board == nil {
		return nil
	}
	if err := s.board.CheckNonce(site, nonce); err != nil {
		s.Fault(site, study.CodeBadAnnouncement)
		return nil
	}
	return round.Revealed{Site: site, Nonce: nonce}
}

// boxed checks a site's boxes while others' messages are handled: their signatures are most of what
// a setup costs the leader.
func (s *Session) boxed(site int, boxes [][]byte) Job {
	if !s.deals(site) {
		return nil
	}
	setup := s.setup
	return func() func() round.Event {
		hold := setup.CheckBoxes(site, boxes) == nil
		return func() round.Event { return s.dealt(site, boxes, setup, hold) }
	}
}

// deals reports whether a site's boxes are awaited. The first boxes count.
func (s *Session) deals(site int) bool {
	return s.setup != nil && s.State.Status == round.StatusSetup && s.State.Boxes(site) == nil
}

// dealt takes a site's boxes and whether they passed the checks against this setup: a site that got
// one of another length, or without its sender's signature, could prove to nobody whose fault it
// is.
func (s *Session) dealt(site int, boxes [][]byte, against *secagg.Setup, hold bool) round.Event {
	if !s.deals(site) || s.setup.Transcript() != against.Transcript() {
		return nil
	}
	if !hold {
		s.Fault(site, study.CodeBadBox)
		return nil
	}
	tags := s.setup.Tags(site, boxes)
	if s.Plan.Thresholds.Sparse() && tags != nil {
		if s.kept.Tags == nil {
			s.kept.Tags, s.kept.Deposits = make([][]byte, s.Plan.Thresholds.Sites), make([][]byte, s.Plan.Thresholds.Sites)
		}
		s.kept.Tags[site] = tags
		tags = s.setup.TagHashes(site, tags)
	}
	return round.Dealt{Site: site, Boxes: boxes, Tags: tags}
}

// confirmed checks a site's confirmation, and that its deposits are of keys with the tags in the
// boxes that were relayed to it.
func (s *Session) confirmed(site int, m wire.Confirmation) round.Event {
	if s.setup == nil || s.State.Status != round.StatusSetup {
		return nil
	}
	if err := s.setup.CheckConfirmation(site, m.Signature); err != nil {
		s.Fault(site, study.CodeBadConfirmation)
		return nil
	}
	if err := s.setup.CheckStatement(site, m.Deposits, m.Statement, s.State.BoxesFor(site)); err != nil {
		s.Fault(site, study.CodeWrongDeposit)
		return nil
	}
	deposits := m.Deposits
	if s.Plan.Thresholds.Sparse() && s.kept.Tags != nil {
		s.kept.Deposits[site] = deposits
		hash := s.setup.DepositHash(site, deposits)
		deposits = hash[:]
	}
	return round.Confirmed{Site: site, Signature: m.Signature, Deposits: deposits}
}

// recalled takes what the log has hashes of alone, from the site that owns it.
func (s *Session) recalled(site int, m wire.Recalled) round.Event {
	if s.setup == nil || s.State.Status != round.StatusRunning || s.kept.TagHashes == nil || s.kept.Tags[site] != nil {
		return nil
	}
	hash := s.setup.DepositHash(site, m.Deposits)
	if !s.setup.CheckTags(site, m.Tags, s.State.TagHashes[site]) || !bytes.Equal(hash[:], s.State.DepositHashes[site]) {
		s.Fault(site, study.CodeWrongDeposit)
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

// Verify checks all announcements, and with them makes the session's setup.
func (s *Session) Verify(announcements [][]byte) Job {
	sparse, cfg, log, digest := s.Plan.Thresholds.Sparse(), s.Plan.Setup(), s.log, s.Plan.Digest
	return func() func() round.Event {
		var setup *secagg.Setup
		var board *secagg.Board
		var err error
		if sparse {
			board, err = secagg.VerifyHeads(cfg, announcements)
		} else {
			setup, err = secagg.Verify(cfg, announcements)
		}
		if err != nil {
			log.Warn("setup refused", "study", digest, "error", err)
		}
		return func() round.Event {
			s.setup, s.board = setup, board
			return round.SetupVerified{Failed: err != nil, Culprit: culprit(err)}
		}
	}
}

// Draw makes the setup of the sparse graph.
func (s *Session) Draw(nonces [][]byte) Job {
	board, log, digest := s.board, s.log, s.Plan.Digest
	seals, bodies := slices.Clone(s.seals), slices.Clone(s.bodies)
	return func() func() round.Event {
		setup, err := board.Draw(nonces)
		if err == nil {
			err = checkParts(setup, seals, bodies)
		}
		// nonces were checked as they came: the graph is unfit, with probability 10^-6
		if err != nil {
			log.Warn("no graph was drawn", "study", digest, "error", err)
		}
		return func() round.Event {
			if err == nil { // or it is drawn again, to the same end, should the log not take that
				s.setup, s.board = setup, nil
			}
			return round.Drawn{Culprit: culprit(err), Graph: s.Graph()}
		}
	}
}

// culprit returns the site that an error is about, if any.
func culprit(err error) study.Seat {
	if at, ok := errors.AsType[*secagg.SiteError](err); ok {
		return study.SeatOf(at.Site)
	}
	return study.Nobody
}

// checkParts checks what the leader and some sites alone see of the announcements. They are those
// that the heads name.
func checkParts(setup *secagg.Setup, seals, bodies [][]byte) error {
	for i := range seals {
		if err := setup.CheckKey(i, seals[i]); err != nil {
			return err
		}
		if err := setup.CheckBody(i, bodies[i]); err != nil {
			return err
		}
	}
	return nil
}

// Own returns a message with what is in it for one site alone; false where that is nothing.
func (s *Session) Own(site int, m wire.Message) (wire.Message, bool) {
	// The slices are never written to again.
	switch own := m.(type) {
	case wire.Confirm:
		own.Bodies = s.bodiesFor(site)
		return own, true
	case wire.Deal:
		if s.seals != nil {
			own.Keys = s.sealsFor(site)
			return own, true
		}
	}
	return nil, false
}

// sealsFor are the ML-KEM keys of those that a site seals to.
func (s *Session) sealsFor(site int) [][]byte {
	var out [][]byte
	for _, j := range s.setup.Graph().Recipients(site) {
		out = append(out, s.seals[j])
	}
	return out
}

// bodiesFor are the parts of the announcements that are for a site alone: those of the dealers
// whose shares it holds.
func (s *Session) bodiesFor(site int) [][]byte {
	if s.bodies == nil {
		return nil
	}
	held := s.setup.Graph().Held(site)
	out := make([][]byte, len(held))
	for k, share := range held {
		out[k] = s.bodies[share.Dealer]
	}
	return out
}

// Transcript returns that of the setup.
func (s *Session) Transcript() [32]byte { return s.setup.Transcript() }

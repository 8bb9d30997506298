package coordinator

import (
	"bytes"
	"slices"
	"time"

	"covey/internal/aggregate"
	"covey/internal/graph"
	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// session is the leader's memory of one study. All of it is the leader's, as are its methods, and
// dies with the process; none of it reaches the log.
type session struct {
	leader *leader
	state  *round.State
	plan   *study.Plan
	setup  *secagg.Setup // nil until the announcements are checked and the graph is drawn
	// On the sparse graph, until the setup is on record: the heads before the graph is drawn, and
	// by site the parts of its announcement that are for some sites alone.
	board         *secagg.Board
	seals, bodies [][]byte
	kept          secagg.Kept // what is here for when a site drops out

	tally
	deadline time.Time // of the open phase
	faults   []Fault
	words    map[int][]byte // signatures of the decisions on their way to the log, by site
	// fits checks a signature on the committed draft of the result; nil before one came
	fits func(identity, signature []byte) bool
}

// tally is what is here of the open slot: the sum of the masked uploads, and the shares. An upload
// is added as it comes and not kept: memory is that of one vector, however many sites there are.
type tally struct {
	query, slot int
	asked       *secagg.Query     // once it was needed
	sum         []uint64          // of the uploads that are in
	in          []bool            // by site; nil before the first slot
	late        map[int][]byte    // uploads that came while U was on its way to the log
	releasing   *secagg.Releasing // on the committed U
	settled     bool              // sum was compared with the committed U
	opening     *secagg.Opening
	convicted   []int             // by the opening so far
	encoded     map[string][]byte // messages of this slot that are the same for every site
	// opening and sum were given to release; later shares are not needed
	taken bool
	// closed when the slot is left: nobody waits for its deadlines any more
	turned chan struct{}
}

const maxFaults = 100 // kept for display; a faulty site cannot grow memory

func (s *session) fault(site int, code study.Code) {
	name := s.plan.Proposal.Roster[site].Name
	s.leader.log.Warn("a site's message failed a check and was dropped", "study", s.plan.Digest, "site", name, "query", s.query, "code", code)
	s.leader.happened(Happening{Kind: outline.HappenedFault, Study: s.plan.Digest, Site: name, Query: s.query, Slot: s.slot, Code: code})
	if len(s.faults) < maxFaults {
		s.faults = append(s.faults, Fault{Site: name, Query: s.query, Code: code})
	}
}

// turn forgets the slot before, when the open slot is another.
func (s *session) turn() {
	if s.in == nil || s.query != s.state.Query || s.slot != s.state.Slot {
		s.leave()
		s.wipe()
		s.tally = tally{query: s.state.Query, slot: s.state.Slot, in: make([]bool, s.plan.Thresholds.Sites), encoded: map[string][]byte{}, turned: make(chan struct{})}
	}
}

// leave ends what waits for the open slot.
func (s *tally) leave() {
	if s.turned != nil {
		close(s.turned)
		s.turned = nil
	}
}

// settle brings the sum and the committed U together. Uploads that came while U was on its way
// count if U has their sites. If the sum holds a site outside U, all is asked for again: it
// cannot be taken out, since no upload is kept.
func (s *session) settle() []round.Event {
	u := s.state.Survivors
	if s.state.Closing() || u == nil && len(s.late) == 0 || u != nil && s.settled {
		return nil
	}
	var out []round.Event
	if u != nil {
		s.settled = true
		for i, in := range s.in {
			if in && !slices.Contains(u, i) {
				clear(s.sum)
				s.in, s.sum = make([]bool, len(s.in)), nil
				out = append(out, round.Forgotten{Query: s.query, Slot: s.slot})
				break
			}
		}
	}
	late := s.late
	s.late = nil
	for site, masked := range late {
		if e := s.uploaded(site, s.query, s.slot, masked); e != nil {
			out = append(out, e)
		}
	}
	return out
}

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

// take returns the open slot's sum and its opening to whoever unmasks the sum, outside
// the lock: from here on the tally touches neither, unless it is given them back.
func (s *tally) take() ([]uint64, *secagg.Opening) {
	sum, opening := s.sum, s.opening
	s.sum, s.opening, s.taken = nil, nil, true
	return sum, opening
}

// giveBack is for an opening that failed for one site's shares, which leaves the sum as it was. If
// the slot was left meanwhile, both are overwritten.
func (s *session) giveBack(query, slot int, sum []uint64, opening *secagg.Opening) {
	if !s.taken || !s.current(query, slot) {
		aggregate.Wipe(sum, opening)
		return
	}
	s.sum, s.opening, s.taken = sum, opening, false
	opening.Keep(s.kept)
}

// wipe overwrites what is here of a slot that is left: with enough shares the sum could still be
// opened.
func (s *tally) wipe() { aggregate.Wipe(s.sum, s.opening) }

// secaggQuery returns what secagg calls the open query.
func (s *session) secaggQuery() (secagg.Query, error) {
	if s.asked == nil {
		ask, err := s.state.Ask()
		if err != nil {
			return secagg.Query{}, err
		}
		q := s.plan.Summed(s.setup.Transcript(), ask)
		s.asked = &q
	}
	return *s.asked, nil
}

func (s *session) current(query, slot int) bool {
	return s.setup != nil && s.state.Status == round.StatusRunning && query == s.state.Query && slot == s.state.Slot
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

func (s *session) uploaded(site, query, slot int, masked []byte) round.Event {
	if !s.current(query, slot) {
		return nil
	}
	if len(masked) != s.plan.Queries[query].Bytes {
		s.fault(site, study.CodePlanMismatch)
		return nil
	}
	s.turn()
	u := s.state.Survivors
	switch {
	case s.taken || s.in[site] || u != nil && !slices.Contains(u, site):
		return nil // a second one, or never to be opened
	case s.state.Closing():
		if s.late == nil {
			s.late = map[int][]byte{}
		}
		s.late[site] = masked
		return nil
	}
	if s.sum == nil {
		s.sum = make([]uint64, s.plan.Queries[query].Lanes)
	}
	if err := secagg.SumPacked(s.sum, masked, s.plan.Bits); err != nil {
		s.fault(site, study.CodePlanMismatch)
		return nil
	}
	s.in[site] = true
	return round.Uploaded{Site: site, Query: query, Slot: slot}
}

func (s *session) signed(site, query, slot int, signature []byte) round.Event {
	if !s.current(query, slot) || s.state.Survivors == nil {
		return nil
	}
	s.turn()
	if s.releasing == nil {
		q, err := s.secaggQuery()
		if err == nil {
			s.releasing, err = s.setup.Releasing(q, s.state.Survivors)
		}
		if err != nil {
			s.leader.log.Error("the committed survivors cannot be signed", "study", s.plan.Digest, "error", err)
			return nil
		}
	}
	if s.releasing.Check(site, signature) != nil {
		s.fault(site, study.CodeBadCertificate)
		return nil
	}
	return round.Signed{Site: site, Query: query, Slot: slot, Signature: signature}
}

func (s *session) shared(site, query, slot int, shares []byte) round.Event {
	if !s.current(query, slot) || s.state.Certificate == nil {
		return nil
	}
	s.turn()
	if s.taken {
		return nil
	}
	if s.opening == nil {
		q, err := s.secaggQuery()
		if err != nil {
			return nil
		}
		if s.opening, err = s.setup.NewOpening(q, s.state.Survivors, s.kept); err != nil {
			s.leader.log.Error("the committed survivors cannot be opened", "study", s.plan.Digest, "error", err)
			return nil
		}
	}
	if err := s.opening.Add(site, shares); err != nil {
		s.fault(site, study.CodeBadShare)
		return nil
	}
	return round.Shared{Site: site, Query: query, Slot: slot}
}

// proved checks a helper's proof of its share of one dealer's secret. One that does not hold costs
// the helper its shares: a share that fits no proof is wrong.
func (s *session) proved(site, query, slot, dealer int, proof []byte) round.Event {
	if !s.current(query, slot) || s.opening == nil || !s.state.WantsProof(site, dealer) {
		return nil
	}
	if err := s.opening.AddProof(site, proof); err != nil {
		s.fault(site, study.CodeBadShare)
		return round.Unshared{Site: site, Query: query, Slot: slot}
	}
	return round.Proved{Site: site, Query: query, Slot: slot}
}

// keyed checks a survivor's keys against their tags.
func (s *session) keyed(site, query, slot int, keys []byte) round.Event {
	if !s.current(query, slot) || s.opening == nil || !s.state.WantsKeys(site) {
		return nil
	}
	if err := s.opening.AddKeys(site, keys); err != nil {
		s.fault(site, study.CodeBadShare)
		return nil
	}
	return round.Keyed{Site: site, Query: query, Slot: slot}
}

// convicts reports whether what the refusing site shows convicts whom it names: an announcement
// signed by it for the setup under way that is not the one that it sent this leader, since no
// site signs two; a box that does not hold, with what opens it; a box that is not the one that it
// sent this leader.
func (s *session) convicts(r round.Refused, m wire.Refusal) bool {
	accused := r.Culprit.Site()
	if accused < 0 || accused == r.Site || s.state.Status != round.StatusSetup {
		return false
	}
	switch r.Code {
	case study.CodeBadAnnouncement:
		now := s.state.Announcement(accused)
		return now != nil && !bytes.Equal(m.Announcement, now) &&
			s.plan.Setup().CheckAnnounced(accused, m.Announcement) == nil
	case study.CodeBadShare:
		if s.setup == nil {
			return false
		}
		var body []byte
		if s.bodies != nil {
			body = s.bodies[accused]
		}
		guilty, err := s.setup.Judge(accused, r.Site, m.Evidence, body)
		return err == nil && guilty == accused
	case study.CodeBadBox:
		if s.setup == nil {
			return false
		}
		at, ok := slices.BinarySearch(s.setup.Graph().Recipients(accused), r.Site)
		boxes := s.state.Boxes(accused)
		return ok && boxes != nil && s.setup.Convicts(accused, r.Site, boxes[at], m.Evidence)
	}
	return false
}

// refused checks what a refusing site holds before it counts for anything. The release is that of
// the result which it shows, nil if this coordinator did not sign one.
func (s *session) refused(site int, m wire.Refusal, release *study.Release) round.Event {
	r := round.Refused{Site: site, Query: m.Query, Slot: m.Slot, Code: m.Code, Culprit: m.Culprit, Shared: m.Shared, Lacks: m.Lacks}
	if r.Culprit.Site() >= s.plan.Thresholds.Sites {
		r.Culprit = study.Nobody
	}
	if s.state.Status == round.StatusSigning && r.Lacks == 0 && s.state.Unsigned(site) == "" {
		s.leader.log.Warn("a site does not sign the result", "study", s.plan.Digest, "site", s.plan.Proposal.Roster[site].Name, "code", r.Code)
	}
	if r.Proven = s.convicts(r, m); !r.Proven && (len(m.Announcement) > 0 || r.Code == study.CodeBadBox && len(m.Evidence) > 0) {
		r.Culprit = study.Nobody // shown, and no proof: nobody is named
	}
	if !s.current(r.Query, s.state.Slot) {
		return r
	}
	switch r.Code {
	case study.CodeHeld:
		s.turn()
		q, err := s.secaggQuery()
		u := secagg.Survivors(m.Survivors)
		if err == nil && r.Slot == s.state.Slot && slices.Equal(m.Context, q.Context[:]) &&
			u.Validate(s.plan.Thresholds.Sites, s.plan.Thresholds.MinSurvivors) == nil &&
			s.setup.CheckRelease(r.Site, q, u, m.Signature) == nil {
			r.Held = m.Survivors
		} else if r.Slot == s.state.Slot && len(m.Signature) > 0 { // none: it sent shares and signed nothing
			s.fault(r.Site, study.CodeHeld)
		}
	case study.CodeFinal:
		if release == nil {
			if m.Final != nil {
				s.fault(r.Site, study.CodeFinal)
			}
			break
		}
		final := round.Released{Encoded: m.Final.Encoded, Signature: m.Final.Signature, Certificate: m.Final.Certificate}
		if release.Query == s.state.Query && s.plan.CheckRelease(*release) == nil &&
			s.plan.CheckCourse(s.state.Course, release.Ask()) == nil &&
			s.setup.CheckReleased(s.plan.Summed(s.setup.Transcript(), release.Ask()), release.Survivors, final.Certificate) == nil {
			return round.Adopt{Release: *release, Released: final}
		}
	}
	return r
}

package round

import (
	"slices"

	"covey/internal/wire"
)

// The setup: every site announces its keys; on the sparse graph it then reveals its nonce, and the
// graph is drawn; it deals its boxes, and confirms those it got. Once all have, the log holds what
// later queries need.

// setup is what the leader has received in a setup under way.
type setup struct {
	announced           [][]byte // by site
	verifying, verified bool     // the announcements are being checked; they are checked
	nonces              [][]byte // by site, on the sparse graph
	drawing             bool
	boxes               [][][]byte // by sender, then in the order of its recipients
	confirmed           [][]byte   // by site
	tags, deposits      [][]byte   // by site: what the log is to hold of its tags and deposits
}

func newSetup(sites int) setup {
	lists := func() [][]byte { return make([][]byte, sites) }
	return setup{
		announced: lists(), nonces: lists(), boxes: make([][][]byte, sites), confirmed: lists(),
		tags: lists(), deposits: lists(),
	}
}

func (e Announced) observe(s *State) {
	if s.Status == StatusSetup && s.live.setup.announced[e.Site] == nil {
		s.live.setup.announced[e.Site] = e.Signed
	}
}

func (e SetupVerified) observe(s *State) {
	s.live.setup.verifying, s.live.setup.verified = false, !e.Failed
}

func (e Revealed) observe(s *State) {
	if s.Status == StatusSetup {
		s.live.setup.nonces[e.Site] = e.Nonce
	}
}

func (e Drawn) observe(s *State) { s.live.setup.drawing, s.live.graph = false, e.Graph }

func (e Dealt) observe(s *State) {
	if c := &s.live.setup; s.Status == StatusSetup && c.boxes[e.Site] == nil {
		c.boxes[e.Site], c.tags[e.Site] = e.Boxes, e.Tags
	}
}

func (e Confirmed) observe(s *State) {
	if s.Status == StatusSetup {
		s.live.setup.confirmed[e.Site], s.live.setup.deposits[e.Site] = e.Signature, e.Deposits
	}
}

// settled reports whether the announcements are checked and the graph is known.
func (s *State) settled() bool {
	return s.live.setup.verified && (!s.plan.Thresholds.Sparse() || s.live.graph != nil)
}

// awaited reports whether the setup cannot go on without an answer of a site.
func (c *setup) awaited(site int, sparse bool) bool {
	switch {
	case !all(c.announced):
		return c.announced[site] == nil
	case sparse && !all(c.nonces):
		return c.nonces[site] == nil
	case !all(c.boxes):
		return c.boxes[site] == nil
	}
	return c.confirmed[site] == nil
}

// prepare moves the setup on, and commits it once all have confirmed it.
func (s leader) prepare() []Effect {
	c, sparse := &s.live.setup, s.plan.Thresholds.Sparse()
	if e := s.departed(); e != nil {
		return s.propose(*e)
	}
	switch {
	case all(c.announced) && !c.verified && !c.verifying && !s.live.proposing:
		c.verifying = true
		return []Effect{VerifySetup{slices.Clone(c.announced)}}
	case sparse && c.verified && all(c.nonces) && s.live.graph == nil && !c.drawing && !s.live.proposing:
		c.drawing = true
		return []Effect{DrawGraph{slices.Clone(c.nonces)}}
	case s.settled() && all(c.confirmed):
		return s.propose(c.prepared(sparse, s.plan.Thresholds.Whole()))
	}
	return nil
}

// prepared is the entry that commits the setup.
func (c *setup) prepared(sparse, whole bool) Entry {
	e := Entry{
		Kind:          EntryPrepared,
		Announcements: slices.Clone(c.announced), Confirmations: slices.Clone(c.confirmed),
	}
	if sparse {
		e.Nonces = slices.Clone(c.nonces)
	}
	switch tags, deposits := slices.Clone(c.tags), slices.Clone(c.deposits); {
	case whole:
	case sparse:
		e.TagHashes, e.DepositHashes = tags, deposits
	default:
		e.Tags, e.Deposits = tags, deposits
	}
	return e
}

// applyPrepared begins the queries.
func (s *State) applyPrepared(e Entry, stale error) error {
	if s.Status != StatusSetup {
		return stale
	}
	s.Status, s.Announcements, s.Nonces, s.Confirmations = StatusRunning, e.Announcements, e.Nonces, e.Confirmations
	s.Tags, s.Deposits, s.TagHashes, s.DepositHashes = e.Tags, e.Deposits, e.TagHashes, e.DepositHashes
	s.Course = s.plan.Start()
	s.live.setup = newSetup(s.plan.Thresholds.Sites) // what it held is never needed again
	s.live.pardon()                                  // what was refused is done
	for i := range s.live.recalled {
		s.live.recalled[i] = s.live.leading // who led the setup has what the sites sent
	}
	s.openSlot()
	return nil
}

// setup asks a site for its next part in the setup.
func (p *prompter) setup() {
	s, c, i := p.s, &p.s.live.setup, p.site
	sparse := s.plan.Thresholds.Sparse()
	if c.announced[i] == nil {
		p.send(askAnnouncement, 1, func() wire.Message { return wire.Announce{Header: p.inSetup()} })
	}
	// Nonces are asked for when every announcement is known, so that none depends on one.
	if sparse && c.verified && c.nonces[i] == nil {
		p.send(askNonce, 1, func() wire.Message { return wire.Reveal{Header: p.inSetup(), Announcements: c.announced} })
	}
	if s.settled() && c.boxes[i] == nil {
		p.send(askBoxes, 1, func() wire.Message {
			if sparse {
				return wire.Deal{Header: p.inSetup(), Nonces: c.nonces}
			}
			return wire.Deal{Header: p.inSetup(), Announcements: c.announced}
		})
	}
	if s.settled() && p.dealt() && c.confirmed[i] == nil {
		// What is in a box is looked at by its recipient alone; a site that lost its link between
		// dealing and here holds the announcements.
		p.send(askConfirmation, 1, func() wire.Message {
			return wire.Confirm{Header: p.inSetup(), Boxes: s.graph().Route(c.boxes, i)}
		})
	}
}

// dealt reports whether everybody has dealt.
func (p *prompter) dealt() bool {
	if p.all == nil {
		is := all(p.s.live.setup.boxes)
		p.all = &is
	}
	return *p.all
}

// Announcement returns a site's: in the setup as this leader took it, afterward as all confirmed
// it; nil if there is none.
func (s *State) Announcement(site int) []byte {
	if s.Status == StatusSetup {
		return s.live.setup.announced[site]
	}
	if site < len(s.Announcements) {
		return s.Announcements[site]
	}
	return nil
}

// Boxes are those that a site sent this leader, in the order of its recipients; nil if there are
// none yet, or the setup is on record.
func (s *State) Boxes(from int) [][]byte { return s.live.setup.boxes[from] }

// BoxesFor are those that are relayed to a site, in the order of its senders.
func (s *State) BoxesFor(to int) [][]byte { return s.graph().Route(s.live.setup.boxes, to) }

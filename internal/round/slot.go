package round

import (
	"slices"

	"covey/internal/study"
	"covey/internal/wire"
)

// The open slot: sites upload, U is committed, they sign it, and with its certificate committed
// the sum is opened (opening.go).

// slot is what the leader has received in the open slot.
type slot struct {
	deadlines deadlines
	uploaded  []bool   // by site
	words     []word   // by site: what it did that this log does not know
	signed    [][]byte // by site, on the committed U
	opening   opening
	adopted   *Adopt      // the open query's result, where the log does not hold it
	failed    *OpenFailed // how it failed, or what is asked does not fit the plan
}

func newSlot(sites int) slot {
	return slot{
		deadlines: newDeadlines(), uploaded: make([]bool, sites), words: make([]word, sites),
		signed: make([][]byte, sites), opening: newOpening(sites),
	}
}

// open reports whether query and slot are the open ones.
func (d *Durable) open(query, slot int) bool {
	return d.Status == StatusRunning && query == d.Query && slot == d.Slot
}

func (e Recalled) observe(s *State) {
	s.live.recalled[e.Site], s.live.slot.opening.tags[e.Site] = true, false
}

func (e Uploaded) observe(s *State) {
	if !s.open(e.Query, e.Slot) {
		return
	}
	s.live.slot.uploaded[e.Site] = true
	k := &s.live.links[e.Site]
	k.missed, k.told = 0, false
	if k.left.mends() {
		k.left = departure{}
	}
}

func (e Forgotten) observe(s *State) {
	if s.open(e.Query, e.Slot) {
		clear(s.live.slot.uploaded)
		s.live.askAgain(askUpload)
	}
}

func (e Signed) observe(s *State) {
	if s.open(e.Query, e.Slot) && s.Survivors != nil {
		s.live.slot.signed[e.Site] = e.Signature
	}
}

func (e OpenFailed) observe(s *State) {
	if s.open(e.Query, e.Slot) {
		s.live.slot.failed = &e // and never opened again by this leader
	}
}

func (e Adopt) observe(s *State) {
	if s.open(e.Release.Query, s.Slot) {
		s.live.slot.adopted = &e
	}
}

// awaitsInSlot reports whether the open slot cannot go on without an answer of a site.
func (s *State) awaitsInSlot(site int) bool {
	o := &s.live.slot
	switch {
	case s.Survivors == nil:
		return !o.uploaded[site]
	case !o.uploaded[site] && slices.Contains(s.Survivors, site):
		return true
	case s.Certificate == nil:
		return o.signed[site] == nil && s.graph().Signs(site)
	}
	return o.opening.awaited(site)
}

// advance moves the open slot on.
func (s leader) advance() []Effect {
	o := &s.live.slot
	if s.live.proposing {
		return nil
	}
	if o.adopted != nil {
		return s.adopt(*o.adopted)
	}
	if e := s.departed(); e != nil {
		return s.propose(*e)
	}
	switch {
	case o.failed != nil:
		return s.propose(Entry{Kind: EntryEnded, Code: o.failed.Code, Culprit: o.failed.Culprit})
	case s.Survivors == nil:
		return s.choose()
	case s.Certificate == nil:
		return s.certify()
	}
	return s.unmask()
}

// choose commits a U once it is clear.
func (s leader) choose() []Effect {
	if u := s.claims().certain(); u != nil {
		return s.propose(Entry{Kind: EntrySurvivors, Survivors: u})
	}
	if s.claims().doubtful() && !(s.late(PhaseUpload) && len(s.free()) >= s.plan.Thresholds.MinSurvivors) {
		return nil
	}
	if all := everybody(s.plan); subset(all, s.live.slot.uploaded) {
		return s.propose(Entry{Kind: EntrySurvivors, Survivors: all})
	}
	if !s.late(PhaseUpload) && !s.answered() {
		return nil
	}
	if u := s.graph().Largest(s.Uploaded()); len(u) >= s.plan.Thresholds.MinSurvivors {
		return s.propose(Entry{Kind: EntrySurvivors, Survivors: u})
	}
	return nil
}

// certify commits U's certificate once it is signed, or gives the slot up. Where every site is
// waited for, uploads may still be missing: no other U can replace this one, and without them
// nobody can open anything.
func (s leader) certify() []Effect {
	o := &s.live.slot
	if (s.waits() || subset(s.Survivors, o.uploaded)) && s.graph().Certified(o.signed) {
		return s.propose(Entry{Kind: EntryOpening, Certificate: slices.Clone(o.signed)})
	}
	// A leader that began after U was committed asks U's sites for their uploads
	// again, and one restored from a backup may hear that they signed in a later
	// slot. Without shares asked for, nothing can have been opened, so another slot
	// may replace this one: where enough sites say that they sent none here, which a
	// log that was restored cannot know by itself.
	if s.waits() || !s.late(PhaseOpen) || len(s.free()) < s.plan.Thresholds.MinSurvivors {
		return nil
	}
	if s.spare() {
		return s.propose(Entry{Kind: EntryAbandoned})
	}
	return s.propose(Entry{Kind: EntryEnded, Code: study.CodeRetriesSpent})
}

// adopt proposes a result that this log does not hold.
func (s leader) adopt(e Adopt) []Effect {
	course, err := s.Next(e.Release, e.Released.Encoded)
	if err != nil {
		return s.propose(Entry{Kind: EntryEnded, Code: study.CodeInternal})
	}
	return s.propose(release(e.Release, e.Released, course))
}

// answered reports whether every site has uploaded, or does not in the open slot.
func (s *State) answered() bool {
	for i, in := range s.live.slot.uploaded {
		if k := &s.live.links[i]; !in && !k.gone() && !k.absent() {
			return false
		}
	}
	return true
}

// free are the sites that answered in the open slot and sent shares neither in it nor in an earlier
// one of the query: they can still send them in a later slot. A site says what it signed and sent
// before it uploads.
func (s leader) free() []int {
	out := s.Uploaded()
	return slices.DeleteFunc(out, func(i int) bool {
		w := s.live.slot.words[i]
		return w.shared || w.spent
	})
}

// applySlot applies an entry about the open slot.
func (s *State) applySlot(e Entry, stale error) error {
	switch e.Kind {
	case EntrySurvivors:
		if s.Survivors != nil {
			return stale
		}
		s.Survivors = e.Survivors
	case EntryOpening:
		// From here on agents may have sent shares: the slot can only be
		// finished, never abandoned.
		if s.Survivors == nil || s.Certificate != nil {
			return stale
		}
		s.Certificate = e.Certificate
	case EntryAbandoned:
		if s.Certificate != nil || !s.spare() {
			return stale
		}
		s.Slot++
		s.openSlot()
	case EntryReleased:
		if e.Released == nil || e.Course == nil || !s.plan.Queries.Follows(s.Query, e.Course.Query) && e.Course.Query != len(s.plan.Queries) {
			return stale
		}
		s.Releases = append(s.Releases, *e.Released)
		s.Rho += e.Rho
		s.Course = *e.Course
		s.Slot++
		switch {
		case s.End != "":
			s.Status, s.Code = StatusEnded, s.End
		case s.Query == len(s.plan.Queries):
			s.Status = StatusSigning
			s.live.pardon() // a site that could not go on may sign
		}
		s.openSlot()
	default:
		return stale
	}
	return nil
}

// spare reports whether a slot can be given up and every query left still has one.
func (s *State) spare() bool {
	return s.Slot+1+s.plan.Queries.Left(s.Query) <= s.plan.Slots
}

// openSlot forgets the slot before. Where every site is waited for, U is all of them: it is
// committed with the entry that opens the slot, and a site can sign it while others still add up
// their rows.
func (s *State) openSlot() {
	s.Survivors, s.Certificate = nil, nil
	if s.waits() && s.Status == StatusRunning {
		s.Survivors = everybody(s.plan)
	}
	s.live.resetSlot(s.plan.Thresholds.Sites)
}

// hashed reports whether the log holds hashes of tags and deposits alone: a leader that did not
// lead the setup asks each site for its own before all else, and goes on without those that do not
// answer as without those that do not upload.
func (p *prompter) hashed() bool {
	t := p.s.plan.Thresholds
	return t.Sparse() && !t.Whole()
}

// stamp is the number by which prompts tell the open slot from others. A slot belongs to one query.
func (s *State) stamp() int { return 1 + s.Slot }

// query asks a site for its next part in the open slot.
func (p *prompter) query() {
	s := p.s
	p.past()
	if p.hashed() && !s.live.recalled[p.site] {
		// First, so that no survivor's tags can be missing when another drops out.
		p.send(askRecall, 1, func() wire.Message { return wire.Recall{Header: p.inSetup()} })
		return
	}
	// Always before a signature or share is asked for, so that the site knows
	// what it signs; a late upload of a site outside U is never opened, its b
	// shares are not asked for.
	p.send(askUpload, s.stamp(), func() wire.Message {
		if p.open == nil {
			open, err := s.Ask()
			if err == nil {
				err = s.plan.Check(open)
			}
			if err != nil { // every honest site would refuse it, and be blamed
				s.live.slot.failed = &OpenFailed{Code: study.CodeInternal}
				return nil
			}
			p.open = &open
		}
		return wire.Query{Study: s.plan.Digest, Ask: *p.open}
	})
	switch {
	case s.Survivors == nil, s.live.links[p.site].asked[askUpload] != s.stamp():
	case s.Certificate == nil:
		if s.live.slot.signed[p.site] == nil && s.graph().Signs(p.site) {
			p.send(askSignature, s.stamp(), func() wire.Message { return wire.Release{Header: p.inSlot(), Survivors: s.Survivors} })
		}
	default:
		p.shares()
	}
}

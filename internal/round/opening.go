package round

import (
	"slices"

	"covey/internal/study"
	"covey/internal/wire"
)

// Shares alone open a sum if all dealers and all holders of shares followed the protocol. Else an
// opening waits for more (docs/protocol.md): proofs of the helpers whose shares do not make what
// one dealer committed to, one dealer at a time; keys of the survivors whose pairs with a site
// outside of them nothing else opens; tags that the leader before had.

// opening is what the leader has received for the open slot's opening, once the certificate is
// committed. All lists but convicted are by site.
type opening struct {
	shared    []bool // it sent shares
	heard     []bool // its shares came, even if they were wrong
	proof     []bool // its proof is wanted
	dealer    int    // of whose secret
	keys      []bool // the keys of its pairs are wanted
	tags      []bool // its tags are wanted
	convicted []int  // sites outside of U whose tags or deposits are wrong
	underway  bool   // Open is, or has failed
}

func newOpening(sites int) opening {
	list := func() []bool { return make([]bool, sites) }
	return opening{shared: list(), heard: list(), proof: list(), keys: list(), tags: list()}
}

// proving reports whether proofs are waited for.
func (o *opening) proving() bool { return slices.Contains(o.proof, true) }

// keyed reports whether keys or tags are waited for.
func (o *opening) keyed() bool { return slices.Contains(o.keys, true) || slices.Contains(o.tags, true) }

// awaited reports whether the opening waits for a site.
func (o *opening) awaited(site int) bool {
	switch {
	case o.proving():
		return o.proof[site]
	case slices.Contains(o.keys, true):
		return o.keys[site]
	case slices.Contains(o.tags, true):
		return o.tags[site]
	}
	return !o.shared[site]
}

// opens reports whether query and slot are the open ones, and their opening is committed.
func (d *Durable) opens(query, slot int) bool { return d.open(query, slot) && d.Certificate != nil }

func (e Shared) observe(s *State) {
	if o := &s.live.slot.opening; s.opens(e.Query, e.Slot) {
		o.shared[e.Site], o.heard[e.Site] = true, true
	}
}

// observe asks every site again whose shares came too late for that opening. The site itself has
// answered.
func (e Unshared) observe(s *State) {
	if o := &s.live.slot.opening; s.opens(e.Query, e.Slot) {
		s.live.askAgain(askShares)
		s.live.links[e.Site].asked[askShares] = s.stamp()
		o.shared[e.Site], o.proof[e.Site], o.underway = false, false, false
	}
}

func (e ProofsMissing) observe(s *State) {
	if o := &s.live.slot.opening; s.opens(e.Query, e.Slot) {
		s.live.wants(o.proof, e.Helpers)
		s.live.askAgain(askProof)
		o.dealer = e.Dealer
		// each dealer's helpers have a deadline
		delete(s.live.slot.deadlines.set, PhaseProofs)
		delete(s.live.slot.deadlines.passed, PhaseProofs)
	}
}

func (e Proved) observe(s *State) {
	if s.open(e.Query, e.Slot) {
		s.live.slot.opening.proof[e.Site] = false
	}
}

func (e KeysMissing) observe(s *State) {
	if o := &s.live.slot.opening; s.opens(e.Query, e.Slot) {
		s.live.wants(o.keys, e.From)
		s.live.askAgain(askKeys)
		o.convicted = e.Convicted
	}
}

func (e TagsMissing) observe(s *State) {
	if o := &s.live.slot.opening; s.opens(e.Query, e.Slot) {
		s.live.wants(o.tags, e.Owners)
		o.convicted = e.Convicted
	}
}

func (e Keyed) observe(s *State) {
	if s.open(e.Query, e.Slot) {
		s.live.slot.opening.keys[e.Site] = false
	}
}

// wants notes whose answers the opening waits for. Shares that came while it was under way are
// asked for again.
func (l *live) wants(list []bool, from []int) {
	clear(list)
	for _, i := range from {
		list[i] = true
	}
	l.askAgain(askShares)
	l.slot.opening.underway = false
}

// WantsProof reports whether the open slot's opening waits for a site's proof of its share of a
// dealer's secret.
func (s *State) WantsProof(site, dealer int) bool {
	o := &s.live.slot.opening
	return o.proof[site] && o.dealer == dealer
}

// WantsKeys reports whether the open slot's opening waits for the keys of a site's pairs.
func (s *State) WantsKeys(site int) bool { return s.live.slot.opening.keys[site] }

// unmask moves a committed opening on.
func (s leader) unmask() []Effect {
	o := &s.live.slot.opening
	var out []Effect
	if late := s.unproved(); late != nil {
		for _, i := range late {
			o.shared[i] = false // and nobody is named: asked for on the next link
		}
		clear(o.proof)
		out = append(out, Drop{Query: s.Query, Slot: s.Slot, Helpers: late})
	}
	switch {
	case o.underway || o.proving() || !subset(s.Survivors, s.live.slot.uploaded) || !s.graph().Openable(o.shared):
		return out
	case o.keyed():
		// Who is convicted has left such tags or deposits behind that only survivors that are away
		// can take its masks out: not to be waited for any longer.
		if s.late(PhaseKeys) && len(o.convicted) > 0 {
			out = append(out, s.propose(Entry{Kind: EntryEnded, Code: study.CodeWrongDeposit, Culprit: study.SeatOf(o.convicted[0])})...)
		}
		return out
	}
	ask, err := s.Ask()
	if err != nil {
		return append(out, s.propose(Entry{Kind: EntryEnded, Code: study.CodeInternal})...)
	}
	if !s.late(PhaseOpen) && slices.ContainsFunc(s.Survivors, s.unheard) && s.removes(ask) {
		// With its shares, each survivor sends the key to the part of its noise that is removed.
		// The opening waits for it until the deadline; then the noise stays.
		return out
	}
	o.underway = true
	return append(out, Open{Ask: ask, Survivors: slices.Clone(s.Survivors)})
}

// removes reports whether a part of the survivors' noise is removed.
func (s leader) removes(ask study.Ask) bool {
	removable, err := s.plan.Noise.Removable(ask.Sigma, len(s.Survivors))
	return err == nil && len(removable) > 0
}

// unheard reports whether a site's shares never came in the open slot, and may still come.
func (s leader) unheard(site int) bool {
	return !s.live.slot.opening.heard[site] && !s.live.links[site].gone()
}

// unproved returns the helpers whose proofs are wanted and that are away, or silent beyond the
// deadline, if the others' shares open all secrets; else they are waited for.
func (s leader) unproved() []int {
	o := &s.live.slot.opening
	var late []int
	rest := slices.Clone(o.shared)
	for i, wanted := range o.proof {
		if k := &s.live.links[i]; wanted && (s.late(PhaseProofs) || !k.connected || k.gone()) {
			late, rest[i] = append(late, i), false
		}
	}
	if late == nil || !s.graph().Openable(rest) {
		return nil
	}
	return late
}

// shares asks a site for what opens the sum.
func (p *prompter) shares() {
	s, o, i := p.s, &p.s.live.slot.opening, p.site
	// Where every site is waited for, a site proves nothing before it has seen a certificate, also
	// when it starts again.
	if !o.shared[i] || o.proof[i] && s.waits() {
		p.send(askShares, s.stamp(), func() wire.Message {
			return wire.Open{Header: p.inSlot(), Survivors: s.Survivors, Certificate: s.Certificate}
		})
	}
	// After Open: a site answers only what follows from the shares that it sent.
	if o.proof[i] {
		p.send(askProof, s.stamp(), func() wire.Message {
			return wire.Prove{Header: p.inSlot(), Survivors: s.Survivors, Dealer: study.SeatOf(o.dealer)}
		})
	}
	if o.keys[i] {
		p.send(askKeys, s.stamp(), func() wire.Message { return wire.Keys{Header: p.inSlot(), Survivors: s.Survivors} })
	}
}

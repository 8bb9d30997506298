package round

import (
	"covey/internal/study"
	"covey/internal/wire"
)

// ask is a kind of message to a site.
type ask int

const (
	askDecision ask = iota
	askAnnouncement
	askNonce
	askBoxes
	askConfirmation
	tellConfirmed
	askRecall
	tellFinal
	askUpload
	askSignature
	askShares
	askProof
	askKeys
	askAttestation
	tellEnded
	asks
)

// asked holds, for each kind, what a link was asked last: 0 for nothing, else a
// number that differs from one time to the next (of the slot, of the release).
type asked [asks]int

// forget has a link asked again from a kind up to the result's.
func (a *asked) forget(from ask) {
	for kind := from; kind <= askAttestation; kind++ {
		a[kind] = 0
	}
}

// askAgain forgets that links were asked.
func (l *live) askAgain(kind ask) {
	for i := range l.asked {
		l.asked[i][kind] = 0
	}
}

// prompts gives, for every connected site, what it should have been asked by
// now and was not on this link. Messages to one site leave in this order. One that refused for good
// is told the end alone.
func (s leader) prompts() []Effect {
	p := prompter{s: s.State}
	for i, connected := range s.live.connected {
		if !connected || s.live.barred[i] || s.live.gone(i) && !s.Terminal() {
			continue
		}
		p.site = i
		switch s.Status {
		case StatusProposed:
			// Once a link, whatever was said before: an approval may have been withdrawn while
			// there was none.
			p.send(askDecision, 1, func() wire.Message { return wire.Proposal{Body: s.Body, Signature: s.Signature} })
		case StatusSetup:
			p.setup()
		case StatusRunning:
			p.query()
		case StatusSigning:
			p.result()
		case StatusCompleted, StatusEnded:
			p.final()
			p.send(tellEnded, 1, func() wire.Message { return wire.Ended{Header: wire.Header{Study: s.plan.Digest}, Code: s.Code} })
		}
	}
	return p.out
}

// prompter goes over the sites. What is the same for all is made once.
type prompter struct {
	s    *State
	site int
	out  []Effect
	open *study.Ask
	all  *bool // whether everybody dealt
	last *wire.Final
}

// inSetup and inSlot are the headers of what is asked in the setup and about the open slot.
func (p *prompter) inSetup() wire.Header {
	return wire.Header{Study: p.s.plan.Digest}
}

func (p *prompter) inSlot() wire.Header {
	return wire.Header{Study: p.s.plan.Digest, Query: p.s.Query, Slot: p.s.Slot}
}

func (p *prompter) dealt() bool {
	if p.all == nil {
		is := all(p.s.live.boxes)
		p.all = &is
	}
	return *p.all
}

// send asks the site, unless this link was asked the same before.
func (p *prompter) send(kind ask, stamp int, message func() wire.Message) {
	if before := &p.s.live.asked[p.site][kind]; *before != stamp {
		if m := message(); m != nil {
			*before = stamp
			p.out = append(p.out, Send{Site: p.site, Message: m})
		}
	}
}

func (p *prompter) setup() {
	s, l, i := p.s, &p.s.live, p.site
	if l.announced[i] == nil {
		p.send(askAnnouncement, 1, func() wire.Message { return wire.Announce{Header: p.inSetup()} })
	}
	// Nonces are asked for when every announcement is known, so that none depends on one.
	if s.plan.Thresholds.Sparse() && l.verified && l.nonces[i] == nil {
		p.send(askNonce, 1, func() wire.Message { return wire.Reveal{Header: p.inSetup(), Announcements: l.announced} })
	}
	if s.settled() && l.boxes[i] == nil {
		p.send(askBoxes, 1, func() wire.Message {
			if s.plan.Thresholds.Sparse() {
				return wire.Deal{Header: p.inSetup(), Nonces: l.nonces}
			}
			return wire.Deal{Header: p.inSetup(), Announcements: l.announced}
		})
	}
	if s.settled() && p.dealt() && l.confirmed[i] == nil {
		// What is in a box is looked at by its recipient alone; a site that lost its link between
		// dealing and here holds the announcements.
		p.send(askConfirmation, 1, func() wire.Message {
			return wire.Confirm{Header: p.inSetup(), Boxes: s.graph().Route(l.boxes, i)}
		})
	}
}

// final tells the last released value. A site that missed earlier ones says so when it is asked
// the next query; one that missed them until the end needs none of them.
func (p *prompter) final() {
	s := p.s
	if len(s.Releases) == 0 {
		return
	}
	p.send(tellFinal, len(s.Releases), func() wire.Message {
		if p.last == nil {
			last, ok := s.told(len(s.Releases) - 1)
			if !ok {
				return nil
			}
			p.last = &last
		}
		return *p.last
	})
}

// Last tells the last release; false if there is none, or the log holds another thing.
func (s *State) Last() (last wire.Final, ok bool) {
	if len(s.Releases) == 0 {
		return last, false
	}
	return s.told(len(s.Releases) - 1)
}

// told is what tells the release of a place in Releases; false if the log holds another thing,
// which its checksum excludes.
func (s *State) told(at int) (wire.Final, bool) {
	of := s.Releases[at]
	r, err := study.ParseHead(of.Encoded)
	return wire.Final{Header: wire.Header{Study: s.plan.Digest, Query: r.Query, Slot: r.Slot}, Encoded: of.Encoded, Signature: of.Signature, Certificate: of.Certificate}, err == nil
}

// lacked tells a release that the site said it lacks, and asks everything about the open slot
// again.
func (p *prompter) lacked() {
	l, i := &p.s.live, p.site
	at := l.lacks[i] - 1
	if at < 0 {
		return
	}
	l.lacks[i] = 0
	if m, ok := p.s.told(at); ok {
		p.out = append(p.out, Send{Site: i, Message: m})
		l.asked[i].forget(askUpload)
	}
}

// hashed reports whether the log holds hashes of tags and deposits alone: a leader that did not
// lead the setup asks each site for its own before all else, and goes on without those that do not
// answer as without those that do not upload.
func (p *prompter) hashed() bool {
	t := p.s.plan.Thresholds
	return t.Sparse() && !t.Whole()
}

func (p *prompter) query() {
	s, l, i := p.s, &p.s.live, p.site
	stamp := 1 + s.Slot // each slot is of one query
	p.send(tellConfirmed, 1, func() wire.Message {
		return wire.Confirmed{Header: p.inSetup(), Signatures: s.Confirmations}
	})
	p.final()
	p.lacked()
	if p.hashed() && !l.recalled[i] {
		// First, so that no survivor's tags can be missing when another drops out.
		p.send(askRecall, 1, func() wire.Message { return wire.Recall{Header: p.inSetup()} })
		return
	}
	// Always before a signature or share is asked for, so that the site knows
	// what it signs; a late upload of a site outside U is never opened, its b
	// shares are not asked for.
	p.send(askUpload, stamp, func() wire.Message {
		if p.open == nil {
			open, err := s.Ask()
			if err == nil {
				err = s.plan.Check(open)
			}
			if err != nil { // every honest site would refuse it, and be blamed
				l.failed = &OpenFailed{Code: study.CodeInternal, Culprit: -1}
				return nil
			}
			p.open = &open
		}
		return wire.Query{Study: s.plan.Digest, Ask: *p.open}
	})
	if s.Survivors == nil || l.asked[i][askUpload] != stamp {
		return
	}
	if s.Certificate == nil {
		if l.signed[i] == nil && s.graph().Signs(i) {
			p.send(askSignature, stamp, func() wire.Message { return wire.Release{Header: p.inSlot(), Survivors: s.Survivors} })
		}
		return
	}
	// Where every site is waited for, a site proves nothing before it has seen a certificate, also
	// when it starts again.
	if !l.shared[i] || l.proof[i] && s.waits() {
		p.send(askShares, stamp, func() wire.Message {
			return wire.Open{Header: p.inSlot(), Survivors: s.Survivors, Certificate: s.Certificate}
		})
	}
	// Behind Open: a site answers only what follows from the shares that it sent.
	if l.proof[i] {
		p.send(askProof, stamp, func() wire.Message {
			return wire.Prove{Header: p.inSlot(), Survivors: s.Survivors, Dealer: 1 + l.dealer}
		})
	}
	if l.keys[i] {
		p.send(askKeys, stamp, func() wire.Message { return wire.Keys{Header: p.inSlot(), Survivors: s.Survivors} })
	}
}

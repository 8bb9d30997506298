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

// prompts returns, for every connected site, what it should have been asked by now and was not on
// this link. Messages to one site leave in this order. A site that refused for good is told only
// the end.
func (s leader) prompts() []Effect {
	p := prompter{s: s.State}
	for i := range s.live.links {
		if k := &s.live.links[i]; !k.connected || k.barred || k.gone() && !s.Terminal() {
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

// send asks the site, unless this link was asked the same before.
func (p *prompter) send(kind ask, stamp int, message func() wire.Message) {
	if before := &p.s.live.links[p.site].asked[kind]; *before != stamp {
		if m := message(); m != nil {
			*before = stamp
			p.out = append(p.out, Send{Site: p.site, Message: m})
		}
	}
}

// past tells a site what it must know about finished steps before it can answer anything more.
func (p *prompter) past() {
	p.send(tellConfirmed, 1, func() wire.Message {
		return wire.Confirmed{Header: p.inSetup(), Signatures: p.s.Confirmations}
	})
	p.final()
	p.lacked()
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
	k := &p.s.live.links[p.site]
	at := k.lacks - 1
	if at < 0 {
		return
	}
	k.lacks = 0
	if m, ok := p.s.told(at); ok {
		p.out = append(p.out, Send{Site: p.site, Message: m})
		k.asked.forget(askUpload)
	}
}

package round

// Heard is what a leader has noted from a site's messages. If it is the same before and after a
// message, the message told nothing new.
type Heard struct {
	left, held, adopted                                    bool
	announced, nonce, boxes, confirmed, recalled, attested bool
	uploaded, signed, shared, given, spent                 bool
	lost, proof, keys                                      bool // still wanted of it
	caught                                                 int
}

// Heard returns what is noted about a site; nothing unless this node leads.
func (s *State) Heard(site int) Heard {
	l := &s.live
	if !l.leading {
		return Heard{}
	}
	k, c, o, w := &l.links[site], &l.setup, &l.slot, &l.slot.words[site]
	return Heard{
		k.gone(), w.held != nil, o.adopted != nil,
		c.announced[site] != nil, c.nonces[site] != nil, c.boxes[site] != nil, c.confirmed[site] != nil, l.recalled[site], l.signing.attested[site] != nil,
		o.uploaded[site], o.signed[site] != nil, o.opening.shared[site], w.shared, w.spent,
		o.opening.tags[site], o.opening.proof[site], o.opening.keys[site],
		k.caught,
	}
}

package round

// Heard is what a leader has noted of what a site said. One that is equal to the one before a
// message says that the message told nothing new.
type Heard struct {
	left, held, adopted                                    bool
	announced, nonce, boxes, confirmed, recalled, attested bool
	uploaded, signed, shared, given, spent                 bool
	lost, proof, keys                                      bool // still wanted of it
	caught                                                 int
}

// Heard returns what is noted of a site; nothing unless this node leads.
func (s *State) Heard(site int) Heard {
	l := &s.live
	if !l.leading {
		return Heard{}
	}
	return Heard{
		l.gone(site), l.held[site] != nil, l.adopted != nil,
		l.announced[site] != nil, l.nonces[site] != nil, l.boxes[site] != nil, l.confirmed[site] != nil, l.recalled[site], l.attested[site] != nil,
		l.uploaded[site], l.signed[site] != nil, l.shared[site], l.given[site], l.spent[site],
		l.lost[site], l.proof[site], l.keys[site],
		l.caught[site],
	}
}

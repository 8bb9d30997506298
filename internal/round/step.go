package round

// Step changes the state by one event and returns what the leader has to do. The error is a
// *StaleError, or that of a proposal that does not parse: the entry changed nothing. An event about
// another slot than the open one changes nothing.
func (s *State) Step(e Event) ([]Effect, error) {
	lead := leader{s}
	if c, ok := e.(Committed); ok {
		s.live.proposing = false
		if c.Entry.Kind == EntryReleased {
			s.live.slot.adopted = nil // taken, or not to be
		}
		if err := s.apply(c.Entry); err != nil {
			return lead.effects(), err
		}
		var out []Effect
		if c.Entry.Kind == EntrySurvivors && s.live.leading {
			for i, w := range s.live.slot.words {
				out = append(out, lead.doubt(i, w.held)...)
			}
		}
		return append(out, lead.effects()...), nil
	}
	if s.plan == nil {
		return nil, nil
	}
	e.observe(s)
	return append(lead.special(e), lead.effects()...), nil
}

// subset reports whether all of part, site numbers, are in whole.
func subset(part []int, whole []bool) bool {
	for _, i := range part {
		if !whole[i] {
			return false
		}
	}
	return true
}

package session

import (
	"covey/internal/round"
	"covey/internal/study"
)

func (s *Session) shared(site, query, slot int, shares []byte) round.Event {
	if !s.current(query, slot) || s.State.Certificate == nil {
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
		if s.opening, err = s.setup.NewOpening(q, s.State.Survivors, s.kept); err != nil {
			s.log.Error("the committed survivors cannot be opened", "study", s.Plan.Digest, "error", err)
			return nil
		}
	}
	if err := s.opening.Add(site, shares); err != nil {
		s.Fault(site, study.CodeBadShare)
		return nil
	}
	return round.Shared{Site: site, Query: query, Slot: slot}
}

// proved checks a helper's proof of its share of one dealer's secret. One that does not hold costs
// the helper its shares: a share that fits no proof is wrong.
func (s *Session) proved(site, query, slot, dealer int, proof []byte) round.Event {
	if !s.current(query, slot) || s.opening == nil || !s.State.WantsProof(site, dealer) {
		return nil
	}
	if err := s.opening.AddProof(site, proof); err != nil {
		s.Fault(site, study.CodeBadShare)
		return round.Unshared{Site: site, Query: query, Slot: slot}
	}
	return round.Proved{Site: site, Query: query, Slot: slot}
}

// keyed checks a survivor's keys against their tags.
func (s *Session) keyed(site, query, slot int, keys []byte) round.Event {
	if !s.current(query, slot) || s.opening == nil || !s.State.WantsKeys(site) {
		return nil
	}
	if err := s.opening.AddKeys(site, keys); err != nil {
		s.Fault(site, study.CodeBadShare)
		return nil
	}
	return round.Keyed{Site: site, Query: query, Slot: slot}
}

// Drop takes the shares of helpers that proved nothing out of the opening.
func (s *Session) Drop(e round.Drop) {
	if s.opening == nil || !s.current(e.Query, e.Slot) {
		return
	}
	for _, i := range e.Helpers {
		s.opening.Drop(i)
	}
}

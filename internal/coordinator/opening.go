package coordinator

import (
	"covey/internal/aggregate"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

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

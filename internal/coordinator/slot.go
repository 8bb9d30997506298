package coordinator

import (
	"slices"

	"covey/internal/aggregate"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// tally is what is here of the open slot: the sum of the masked uploads, and the shares. An upload
// is added as it comes and not kept: memory is that of one vector, however many sites there are.
type tally struct {
	query, slot int
	asked       *secagg.Query     // once it was needed
	sum         []uint64          // of the uploads that are in
	in          []bool            // by site; nil before the first slot
	late        map[int][]byte    // uploads that came while U was on its way to the log
	releasing   *secagg.Releasing // on the committed U
	settled     bool              // sum was compared with the committed U
	opening     *secagg.Opening
	convicted   []int             // by the opening so far
	encoded     map[string][]byte // messages of this slot that are the same for every site
	// opening and sum were given to release; later shares are not needed
	taken bool
	// closed when the slot is left: nobody waits for its deadlines any more
	turned chan struct{}
}

// turn forgets the slot before, when the open slot is another.
func (s *session) turn() {
	if s.in == nil || s.query != s.state.Query || s.slot != s.state.Slot {
		s.leave()
		s.wipe()
		s.tally = tally{query: s.state.Query, slot: s.state.Slot, in: make([]bool, s.plan.Thresholds.Sites), encoded: map[string][]byte{}, turned: make(chan struct{})}
	}
}

// leave ends what waits for the open slot.
func (s *tally) leave() {
	if s.turned != nil {
		close(s.turned)
		s.turned = nil
	}
}

// settle brings the sum and the committed U together. Uploads that came while U was on its way
// count if U has their sites. If the sum holds a site outside U, all is asked for again: it
// cannot be taken out, since no upload is kept.
func (s *session) settle() []round.Event {
	u := s.state.Survivors
	if s.state.Closing() || u == nil && len(s.late) == 0 || u != nil && s.settled {
		return nil
	}
	var out []round.Event
	if u != nil {
		s.settled = true
		for i, in := range s.in {
			if in && !slices.Contains(u, i) {
				clear(s.sum)
				s.in, s.sum = make([]bool, len(s.in)), nil
				out = append(out, round.Forgotten{Query: s.query, Slot: s.slot})
				break
			}
		}
	}
	late := s.late
	s.late = nil
	for site, masked := range late {
		if e := s.uploaded(site, s.query, s.slot, masked); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// wipe overwrites what is here of a slot that is left: with enough shares the sum could still be
// opened.
func (s *tally) wipe() { aggregate.Wipe(s.sum, s.opening) }

func (s *session) current(query, slot int) bool {
	return s.setup != nil && s.state.Status == round.StatusRunning && query == s.state.Query && slot == s.state.Slot
}

// secaggQuery returns what secagg calls the open query.
func (s *session) secaggQuery() (secagg.Query, error) {
	if s.asked == nil {
		ask, err := s.state.Ask()
		if err != nil {
			return secagg.Query{}, err
		}
		q := s.plan.Summed(s.setup.Transcript(), ask)
		s.asked = &q
	}
	return *s.asked, nil
}

func (s *session) uploaded(site, query, slot int, masked []byte) round.Event {
	if !s.current(query, slot) {
		return nil
	}
	if len(masked) != s.plan.Queries[query].Bytes {
		s.fault(site, study.CodePlanMismatch)
		return nil
	}
	s.turn()
	u := s.state.Survivors
	switch {
	case s.taken || s.in[site] || u != nil && !slices.Contains(u, site):
		return nil // a second one, or never to be opened
	case s.state.Closing():
		if s.late == nil {
			s.late = map[int][]byte{}
		}
		s.late[site] = masked
		return nil
	}
	if s.sum == nil {
		s.sum = make([]uint64, s.plan.Queries[query].Lanes)
	}
	if err := secagg.SumPacked(s.sum, masked, s.plan.Bits); err != nil {
		s.fault(site, study.CodePlanMismatch)
		return nil
	}
	s.in[site] = true
	return round.Uploaded{Site: site, Query: query, Slot: slot}
}

func (s *session) signed(site, query, slot int, signature []byte) round.Event {
	if !s.current(query, slot) || s.state.Survivors == nil {
		return nil
	}
	s.turn()
	if s.releasing == nil {
		q, err := s.secaggQuery()
		if err == nil {
			s.releasing, err = s.setup.Releasing(q, s.state.Survivors)
		}
		if err != nil {
			s.leader.log.Error("the committed survivors cannot be signed", "study", s.plan.Digest, "error", err)
			return nil
		}
	}
	if s.releasing.Check(site, signature) != nil {
		s.fault(site, study.CodeBadCertificate)
		return nil
	}
	return round.Signed{Site: site, Query: query, Slot: slot, Signature: signature}
}

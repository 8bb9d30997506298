package session

import (
	"slices"
	"strconv"

	"covey/internal/aggregate"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// tally is what came in the open slot: the sum of the masked uploads, and the shares. An upload
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

// Turn brings the session up to its study's state, whenever that has changed.
func (s *Session) Turn() {
	s.turn()
	if s.State.Status == round.StatusRunning && s.kept.TagHashes == nil {
		s.prepared()
	}
}

// turn forgets the slot before, when the open slot is another.
func (s *Session) turn() {
	if s.in == nil || s.query != s.State.Query || s.slot != s.State.Slot {
		s.Leave()
		s.tally = tally{query: s.State.Query, slot: s.State.Slot, in: make([]bool, s.Plan.Thresholds.Sites), encoded: map[string][]byte{}, turned: make(chan struct{})}
	}
}

// Turned returns a channel that is closed when the open slot is left.
func (s *tally) Turned() <-chan struct{} { return s.turned }

// Leave ends what waits for the open slot, and overwrites what is here of it: with enough shares
// the sum could still be opened.
func (s *tally) Leave() {
	if s.turned != nil {
		close(s.turned)
		s.turned = nil
	}
	aggregate.Wipe(s.sum, s.opening)
}

// Settle brings the sum and the committed U together. Uploads that came while U was on its way
// count if U has their sites. If the sum holds a site outside U, all is asked for again: it
// cannot be taken out, since no upload is kept.
func (s *Session) Settle() []round.Event {
	u := s.State.Survivors
	if s.State.Closing() || u == nil && len(s.late) == 0 || u != nil && s.settled {
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

func (s *Session) current(query, slot int) bool {
	return s.setup != nil && s.State.Status == round.StatusRunning && query == s.State.Query && slot == s.State.Slot
}

// secaggQuery returns what secagg calls the open query.
func (s *Session) secaggQuery() (secagg.Query, error) {
	if s.asked == nil {
		ask, err := s.State.Ask()
		if err != nil {
			return secagg.Query{}, err
		}
		q := s.Plan.Summed(s.setup.Transcript(), ask)
		s.asked = &q
	}
	return *s.asked, nil
}

func (s *Session) uploaded(site, query, slot int, masked []byte) round.Event {
	if !s.current(query, slot) {
		return nil
	}
	if len(masked) != s.Plan.Queries[query].Bytes {
		s.Fault(site, study.CodePlanMismatch)
		return nil
	}
	s.turn()
	u := s.State.Survivors
	switch {
	case s.taken || s.in[site] || u != nil && !slices.Contains(u, site):
		return nil // a second one, or never to be opened
	case s.State.Closing():
		if s.late == nil {
			s.late = map[int][]byte{}
		}
		s.late[site] = masked
		return nil
	}
	if s.sum == nil {
		s.sum = make([]uint64, s.Plan.Queries[query].Lanes)
	}
	if err := secagg.SumPacked(s.sum, masked, s.Plan.Bits); err != nil {
		s.Fault(site, study.CodePlanMismatch)
		return nil
	}
	s.in[site] = true
	return round.Uploaded{Site: site, Query: query, Slot: slot}
}

func (s *Session) signed(site, query, slot int, signature []byte) round.Event {
	if !s.current(query, slot) || s.State.Survivors == nil {
		return nil
	}
	s.turn()
	if s.releasing == nil {
		q, err := s.secaggQuery()
		if err == nil {
			s.releasing, err = s.setup.Releasing(q, s.State.Survivors)
		}
		if err != nil {
			s.log.Error("the committed survivors cannot be signed", "study", s.Plan.Digest, "error", err)
			return nil
		}
	}
	if s.releasing.Check(site, signature) != nil {
		s.Fault(site, study.CodeBadCertificate)
		return nil
	}
	return round.Signed{Site: site, Query: query, Slot: slot, Signature: signature}
}

// Encode returns a message's bytes. What is the same for every site of the slot is encoded once and
// shared: with many sites and a long vector, a copy each would be most of the leader's memory.
// whole adds to the message what is not held here.
func (s *Session) Encode(m wire.Message, whole func(wire.Message) wire.Message) ([]byte, error) {
	kind := wire.Name(m)
	if told, ok := m.(wire.Final); ok { // not always the last
		kind += strconv.Itoa(told.Query)
	}
	raw := s.encoded[kind]
	if raw == nil {
		var err error
		if raw, err = wire.Encode(whole(m)); err != nil {
			return nil, err
		}
		s.encoded[kind] = raw
	}
	return raw, nil
}

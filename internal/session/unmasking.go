package session

import (
	"crypto/ed25519"
	"errors"
	"slices"

	"covey/internal/aggregate"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// Unmasking is the exact sum of a slot and what opens it, taken out of the session: one goroutine's
// alone, without the leader's lock, until the sum is noised, and overwritten then. It is not in the
// log, not in a log line, not in an error.
type Unmasking struct {
	session     *Session
	plan        *study.Plan
	ask         study.Ask
	survivors   []int
	query       secagg.Query
	err         error // why there is no query
	certificate []byte
	sum         []uint64
	opening     *secagg.Opening
}

// Unmask takes the open slot's sum and its opening. From here on the session touches neither,
// unless it is given them back.
func (s *Session) Unmask(of round.Open) *Unmasking {
	q, err := s.secaggQuery()
	u := &Unmasking{
		session: s, plan: s.Plan, ask: of.Ask, survivors: of.Survivors, query: q, err: err,
		certificate: s.setup.Pack(s.State.Certificate), sum: s.sum, opening: s.opening,
	}
	s.sum, s.opening, s.taken = nil, nil, true
	return u
}

// Release opens the sum and makes it private (aggregate.Release). Unless it returns an error that
// Lacks something of the sites, the sum is overwritten.
func (u *Unmasking) Release(began func()) (study.Release, error) {
	if u.err != nil {
		u.Wipe()
		return study.Release{}, u.err
	}
	released, err := aggregate.Release(u.plan, u.ask, u.survivors, u.query, u.sum, u.opening, began)
	if !Lacks(err) {
		u.Wipe()
	}
	return released, err
}

// Wipe overwrites the sum and the shares that open it, and lets go of them.
func (u *Unmasking) Wipe() {
	aggregate.Wipe(u.sum, u.opening)
	u.sum, u.opening = nil, nil
}

// Sign signs what was released.
func (u *Unmasking) Sign(key ed25519.PrivateKey, r study.Release) (round.Released, error) {
	encoded, err := r.Encode()
	if err != nil {
		return round.Released{}, err
	}
	return round.Released{Encoded: encoded, Signature: ed25519.Sign(key, study.SigningInput(encoded)), Certificate: u.certificate}, nil
}

// Lacks reports whether an opening goes on once sites have sent what it lacks.
func Lacks(err error) bool {
	switch err.(type) {
	case *secagg.ProofsError, *secagg.KeysError, *secagg.TagsError:
		return true
	}
	return false
}

// Failed is how an opening that does not go on ends the study.
func Failed(of study.Ask, err error) round.OpenFailed {
	failed := round.OpenFailed{Query: of.Query, Slot: of.Slot, Code: study.CodeInternal}
	if guilty, ok := errors.AsType[*secagg.DealerError](err); ok {
		failed.Code, failed.Culprit = study.CodeBadDealer, study.SeatOf(guilty.Site)
	}
	return failed
}

// Resume puts the sum, which is as it was, and its opening back into the session, with the lock
// held again, and returns the event of what the opening lacks. If the slot was left meanwhile, both
// are overwritten, and there is no event.
func (u *Unmasking) Resume(why error) round.Event {
	s, query, slot := u.session, u.ask.Query, u.ask.Slot
	if !s.current(query, slot) {
		u.Wipe()
		return nil
	}
	convicted := u.opening.Convicted()
	for _, i := range convicted {
		if !slices.Contains(s.convicted, i) {
			s.Fault(i, study.CodeWrongDeposit)
		}
	}
	s.convicted = convicted
	if s.taken {
		s.sum, s.opening, s.taken = u.sum, u.opening, false
		u.opening.Keep(s.kept)
	} else {
		u.Wipe()
	}
	s.log.Warn("an opening needs more than shares", "study", s.Plan.Digest, "query", query, "why", why)
	switch why := why.(type) {
	case *secagg.ProofsError:
		return round.ProofsMissing{Query: query, Slot: slot, Dealer: why.Dealer, Helpers: why.Helpers}
	case *secagg.KeysError:
		return round.KeysMissing{Query: query, Slot: slot, From: why.From, Convicted: convicted}
	case *secagg.TagsError:
		return round.TagsMissing{Query: query, Slot: slot, Owners: why.Owners, Convicted: convicted}
	}
	return nil
}

package coordinator

import (
	"crypto/ed25519"
	"errors"
	"io"
	"slices"
	"time"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// open unmasks the sum of the open slot, makes it private and proposes the
// release. The exact sum lives in one slice of this goroutine's until it is noised, and is
// overwritten then: not in the log, not in a log line, not in an error, not in memory.
func (m *leader) open(digest proposal.Digest, s *session, e round.Open) {
	q, err := s.secaggQuery()
	sum, opening := s.take()
	c, state, plan, term := m.core, s.state, s.plan, m.term
	before := *state // for Next, outside the lock
	certificate := s.setup.Pack(state.Certificate)
	c.background(func() {
		var released study.Release
		var began time.Time
		if err == nil {
			released, err = release(plan, e, q, sum, opening, func() { began = c.now() })
		}
		if needs(err) {
			if !c.inTerm(term, func(m *leader) { m.unopened(digest, s, err, e, sum, opening) }) {
				wipe(sum, opening)
			}
			return
		}
		wipe(sum, opening)
		if err != nil {
			c.unreleased(term, digest, e.Ask, err)
			return
		}
		// On the tick, so that the time sampling took says nothing: what comes before the draws and
		// behind the tick takes time by public numbers and by what is released.
		tick := plan.Tick(e.Ask)
		c.after(tick-max(0, c.now().Sub(began))%tick, nil, func() {
			signed, err := sign(c.authority.SigningKey(), released)
			signed.Certificate = certificate
			var next study.Course
			if err == nil {
				next, err = before.Next(released)
			}
			if err != nil {
				c.unreleased(term, digest, e.Ask, err)
				return
			}
			c.inTerm(term, func(m *leader) {
				if !state.Terminal() && state.Query == e.Ask.Query && state.Slot == e.Ask.Slot {
					m.propose(state.NewReleased(released, signed, next))
				}
			})
		})
	})
}

// unreleased ends a study at a sum that was not released.
func (c *core) unreleased(term int, digest proposal.Digest, of study.Ask, err error) {
	c.log.Error("a sum was not released", "study", digest, "query", of.Query, "slot", of.Slot, "error", err)
	c.event(term, digest, failure(of, err))
}

// needs reports whether an opening goes on once sites have sent what it lacks.
func needs(err error) bool {
	switch err.(type) {
	case *secagg.ProofsError, *secagg.KeysError, *secagg.TagsError:
		return true
	}
	return false
}

// failure is how an opening that does not go on ends the study.
func failure(of study.Ask, err error) round.OpenFailed {
	failed := round.OpenFailed{Query: of.Query, Slot: of.Slot, Code: study.CodeInternal, Culprit: -1}
	if guilty, ok := errors.AsType[*secagg.DealerError](err); ok {
		failed.Code, failed.Culprit = study.CodeBadDealer, guilty.Site
	}
	return failed
}

// unopened goes on with an opening that needs more of the sites.
func (m *leader) unopened(digest proposal.Digest, s *session, why error, e round.Open, sum []uint64, opening *secagg.Opening) {
	query, slot := e.Ask.Query, e.Ask.Slot
	if !s.current(query, slot) {
		wipe(sum, opening)
		return
	}
	convicted := opening.Convicted()
	for _, i := range convicted {
		if !slices.Contains(s.convicted, i) {
			s.fault(i, study.CodeWrongDeposit)
		}
	}
	s.convicted = convicted
	s.giveBack(query, slot, sum, opening)
	m.log.Warn("an opening needs more than shares", "study", digest, "query", query, "why", why)
	var lacks round.Event
	switch why := why.(type) {
	case *secagg.ProofsError:
		lacks = round.ProofsMissing{Query: query, Slot: slot, Dealer: why.Dealer, Helpers: why.Helpers}
	case *secagg.KeysError:
		lacks = round.KeysMissing{Query: query, Slot: slot, From: why.From, Convicted: convicted}
	case *secagg.TagsError:
		lacks = round.TagsMissing{Query: query, Slot: slot, Owners: why.Owners, Convicted: convicted}
	}
	m.step(digest, s.state, lacks)
}

// drop takes the shares of helpers that proved nothing out of the opening.
func (s *session) drop(e round.Drop) {
	if s.opening == nil || !s.current(e.Query, e.Slot) {
		return
	}
	for _, i := range e.Helpers {
		s.opening.Drop(i)
	}
}

// release opens the sum of U's uploads, in place, and adds its one noise. The noise is a function
// of the opened lanes, ctx and H(U) (docs/privacy.md): opening again, here or on another leader,
// gives the same release. Of sites' own noise it takes away what those let it, so that another
// leader's may differ by what both can take away. began is called when the masks are off. The draws
// are overwritten; the sum is the caller's to wipe.
func release(p *study.Plan, e round.Open, q secagg.Query, sum []uint64, opening *secagg.Opening, began func()) (study.Release, error) {
	if len(sum) != q.Lanes || opening == nil {
		return study.Release{}, errNoSum
	}
	if err := opening.Unmask(sum); err != nil {
		return study.Release{}, err
	}
	began()
	values := p.Queries[e.Ask.Query].Values
	if p.Honest > 0 { // the sites' shares of noise are in the sum
		removed, err := remove(p, e, sum, opening.Chain)
		if err != nil {
			return study.Release{}, err
		}
		noised := make([]int64, values)
		for i, v := range sum {
			noised[i] = lift(v, q.Bits)
		}
		r, err := p.NewRelease(e.Ask, e.Survivors, noised)
		r.Removed = removed
		return r, err
	}
	key := noise.Key(sum[values:], q.Bits, q.Context, secagg.Survivors(e.Survivors).Hash())
	noised, err := privatize(p, e.Ask, sum[:values], q.Bits, noise.NewKeyed(key))
	if err != nil {
		return study.Release{}, err
	}
	return p.NewRelease(e.Ask, e.Survivors, noised)
}

// remove takes away, in Z_2^b, what a sum over so many survivors does not need of the noise of each
// of whom the chain's key came with its shares, and returns them. A key may be false: then it
// spoils the sum, as an upload can, and nobody learns more.
func remove(p *study.Plan, e round.Open, sum []uint64, chain func(site int) ([32]byte, bool)) ([]int, error) {
	u := len(e.Survivors)
	removable, err := p.Removable(e.Ask.Sigma, u)
	if err != nil || len(removable) == 0 {
		return nil, err
	}
	var removed []int
	for _, i := range e.Survivors {
		if key, ok := chain(i); ok {
			if err := removable.Subtract(sum, secagg.NoiseComponentKeys(key, u, removable.Levels())); err != nil {
				return nil, err
			}
			removed = append(removed, i)
		}
	}
	return removed, nil
}

// wipe overwrites a sum and the shares that open it, which nobody needs any more. The runtime's own
// copies are not reached: docs/threat-model.md says what a core may hold.
func wipe(sum []uint64, opening *secagg.Opening) {
	clear(sum)
	if opening != nil {
		opening.Erase()
	}
}

var errNoSum = errors.New("there is no sum to open")

// privatize makes an opened sum private, by noise or by a private choice.
func privatize(p *study.Plan, a study.Ask, sum []uint64, bits uint, source io.Reader) ([]int64, error) {
	if p.Chooses(a.Query) {
		return choose(p, a, sum, bits, source)
	}
	return addNoise(sum, bits, a.Sigma, source)
}

// choose picks one of the candidates whose counts were opened, by the exponential
// mechanism: its index is all that is released.
func choose(p *study.Plan, a study.Ask, sum []uint64, bits uint, source io.Reader) ([]int64, error) {
	scores := make([]int64, len(sum))
	defer clear(scores)
	for i, v := range sum {
		scores[i] = noise.OnCircle(v, bits, int64(p.Groups))
	}
	epsilon, err := p.SelectEpsilon(a.Query)
	if err != nil {
		return nil, err
	}
	chosen, err := noise.Select(scores, epsilon, source)
	return []int64{int64(chosen)}, err
}

// addNoise adds discrete Gaussian noise in Z_2^b and only then lifts to signed
// numbers, so that a corrupt site that pushes the sum to the ring's edge makes it
// wrong, not less private. What it gives has passed the study's own check.
func addNoise(sum []uint64, bits uint, sigma noise.Sigma, source io.Reader) ([]int64, error) {
	draws := make([]int64, len(sum))
	defer clear(draws) // with the release they give the sum again
	if err := sigma.Draw(source, draws); err != nil {
		return nil, err
	}
	noised := make([]int64, len(sum))
	for i, v := range sum {
		noised[i] = lift(v+uint64(draws[i]), bits)
	}
	return noised, check(sum, noised, bits, sigma)
}

// check is the study's own of what it is about to release: the values must differ
// from the sum by what the law of σ could have drawn, and by something.
func check(sum []uint64, noised []int64, bits uint, sigma noise.Sigma) error {
	difference := make([]int64, len(sum))
	defer clear(difference)
	for i, v := range sum {
		difference[i] = lift(uint64(noised[i])-v, bits)
	}
	return noise.CheckReleased(difference, make([]int64, len(sum)), sigma)
}

// lift returns the signed number in [-2^(b-1), 2^(b-1)) of an element of Z_2^b.
func lift(v uint64, bits uint) int64 { return int64(v<<(64-bits)) >> (64 - bits) }

func sign(key ed25519.PrivateKey, r study.Release) (round.Released, error) {
	encoded, err := r.Encode()
	if err != nil {
		return round.Released{}, err
	}
	return round.Released{Encoded: encoded, Signature: ed25519.Sign(key, study.SigningInput(encoded))}, nil
}

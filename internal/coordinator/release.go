package coordinator

import (
	"crypto/ed25519"
	"errors"
	"io"
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
	helpers := 0
	if opening != nil {
		helpers = opening.Helpers()
	}
	c, state, plan, term := m.core, s.state, s.plan, m.term
	before := *state // for Next, outside the lock
	certificate := s.setup.Pack(state.Certificate)
	c.background(func() {
		var released study.Release
		var began time.Time
		if err == nil {
			released, err = release(plan, e, q, sum, opening, func() { began = c.now() })
		}
		if needed, ok := errors.AsType[*secagg.BodyError](err); ok {
			if !c.inTerm(term, func(m *leader) { m.lacking(digest, s, needed.Dealer, e, sum, opening) }) {
				wipe(sum, opening)
			}
			return
		}
		if bad, ok := errors.AsType[*secagg.SiteError](err); ok && opening.Helpers() < helpers {
			if !c.inTerm(term, func(m *leader) { m.unshared(digest, s, bad.Site, e, sum, opening) }) {
				wipe(sum, opening)
			}
			return
		}
		wipe(sum, opening)
		var signed round.Released
		if err == nil {
			signed, err = sign(c.authority.SigningKey(), released)
			signed.Certificate = certificate
		}
		var next study.Course
		if err == nil {
			next, err = before.Next(released)
		}
		if err != nil {
			c.log.Error("a sum was not released", "study", digest, "query", e.Ask.Query, "slot", e.Ask.Slot, "error", err)
			c.event(term, digest, round.OpenFailed{Query: e.Ask.Query, Slot: e.Ask.Slot, Code: study.CodeInternal})
			return
		}
		// Results leave on the tick, so that the time sampling took says nothing: of all that was
		// done since, only that depends on a secret.
		tick := time.Duration(plan.Proposal.Spec.Deadlines.Tick)
		c.after(tick-max(0, c.now().Sub(began))%tick, nil, func() {
			c.inTerm(term, func(m *leader) {
				if !state.Terminal() && state.Query == e.Ask.Query && state.Slot == e.Ask.Slot {
					m.propose(state.NewReleased(released, signed, next))
				}
			})
		})
	})
}

// unshared goes on with an opening after one site's shares turned out to be wrong.
func (m *leader) unshared(digest proposal.Digest, s *session, site int, e round.Open, sum []uint64, opening *secagg.Opening) {
	s.fault(site, study.CodeBadShare)
	s.giveBack(e.Ask.Query, e.Ask.Slot, sum, opening)
	m.step(digest, s.state, round.Unshared{Site: site, Query: e.Ask.Query, Slot: e.Ask.Slot})
}

// lacking goes on with an opening that needs a dealer's commitments: from memory, or from the
// dealer, which sends its announcement as often as it is asked.
func (m *leader) lacking(digest proposal.Digest, s *session, dealer int, e round.Open, sum []uint64, opening *secagg.Opening) {
	if !s.current(e.Ask.Query, e.Ask.Slot) {
		wipe(sum, opening)
		return
	}
	s.giveBack(e.Ask.Query, e.Ask.Slot, sum, opening)
	m.step(digest, s.state, round.BodyMissing{Site: dealer, Query: e.Ask.Query, Slot: e.Ask.Slot})
	if s.bodies != nil && s.bodies[dealer] != nil {
		s.commit(dealer)
		m.step(digest, s.state, round.BodyFound{Site: dealer, Query: e.Ask.Query, Slot: e.Ask.Slot})
		return
	}
	m.log.Warn("a share is wrong; its dealer's commitments are needed to find whose", "study", digest, "dealer", s.plan.Proposal.Roster[dealer].Name)
}

// release opens the sum of U's uploads, in place, and adds its one noise. The noise is a function
// of the opened lanes, ctx and H(U) (docs/privacy.md): opening again, here or on another leader,
// gives the same release. began is called when the masks are off. The draws are overwritten; the
// sum is the caller's to wipe.
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
		noised := make([]int64, values)
		for i, v := range sum {
			noised[i] = lift(v, q.Bits)
		}
		return p.NewRelease(e.Ask, e.Survivors, noised)
	}
	key := noise.Key(sum[values:], q.Bits, q.Context, secagg.Survivors(e.Survivors).Hash())
	noised, err := privatize(p, e.Ask, sum[:values], q.Bits, noise.NewKeyed(key))
	if err != nil {
		return study.Release{}, err
	}
	return p.NewRelease(e.Ask, e.Survivors, noised)
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

package aggregate

import (
	"errors"
	"io"

	"covey/internal/noise"
	"covey/internal/secagg"
	"covey/internal/study"
)

// Release opens the sum of U's uploads, in place, and adds its one noise. The noise is a function
// of the opened lanes, ctx and H(U) (docs/privacy.md): opening again, here or on another leader,
// gives the same release. Of the sites' own noise it removes what their keys allow, so two leaders'
// releases may differ by removable noise. began is called when the masks are off. The draws are
// overwritten; the sum is the caller's to wipe.
func Release(p *study.Plan, ask study.Ask, survivors []int, q secagg.Query, sum []uint64, opening *secagg.Opening, began func()) (study.Release, error) {
	if len(sum) != q.Lanes || opening == nil {
		return study.Release{}, ErrNoSum
	}
	if err := opening.Unmask(sum); err != nil {
		return study.Release{}, err
	}
	began()
	values := p.Queries[ask.Query].Values
	if p.Honest > 0 { // the sites' shares of noise are in the sum
		removed, err := remove(p, ask, survivors, sum, opening.Chain)
		if err != nil {
			return study.Release{}, err
		}
		noised := make([]int64, values)
		for i, v := range sum {
			noised[i] = lift(v, q.Bits)
		}
		r, err := p.NewRelease(ask, survivors, noised)
		r.Removed = removed
		return r, err
	}
	key := noise.Key(sum[values:], q.Bits, q.Context, secagg.Survivors(survivors).Hash())
	noised, err := Privatize(p, ask, sum[:values], q.Bits, noise.NewKeyed(key))
	if err != nil {
		return study.Release{}, err
	}
	return p.NewRelease(ask, survivors, noised)
}

// remove takes noise away, in Z_2^b, that a sum over so many survivors does not need: that of each
// site whose chain key came with its shares. It returns those sites. A false key spoils the sum, as
// an upload can, and nobody learns more.
func remove(p *study.Plan, ask study.Ask, survivors []int, sum []uint64, chain func(site int) ([32]byte, bool)) ([]int, error) {
	u := len(survivors)
	removable, err := p.Noise.Removable(ask.Sigma, u)
	if err != nil || len(removable) == 0 {
		return nil, err
	}
	var removed []int
	for _, i := range survivors {
		if key, ok := chain(i); ok {
			if err := removable.Subtract(sum, secagg.NoiseComponentKeys(key, u, removable.Levels())); err != nil {
				return nil, err
			}
			removed = append(removed, i)
		}
	}
	return removed, nil
}

// Wipe overwrites a sum and the shares that open it, which are no longer needed. The runtime's own
// copies are not reached: docs/threat-model.md says what a core may hold.
func Wipe(sum []uint64, opening *secagg.Opening) {
	clear(sum)
	if opening != nil {
		opening.Erase()
	}
}

// ErrNoSum is an opening before there is a sum.
var ErrNoSum = errors.New("there is no sum to open")

// Privatize makes an opened sum private, by the noise that source draws or by a private choice.
func Privatize(p *study.Plan, a study.Ask, sum []uint64, bits uint, source io.Reader) ([]int64, error) {
	if p.Noise.Chooses(p.Queries[a.Query]) {
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
// wrong, not less private. What it returns has passed the study's own check.
func addNoise(sum []uint64, bits uint, sigma noise.Sigma, source io.Reader) ([]int64, error) {
	draws := make([]int64, len(sum))
	defer clear(draws) // draws and release together reveal the sum
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

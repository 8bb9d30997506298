package noise

import (
	"math/big"
	"slices"
)

// Part is one of the independent discrete Gaussians that a site's share of distributed noise is
// made of.
type Part struct {
	// Most is the most sites in a sum that keeps the part: it is taken away from a sum over more of
	// them.
	Most  int   `json:"most"`
	Sigma Sigma `json:"sigma"`
}

// Share is what each site adds to its vector where noise is distributed: its parts, Most falling.
// The first, whose Most is all sites, is never taken away.
type Share []Part

// narrowest is the least σ of a part that is taken away, in a Sigma's units: sums of parts from 4
// grid steps up are as close to a discrete Gaussian as float64 can tell (closeness).
const narrowest = 4 * sigmaStep

// NewShare returns the share of each of sites for sums over any U of at least least of them, of
// which apart know their own shares: of every |U| = u, what is kept of u-apart shares carries σ²,
// exactly, and it carries at most 1.1·σ², but for rounding each part up to the sampler's grid
// (SigmaAtLeast), wherever parts need not be narrower than 4 grid steps. A U of all sites keeps the
// least that carries σ². It is computed in integers. A *ParameterError is for σ outside (0, 2^52],
// least-apart below 1, sites below least or sites-apart above 2^16.
func NewShare(total Sigma, least, sites, apart int) (Share, error) {
	if total == 0 || total > maxSigma*sigmaStep {
		return nil, parameter("sigma", "must be in (0, 2^52], got %v", total.Float())
	}
	if apart < 0 || least-apart < 1 || sites < least || sites-apart > maxHonest {
		return nil, parameter("honest", "must be in [1, 2^16], got %d of %d to %d of %d", least-apart, least, sites-apart, sites)
	}
	var share Share
	most, kept := sites, new(big.Int)
	for _, fewest := range levels(total, least, sites, apart) {
		sigma := partSigma(total, fewest-apart, kept)
		if len(share) > 0 {
			sigma = max(sigma, narrowest) // rounding up may have left less to add
		}
		share = append(share, Part{most, sigma})
		kept.Add(kept, square(sigma))
		most = fewest - 1
	}
	return share, nil
}

// levels are the fewest sites of each range of u that keeps the same parts, from the highest range
// down. All sites are one, and then each is as wide as u-apart within 1.1 times its least allows;
// but one that would need a part below narrowest less than the next lower is a part of that.
func levels(total Sigma, least, sites, apart int) []int {
	all := []int{sites}
	for top := sites - 1; top >= least; {
		fewest := max(least, apart+(10*(top-apart)+10)/11) // apart + ⌈(top-apart)/1.1⌉
		all = append(all, fewest)
		top = fewest - 1
	}
	slices.Reverse(all)
	out := all[:1]
	for _, fewest := range all[1:] {
		// total²/low - total²/high >= narrowest²
		low, high := int64(out[len(out)-1]-apart), int64(fewest-apart)
		less := square(total)
		less.Mul(less, big.NewInt(high-low))
		bound := square(narrowest)
		bound.Mul(bound, big.NewInt(low)).Mul(bound, big.NewInt(high))
		if less.Cmp(bound) >= 0 {
			out = append(out, fewest)
		}
	}
	slices.Reverse(out)
	return out
}

// partSigma is the least σ of the sampler's grid with honest·(σ² + kept) >= total², kept in a
// Sigma's units squared; 0 where kept alone does.
func partSigma(total Sigma, honest int, kept *big.Int) Sigma {
	// u is the least integer with u² >= ⌈total²/honest⌉ - kept: one more than the root of the
	// largest that is not.
	u := square(total)
	u.Sub(u, big.NewInt(1)).Quo(u, big.NewInt(int64(honest))).Sub(u, kept)
	if u.Sign() < 0 {
		return 0
	}
	sigma := Sigma(u.Sqrt(u).Uint64()) + 1
	if sigma > wholeSigma*sigmaStep {
		sigma = (sigma + sigmaStep - 1) / sigmaStep * sigmaStep
	}
	return sigma
}

func square(s Sigma) *big.Int {
	u := new(big.Int).SetUint64(uint64(s))
	return u.Mul(u, u)
}

// Kept is what a sum over u sites keeps of each share: the parts whose Most is u or more.
func (s Share) Kept(u int) Share {
	for i, p := range s {
		if p.Most < u {
			return s[:i:i]
		}
	}
	return s
}

// Levels are the parts' Most.
func (s Share) Levels() []int {
	out := make([]int, len(s))
	for i, p := range s {
		out[i] = p.Most
	}
	return out
}

// Add adds to v, mod 2^64, what the keys' generators draw of the parts: one key each, in their
// order. After an error v holds some of them.
func (s Share) Add(v []uint64, keys [][32]byte) error {
	return s.each(v, keys, func(v *uint64, draw int64) { *v += uint64(draw) })
}

// Subtract takes away what Add adds.
func (s Share) Subtract(v []uint64, keys [][32]byte) error {
	return s.each(v, keys, func(v *uint64, draw int64) { *v -= uint64(draw) })
}

func (s Share) each(v []uint64, keys [][32]byte, do func(v *uint64, draw int64)) error {
	if len(keys) != len(s) {
		return parameter("keys", "must be %d, got %d", len(s), len(keys))
	}
	draws := make([]int64, len(v))
	defer clear(draws)
	for i, p := range s {
		if err := p.Sigma.Draw(NewKeyed(keys[i]), draws); err != nil {
			return err
		}
		for k, d := range draws {
			do(&v[k], d)
		}
	}
	return nil
}

// Removable are the other parts than Kept.
func (s Share) Removable(u int) Share { return s[len(s.Kept(u)):] }

// Variance is the sum of the parts' σ², in squared grid steps, to a float64's precision. It is the
// same to the last bit on every processor.
func (s Share) Variance() float64 {
	sum := 0.0
	for _, p := range s {
		sum += float64(p.Sigma.Float() * p.Sigma.Float())
	}
	return sum
}

// Carried is the noise that honest sites' shares leave in a sum, whatever others add to it.
type Carried struct {
	Kept   Share
	Honest int // sites that add it
}

// Carried is what sums over u sites carry, of all u from least on: for each set of kept parts the
// fewest honest sites, u-apart, as more of them are postprocessing.
func (s Share) Carried(least, apart int) []Carried {
	var out []Carried
	for i := range s {
		fewest := least
		if i+1 < len(s) {
			fewest = s[i+1].Most + 1
		}
		out = append(out, Carried{s[: i+1 : i+1], fewest - apart})
	}
	return out
}

package study

import (
	"fmt"
	"math"
	"time"

	"covey/internal/noise"
)

// Share is what each site adds of distributed noise of parameter total, and what of it is taken
// away again by the number of survivors (docs/privacy.md): one part where a sum waits for all.
func (p *Plan) Share(total noise.Sigma) (noise.Share, error) {
	return noise.NewShare(total, p.Thresholds.MinSurvivors, p.Thresholds.Sites, p.apart())
}

// Removable is what is taken away again of the share of each of so many survivors; nothing where
// noise is central.
func (p *Plan) Removable(total noise.Sigma, survivors int) (noise.Share, error) {
	if !p.Removes() {
		return nil, nil
	}
	share, err := p.Share(total)
	return share.Removable(survivors), err
}

// Removes reports whether part of the sites' noise is taken away again once it is known how many
// are in a sum.
func (p *Plan) Removes() bool { return p.Honest > 0 && !p.Thresholds.Whole() }

// apart is how many of the sites in a sum know their own shares of its noise: the corrupt, or one.
func (p *Plan) apart() int { return max(p.Thresholds.Corrupt, 1) }

// wideSigma stands for any σ of whose shares no part is too narrow: factors do not depend on it.
const wideSigma noise.Sigma = 1 << 50

// NoiseOver is the noise of a sum over survivors that all answered, as a multiple of central noise:
// at most √(1.1·u/(u - max(η, 1))) over u of them, 1 where noise is central.
func (p *Plan) NoiseOver(survivors int) float64 {
	if p.Honest == 0 {
		return 1
	}
	share, err := p.Share(wideSigma)
	if err != nil {
		return math.Inf(1) // no roster is so large
	}
	return math.Sqrt(float64(survivors)*share.Kept(survivors).Variance()) / wideSigma.Float()
}

// Tick returns a query's tick. Its opened sum goes on a whole number of ticks after the drawing of
// its noise began, one unless the machine is slow, so that the time of the draws reveals nothing.
// With distributed noise the coordinator draws nothing that stays in a sum.
func (p *Plan) Tick(a Ask) time.Duration {
	tick := time.Duration(p.Proposal.Spec.Deadlines.Tick)
	if p.Honest > 0 {
		return tick
	}
	return tick + a.Sigma.DrawTime(p.Queries[a.Query].Values)
}

// NoiseWords says for people how much noise there is, and what it depends on.
func (p *Plan) NoiseWords() string {
	if p.Honest == 0 {
		return "central: the coordinator's leader sees exact sums over all sites in them"
	}
	sites, least := p.Thresholds.Sites, p.Thresholds.MinSurvivors
	text := fmt.Sprintf("distributed: each site adds its share, %d of them carry all of it; nobody sees an exact sum; over all %d sites %.3g times central noise",
		sites-p.apart(), sites, p.NoiseFactor)
	if least < sites {
		text += fmt.Sprintf(", over %d of them, the fewest, %.3g; at most %.3g where sites go while a sum is opened", least, p.NoiseOver(least), math.Sqrt(float64(sites)/float64(p.Honest)))
	}
	return text
}

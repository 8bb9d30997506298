package study

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/proposal"
)

// A covariance of many columns whose variances fall slowly loses most to noise: its d(d+1)/2
// numbers share the budget. Power rounds share it among d·k, and where they start at components of
// a third of a covariance a few of them do (docs/figures/auto-rounds.csv). Where variances fall
// fast neither is better, and the covariance says more of single components.
const (
	// mixedColumns times K+3 is how many columns there must be: with fewer, rounds gain little, or
	// lose, since their noise grows with K. No bound of power iteration was calibrated for more
	// than mixedMost, or for more components.
	mixedColumns, mixedMost = 24, allEigen
	mixedComponents         = 5
	// mixedRounds are enough for a direction that the first parts do not show and the whole would:
	// with half of them less is found of one that stands a quarter above many equal ones.
	mixedRounds = 16
	// mixedLoss is the part of the variance beyond which a whole covariance's loss is too large.
	// Rounds find more then also where the parts show single components, or nothing but noise.
	mixedLoss = 0.01
)

// mixes reports whether public sizes and keys leave it to the first parts of a covariance what the
// last one is.
func (p *Plan) mixes() bool {
	s := p.Proposal.Spec
	return p.Iota > iotaHeavy && p.D >= mixedColumns*(p.K+3) && p.D <= mixedMost && p.K <= mixedComponents &&
		s.Components != proposal.ComponentsAuto && s.Subspace == proposal.SubspaceBlock && s.Start == nil &&
		s.NormBound == proposal.BoundPrivate && s.Rounds == proposal.PoolRounds &&
		s.Schedule == proposal.ScheduleRising && s.Output == proposal.OutputAuto &&
		!s.Standardizes() && !s.KeepsGaps() && s.Leveled() == 0 && s.Unit == ""
}

// addMixed adds the parts of a covariance, the last of them as one branch, and the rounds as the
// other, with left of the budget.
func (p *planner) addMixed(left float64) {
	shares := p.parts().shares
	last := len(shares) - 1
	for part, share := range shares {
		p.Queries = append(p.Queries, Query{Kind: KindMoment, Round: part, share: left * share})
	}
	p.Queries[len(p.Queries)-1].Branch = proposal.MethodCovariance
	rest := left * shares[last]
	radius := rest * p.radiusShare() // one histogram: the start is near the answer
	p.Queries = append(p.Queries, Query{Kind: KindHistogram, Of: KindPower, Branch: proposal.MethodPower, share: radius})
	for t := range p.Rounds {
		p.Queries = append(p.Queries, Query{Kind: KindPower, Round: t, Branch: proposal.MethodPower, share: (rest - radius) * stepShare(proposal.ScheduleRising, t, p.Rounds)})
	}
}

// mix takes the method by the first two parts of a covariance. Rounds are of rows divided by their
// lengths, which hides as much as the low clip: alike reports whether that is nothing.
func (t *transition) mix(moments []Release, alike bool) error {
	t.c.Method = proposal.MethodCovariance
	if !alike {
		return nil
	}
	loss, x, err := t.mixedLoss(moments[0], moments[1])
	if err == nil && loss > mixedLoss {
		t.c.Method, t.c.X = proposal.MethodPower, linalg.Flat(x)
	}
	return err
}

// mixedLoss returns about what a whole covariance would lose of the variance of K components, given
// its first two parts, clipped low and high, and the components so far. To first order noise of
// variance v costs direction i the sum of v/(μi-μj) over those that are not taken.
func (p *Plan) mixedLoss(low, high Release) (loss float64, components [][]float64, err error) {
	m := pooledMoment([]Release{high, low})
	mu, w, ok := linalg.Eigen(m.matrix(p.D)) // ascending
	if !ok {
		return 0, nil, noConvergence()
	}
	shares := p.parts().shares
	whole := shares[0] + shares[1] // of the noise's variance, in a whole covariance
	v, rest, top := float64(m.Tau*m.Tau)/2, p.D-p.K, 0.0
	for i := p.D - 1; i >= rest; i-- {
		components = append(components, mat.Col(nil, i, w))
		top += mu[i]
		for _, b := range mu[:rest] {
			gap := mu[i] - b
			loss += float64(v*gap) / (float64(gap*gap) + v/8) // of two equal ones either does
		}
	}
	if !(top > loss) {
		return 1, components, nil
	}
	return loss / (top - loss) * whole, components, nil
}

// mixedWhy says why a study of these releases took its method.
func (p *Plan) mixedWhy(releases []Release) string {
	moments := momentsOf(releases)
	if len(moments) < 2 {
		return p.Method.Rule()
	}
	loss, _, err := p.mixedLoss(moments[0], moments[1])
	if err != nil {
		return p.Method.Rule()
	}
	than, then := "over", "the last part follows"
	switch {
	case !(loss > mixedLoss):
		than = "at most"
	case slices.ContainsFunc(releases, func(r Release) bool { return r.Kind == KindPower }):
		then = "power rounds from their components follow"
	default:
		then = "but long rows may differ from others, which power rounds would hide: " + then
	}
	return fmt.Sprintf("two parts of a covariance say that the whole loses about %.2g%% of the variance, %s %g%%; %s", 100*loss, than, 100*mixedLoss, then)
}

package study

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/proposal"
)

// A covariance of many columns whose variances fall slowly loses most to noise: its d(d+1)/2
// numbers share the budget. Power rounds share it among d·k, and where they start at components of
// a part of a covariance a few of them do (docs/figures/auto-rounds.csv). Where variances fall
// fast neither is better, and the covariance says more of single components.
const (
	// mixedColumns is how many columns there must be: with fewer, components hold more than
	// mixedPart, or rounds gain nothing. No bound of power iteration was calibrated for more than
	// mixedMost, or for more components.
	mixedColumns, mixedMost = 48, allEigen
	mixedComponents         = 5
	// mixedRounds are enough for a direction that the first parts do not show and the whole would:
	// with half of them less is found of one that stands a quarter above many equal ones.
	mixedRounds = 16
	// mixedLoss is the part of the variance beyond which a whole covariance's loss is too large.
	// Rounds find more then also where the parts show single components, or nothing but noise.
	mixedLoss = 0.01
	// mixedPart is the part of the variance that the components so far may hold. The radius of a
	// round is about its root, so that with a larger one rounds have more noise than the whole.
	mixedPart = 0.065
	// iotaHalf is the ι above which a smaller first part buys the start of three components or
	// more: it shows little of them either way. With less noise the larger one shows directions
	// above many equal ones that the smaller does not.
	iotaHalf = 0.2
)

// mixes reports whether public sizes and keys leave it to the first parts of a covariance what the
// last one is.
func (p *Plan) mixes() bool {
	s := p.Proposal.Spec
	return p.Iota > iotaHeavy && p.D >= mixedColumns && p.D <= mixedMost && p.K <= mixedComponents &&
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
	all := 0.0
	for t := range p.Rounds {
		all += mixedWeight(t)
	}
	for t := range p.Rounds {
		p.Queries = append(p.Queries, Query{Kind: KindPower, Round: t, Branch: proposal.MethodPower, share: (rest - radius) * mixedWeight(t) / all})
	}
}

// mixedWeight is what of the rounds' budget round t takes, relative to others. It rises less than
// that of rounds from a random start: these begin nearer, and all of them tell (posterior).
func mixedWeight(t int) float64 { return math.Sqrt(float64(t + 1)) }

// mix chooses the method from the first two parts of a covariance. Rounds divide rows by their
// lengths, which hides as much as the low clip does; alike says that this is nothing.
func (t *transition) mix(moments []Release, alike bool) error {
	t.c.Method = proposal.MethodCovariance
	if !alike {
		return nil
	}
	first, err := t.firstParts(moments[0], moments[1])
	if err == nil && first.follow() {
		t.c.Method, t.c.X = proposal.MethodPower, linalg.Flat(first.components)
	}
	return err
}

// firstParts is what mix reads from the first two parts of a covariance.
type firstParts struct {
	loss       float64     // about what a whole one would lose of the variance of K components
	components [][]float64 // so far
	top, all   float64     // about the most variance that as many hold, of so much
	along, off float64     // about the variance that these hold, and its standard deviation
}

// follow reports whether rounds do, unless long rows differ.
func (f firstParts) follow() bool { return f.loss > mixedLoss && f.top <= float64(mixedPart*f.all) }

// firstParts reads the parts clipped low and high.
func (p *Plan) firstParts(low, high Release) (f firstParts, err error) {
	m := pooledMoment([]Release{high, low})
	mu, w, ok := linalg.Eigen(m.matrix(p.D)) // ascending
	if !ok {
		return f, noConvergence()
	}
	f = p.shown(mu, m.Tau)
	for i := p.D - 1; i >= p.D-p.K; i-- {
		f.components = append(f.components, mat.Col(nil, i, w))
	}
	return f, nil
}

// lossOff is about the standard deviation of what is lost, as a part of what is expected.
const lossOff = 0.3

// shown reads parts with these eigenvalues, ascending, and noise tau on the diagonal. To first
// order, noise of variance v costs direction i the sum of v/(μi-μj) over the directions that are
// not taken.
func (p *Plan) shown(mu []float64, tau float64) (f firstParts) {
	shares := p.parts().shares
	v, rest, loss := float64(tau*tau)/2, p.D-p.K, 0.0
	for _, b := range mu {
		f.all += b
	}
	for _, a := range slices.Backward(mu[rest:]) {
		f.top += a
		for _, b := range mu[:rest] {
			gap := a - b
			loss += float64(v*gap) / (float64(gap*gap) + v/8) // of two equal ones either does
		}
	}
	f.loss = 1
	f.top -= loss // noise raises an eigenvalue by about as much as its direction loses
	f.along = f.top - loss
	f.off = math.Sqrt(float64(float64(p.K)*tau*tau) + float64(lossOff*loss*lossOff*loss))
	if f.top > 0 {
		f.loss = loss / f.top * (shares[0] + shares[1]) // of the noise's variance, in a whole one
	}
	return f
}

// RoundsFollow reports whether power rounds follow two parts of a covariance that show eigenvalues
// mu, ascending, with noise of deviation tau on the diagonal, unless long rows differ.
func (p *Plan) RoundsFollow(mu []float64, tau float64) bool { return p.shown(mu, tau).follow() }

// mixedWhy says why a study of these releases took its method.
func (p *Plan) mixedWhy(releases []Release) string {
	moments := momentsOf(releases)
	if len(moments) < 2 {
		return p.Method.Rule()
	}
	first, err := p.firstParts(moments[0], moments[1])
	if err != nil {
		return p.Method.Rule()
	}
	than, then := "over", "the last part follows"
	switch {
	case !(first.loss > mixedLoss):
		than = "at most"
	case !first.follow():
		then = fmt.Sprintf("but its components hold over %g%% of all variance: %s", 100*mixedPart, then)
	case slices.ContainsFunc(releases, func(r Release) bool { return r.Kind == KindPower }):
		then = fmt.Sprintf("its components hold at most %g%% of all variance: power rounds from them follow", 100*mixedPart)
	default:
		then = "but long rows may differ from others, which power rounds would hide: " + then
	}
	return fmt.Sprintf("two parts of a covariance say that the whole loses about %.3g%% of its components' variance, %s %g%%; %s", 100*first.loss, than, 100*mixedLoss, then)
}

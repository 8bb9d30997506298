package study

import (
	"math"

	"covey/internal/linalg"
	"covey/internal/proposal"
)

// posterior returns the k leading directions of the mean of the rows' second moment given the parts
// of a covariance and the rounds that started at their components: pooled rounds alone forget what
// the covariance says, and what early rounds do. Directions are looked for in the span of what
// rounds asked about and of the last answer; all others gain nothing. It returns nil where noise
// hides how much of the covariance rounds show.
func (p *Plan) posterior(moments, steps []Release) ([][]float64, error) {
	last := len(moments) - 1
	if last < 1 {
		return nil, proposal.FieldErrorf("releases", "two parts of a covariance are not among them")
	}
	f, err := p.shownOf(moments, steps[0])
	if err != nil || !(f > 0) {
		return nil, err
	}
	m := pooledMoment([]Release{moments[last], moments[0]}) // clipped high and low
	var asked [][]float64
	for _, s := range steps {
		asked = append(asked, linalg.Split(s.X, p.D)...)
	}
	basis := linalg.Span(append(asked, steps[len(steps)-1].columns(p.D)...))
	var products []linalg.Products
	for _, s := range steps {
		at := linalg.Products{Tau: s.Tau()}
		for _, v := range linalg.Split(s.X, p.D) {
			at.X = append(at.X, linalg.Coordinates(v, basis))
		}
		for _, v := range s.columns(p.D) {
			at.Z = append(at.Z, linalg.Coordinates(v, basis))
		}
		products = append(products, at)
	}
	mean, square := m.Trace(p.D)/float64(p.D), 0.0
	for _, v := range m.Packed {
		square += float64(v*v) / float64(p.D)
	}
	before := linalg.PriorOf(linalg.Along(m.matrix(p.D), basis), mean, square, m.Tau, p.D)
	found, ok := before.Times(f).Leading(products, p.K)
	if !ok {
		return nil, noConvergence()
	}
	var out [][]float64
	for _, v := range found {
		out = append(out, linalg.Combine(v, basis))
	}
	return out, nil
}

// mixedKept is what a round's clip leaves of the variance of k equal directions, for k from 1
// ([prior.Kept], as constants: everyone computes components to the last bit).
var mixedKept = [mixedComponents]float64{0.75, 0.85006, 0.88822, 0.90887, 0.92202}

// mostOff is the part by which rounds may at most show more or less of a covariance than expected.
const mostOff = 0.4

// shownOf returns how many times the covariance of these parts rounds show. It is not above 0 where
// noise hides that. Rounds are of rows divided by their lengths, clipped, which have a trace of 1.
// But rows of zeros and those that are left out count as nothing: where there are many, what the
// first round shows of the components so far tells.
func (p *Plan) shownOf(moments []Release, first Release) (float64, error) {
	parts, err := p.firstParts(moments[0], moments[len(moments)-1])
	if err != nil || !(parts.all > 0) {
		return 0, err
	}
	expected := mixedKept[p.K-1] / parts.all
	shown, columns := 0.0, first.columns(p.D)
	for i, x := range linalg.Split(first.X, p.D) {
		shown += linalg.Dot(x, columns[i])
	}
	noise := float64(float64(p.K) * first.Tau() * first.Tau())
	want := float64(expected * parts.along)
	off := min(2*math.Sqrt(noise+float64(expected*parts.off*expected*parts.off)), float64(mostOff*want))
	if parts.along > 0 && math.Abs(shown-want) > off {
		return min(shown/parts.along, 1/parts.all), nil
	}
	return expected, nil
}

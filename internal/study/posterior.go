package study

import (
	"math"

	"covey/internal/linalg"
	"covey/internal/proposal"
)

// posterior returns the k leading directions of the second moment's posterior mean, given the parts
// of a covariance and the rounds that started at their components. Pooled rounds alone would ignore
// the covariance, and early rounds. Only directions in the span of all blocks and of the last
// answer are considered: in no others do the rounds add to what the covariance says. It returns nil
// if noise hides how much of the covariance rounds show.
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

// mixedKept is the part of the variance of k equal directions that a round's clip keeps, for k from
// 1: [prior.Kept] as constants, since all parties must compute the same bits.
var mixedKept = [mixedComponents]float64{0.75, 0.85006, 0.88822, 0.90887, 0.92202}

// mostOff is the largest relative difference between what rounds show of a covariance and what is
// expected that can pass for noise.
const mostOff = 0.4

// shownOf returns the factor by which the second moment that rounds show is that of these parts,
// which is not above 0 if noise hides it. Rounds divide rows by their lengths and clip them, so the
// trace is known, unless many rows are zeros or left out: these count as nothing. So if the first
// round clearly shows another factor along the components so far, that one is taken.
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

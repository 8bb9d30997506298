package study

import (
	"covey/internal/linalg"
	"covey/internal/proposal"
)

// mixedKept is what a round's clip leaves of the variance of k equal directions, for k from 1
// ([prior.Kept], as constants: everyone computes components to the last bit).
var mixedKept = [mixedComponents]float64{0.75, 0.85006, 0.88822, 0.90887, 0.92202}

// posterior returns the k leading directions of the mean of the rows' second moment given the parts
// of a covariance and the rounds that started at their components: pooled rounds alone forget what
// the covariance says, and what early rounds do. Directions are looked for in the span of what
// rounds asked about and of the last answer; all others gain nothing.
func (p *Plan) posterior(moments, steps []Release) ([][]float64, error) {
	last := len(moments) - 1
	if last < 1 {
		return nil, proposal.FieldErrorf("releases", "two parts of a covariance are not among them")
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
	// Rounds are of rows divided by their lengths, clipped: the covariance is made one of these.
	mean, square := m.Trace(p.D)/float64(p.D), 0.0
	for _, v := range m.Packed {
		square += float64(v*v) / float64(p.D)
	}
	found, ok := [][]float64(nil), mean > 0
	if ok {
		before := linalg.PriorOf(linalg.Along(m.matrix(p.D), basis), mean, square, m.Tau, p.D)
		found, ok = before.Times(mixedKept[p.K-1]/(mean*float64(p.D))).Leading(products, p.K)
	}
	if !ok {
		return nil, noConvergence()
	}
	var out [][]float64
	for _, v := range found {
		out = append(out, linalg.Combine(v, basis))
	}
	return out, nil
}

package study

import "slices"

// Trial returns an ask for a planned query with made-up values for all that comes from releases, so
// that a site can measure its answer. It has as many directions, centers, scales and gaps to fill
// as the study's own will have. [Plan.Check] finds it in order.
func (p *Plan) Trial(index int) (Ask, error) {
	c := p.Start()
	c.Query = index
	if index < 0 || index >= len(p.Queries) {
		return p.NewAsk(c, 0) // its error
	}
	q := p.Queries[index]
	axes := func(first, n int) []float64 {
		out := make([]float64, n*p.D)
		for i := range n {
			out[i*p.D+first+i] = 1
		}
		return out
	}
	ones := func(n int) []float64 { return slices.Repeat([]float64{1}, n) }
	f := p.form(q)
	c.Found, c.X = axes(0, f.found), axes(f.found, max(f.x, f.filled))
	if f.centered {
		c.Center = make([]float64, p.D)
	}
	if f.scaled {
		c.Scale = ones(p.D)
	}
	c.Deviations = ones(f.deviations)
	if !q.Kind.Definition().Counts && c.Radii[q.Kind] == 0 {
		c.Radii[q.Kind] = 1
	}
	return p.NewAsk(c, 0)
}

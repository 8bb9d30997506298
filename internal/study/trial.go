package study

import (
	"slices"

	"covey/internal/query"
)

// Trial returns an ask for a planned query with made-up values for all that comes from releases, so
// that a site can measure its answer. It has as many directions, centers, scales and gaps to fill
// as the study's own will have. [Plan.Check] finds it in order.
func (p *Plan) Trial(index int) (Ask, error) {
	c := p.Start()
	c.Query = index
	if index < 0 || index >= len(p.Queries) {
		return p.NewAsk(c, 0, 0) // its error
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
	found, columns := 0, q.columns(p)
	if q.sum().Definition().Directions == query.Iterate {
		found = q.Run
	}
	if p.fills(q) {
		columns = p.fillColumns(q) - found
	}
	c.Found, c.X = axes(0, found), axes(found, columns)
	if p.centers(q) {
		c.Center = make([]float64, p.D)
	}
	if p.scales(q) {
		c.Scale = ones(p.D)
	}
	if q.pictures() {
		c.Deviations = ones(p.K())
	}
	if !q.Kind.Definition().Counts && c.Radii[q.Kind] == 0 {
		c.Radii[q.Kind] = 1
	}
	return p.NewAsk(c, 0, 0)
}

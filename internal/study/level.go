package study

import (
	"math"

	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/standardize"
)

// rareShare of the units is the least that a level is not joined to its column's other texts with.
const rareShare = 0.002

// levels_share: so much that levels of levelShown of the units stand out of the noise, within
// bounds.
const (
	levelShown      = 0.005
	levelsShareMost = 0.05
	levelsShareLow  = 0.005
)

// levelsShare is the part of the budget that the counts of levels take; 0 where no column has any.
func (p *Plan) levelsShare() float64 {
	columns := p.Proposal.Spec.Leveled()
	if columns == 0 {
		return 0
	}
	units := p.Proposal.Units()
	// of the whole budget
	sigma := p.fullMultiplier * float64(p.SitesPerUnit) * math.Sqrt(float64(2*columns))
	ratio := standardize.RareSigmas * sigma / (levelShown * float64(units))
	return max(levelsShareLow, min(float64(ratio*ratio), levelsShareMost))
}

// levels centers and scales indicators by their released counts, as factor analysis of mixed
// data does (Pagès 2004): (y - p)/√p for a level of share p. Which levels are left out is a
// function of the release: their texts are then others ([Layout.JoinLevels]).
func (t *transition) levels() {
	c, r := t.c, t.r
	if len(c.Scale) == 0 {
		c.Scale = make([]float64, t.D)
		for j := range c.Scale {
			c.Scale[j] = 1
		}
	}
	if len(c.Center) == 0 {
		c.Center = make([]float64, t.D)
	}
	units := 0 // before any are paired
	for _, i := range r.Survivors {
		units += t.Proposal.Roster[i].Units
	}
	sigma := r.Spread() * r.Grid
	first, width := t.Layout.Indicators()
	for column, at := range first {
		counts := make([]float64, width[column])
		for l := range counts {
			counts[l] = float64(r.Noised[column*query.LevelBins+l]) * r.Grid
		}
		shares := standardize.LevelShares(counts, sigma, rareShare*float64(units))
		for l, share := range shares {
			c.Center[at+l], c.Scale[at+l] = share, math.Sqrt(share)
		}
	}
	if t.Proposal.Spec.Center == proposal.CenterPairs { // differences have none
		c.Center = nil
	}
	in := 0
	for _, s := range c.Scale {
		if s > 0 {
			in++
		}
	}
	if in < t.K {
		c.End = CodeNoScale
		return
	}
	c.X = within(c.X, c.Scale)
}

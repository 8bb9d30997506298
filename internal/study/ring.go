package study

import (
	"math"

	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/secagg"
)

// setRing chooses the narrowest ring that holds n units' vectors plus 40σ.
func (p *planner) setRing() error {
	need := 0.0
	for _, q := range p.Queries {
		// A radius that is not known yet: Grid keeps R/g below 2^17.
		per, sensitivity := 0x1p17+math.Sqrt(float64(q.Values)), 2*0x1p17+math.Sqrt(float64(q.Values))
		if q.Kind == KindPower && p.Radius > 0 {
			ratio := p.Radius / Grid(p.Radius)
			per, sensitivity = ratio+math.Sqrt(float64(q.Values)), 2*ratio+math.Sqrt(float64(q.Values))
		}
		switch def := q.Kind.Definition(); {
		case def.CountDelta != nil: // a unit's vector is no longer than Δ
			sensitivity = def.CountSensitivity(query.ColumnGrid, q.Values)
			per = sensitivity
		case def.Counts:
			per, sensitivity = 1/countGrid, query.HistogramSensitivity/countGrid
		}
		sigma := q.Multiplier * p.Noise.atSites(sensitivity)
		if p.Honest > 0 { // all parts of all sites' shares, where Honest of them would do
			sigma *= math.Sqrt(float64(p.Thresholds.Sites) / float64(p.Honest))
		}
		units := p.N
		if q.Kind == KindLevels {
			units = p.Proposal.Units()
		}
		need = max(need, float64(units)*per+40*sigma)
	}
	for _, bits := range secagg.Widths {
		if need < math.Ldexp(1, int(bits)-1) {
			p.Bits = bits
			break
		}
	}
	if p.Bits == 0 {
		return proposal.FieldErrorf("roster", "a ring of 64 bits cannot hold the sum: n(R/g+√d)+40σ is 2^%.1f, the bound 2^63", math.Log2(need))
	}
	for i := range p.Queries {
		q := &p.Queries[i]
		q.Lanes = q.Values
		if p.Honest == 0 {
			q.Lanes += secagg.NoiseLaneCount(p.Bits)
		}
		q.Bytes = q.Lanes * int(p.Bits) / 8
	}
	return nil
}

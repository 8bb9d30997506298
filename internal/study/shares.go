package study

import "covey/internal/proposal"

// Shares are the parts of a plan's budget that learn of single columns, and that count kept rows.
// Those of a study's keys are in its proposal.
type Shares struct {
	Standardize float64 `json:"standardize,omitempty"` // that learn constants
	Levels      float64 `json:"levels,omitempty"`      // that count levels
	Filled      float64 `json:"filled,omitempty"`      // that count empty cells
	Rows        float64 `json:"rows,omitempty"`        // that count kept rows
}

// Shares returns the parts of the plan's budget; 0 for what it does not ask.
func (p *Plan) Shares() Shares {
	out := Shares{Standardize: p.Learning.shares.All(), Levels: p.levelsShare()}
	for _, q := range p.Queries {
		switch {
		case q.Kind == KindFilled:
			out.Filled = q.Rho / p.Rho
		case q.sum() == KindRows:
			out.Rows += q.Rho / p.Rho
		}
	}
	return out
}

// Parts of the budget that no key of study.toml sets.
const (
	rowsShare     = 0.015 // kept rows per unit: a third finds the bound, where a unit is not a row
	histogramPart = 0.2   // of what a mean or a variance costs, to find its bound
	totalPart     = 0.25  // of what explained variance costs, for the total
)

// radius_share and bound_share of many units, where the proposal leaves them to their number.
const (
	radiusShare = 0.04
	boundShare  = 0.01
	fewUnits    = 4000
)

// boundShare is the part of the budget that a private norm bound takes. Few units need more, to
// show two peaks of their lengths; where noise limits a covariance they cannot spare it.
func (p *planner) boundShare() float64 {
	switch s := p.Proposal.Spec; {
	case s.BoundShare > 0:
		return s.BoundShare
	case p.N < 2*fewUnits && p.Iota <= iotaEnough:
		return proposal.BoundShareFew
	default:
		return boundShare
	}
}

// radiusShare is the part of the budget that private radii take.
func (p *planner) radiusShare() float64 {
	switch s := p.Proposal.Spec; {
	case s.RadiusShare > 0:
		return s.RadiusShare
	case p.N < fewUnits:
		return proposal.RadiusShareFew
	default:
		return radiusShare
	}
}

// stepShare is the part of a run's budget for power steps that round t takes.
func stepShare(schedule string, t, rounds int) float64 {
	if schedule == proposal.ScheduleRising {
		return float64(t+1) / float64(rounds*(rounds+1)/2)
	}
	return 1 / float64(rounds)
}

package study

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

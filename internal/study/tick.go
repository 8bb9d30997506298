package study

import "time"

// Tick returns a query's tick. Its opened sum goes on a whole number of ticks after the drawing of
// its noise began, one unless the machine is slow, so that the time of the draws reveals nothing.
// With distributed noise the coordinator draws nothing that stays in a sum.
func (p *Plan) Tick(a Ask) time.Duration {
	tick := time.Duration(p.Proposal.Spec.Deadlines.Tick)
	if p.Honest > 0 {
		return tick
	}
	return tick + a.Sigma.DrawTime(p.Queries[a.Query].Values)
}

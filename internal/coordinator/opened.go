package coordinator

import (
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// Release is what a leader releases of a sum of uploads once its shares are in: it opens the sum,
// in place, and makes it private. It proposes and signs nothing: a leader never calls it,
// experiments/audit does.
func Release(p *study.Plan, e round.Open, q secagg.Query, sum []uint64, opening *secagg.Opening) (study.Release, error) {
	return release(p, e, q, sum, opening, func() {})
}

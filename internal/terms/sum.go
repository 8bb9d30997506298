package terms

import (
	"fmt"

	"covey/internal/study"
)

// Sum is what a query's sum holds of a site's units.
func Sum(q study.Query, units int) string {
	switch q.Kind {
	case study.KindHistogram:
		return fmt.Sprintf("the counts of %d units in %d bins of size", units, q.Values)
	case study.KindLambda, study.KindSelect:
		return fmt.Sprintf("the counts of groups of units in %d octaves of their largest variance", q.Values)
	case study.KindMean:
		return fmt.Sprintf("the sum of %d clipped rows of %d numbers", units, q.Values)
	case study.KindMoment:
		return fmt.Sprintf("the sum of %d clipped second-moment matrices of %d numbers", units, q.Values)
	case study.KindVariance:
		return fmt.Sprintf("the sum of %d clipped lengths along %d components", units, q.Values)
	case study.KindTotal:
		return fmt.Sprintf("the sum of %d clipped squared lengths, one number", units)
	case study.KindRows:
		return fmt.Sprintf("the clipped number of rows of %d units, one number", units)
	default:
		return fmt.Sprintf("the sum of %d clipped vectors of %d numbers", units, q.Values)
	}
}

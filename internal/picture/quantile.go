package picture

import (
	"math"

	"covey/internal/result"
	"covey/internal/study"
)

// quantileZ leaves each end of a 95% interval 2.5%.
const quantileZ = 1.959963984540054

// Quantile is one of |score| about the center, in the histogram's standard deviations (an eighth of
// the span of its edges).
type Quantile struct {
	Value float64
	// Low and High are edges of bins between which the quantile of these very units is, with
	// probability at least 0.95 over the noise.
	Low, High float64
}

// QuantileOf returns the q-quantile, 0 < q < 1, of |score|, and reports whether there is one: not
// where the interval has no upper end, since what lies beyond the outermost edge is not told apart.
//
// Bins to both sides of the center are added up. Whether the quantile is at most an edge is the
// sign of (1-q)·(units up to it) - q·(units beyond), whose noise is known. From the center
// outwards, Low is the last edge up to which every sign is below 0 beyond 1.96 deviations, and from
// outside inwards High is the last above 0: the first test that can fail wrongly is one a side, so
// that each side is wrong with probability 0.025 at most. Neither sampling nor the noise of the
// center and the standard deviation is covered.
//
// It returns an [*Error] for a histogram that no study released.
func QuantileOf(h result.ScoreHistogram, q float64) (Quantile, bool, error) {
	if !(q > 0 && q < 1) {
		return Quantile{}, false, fault("a quantile of %g, want between 0 and 1", q)
	}
	if err := checkEdges(h.Edges, study.ScoreBins); err != nil {
		return Quantile{}, false, err
	}
	if err := check(h.Counts, study.ScoreBins, h.Sigma); err != nil {
		return Quantile{}, false, err
	}
	const folded = study.ScoreBins / 2
	const step = float64(study.PictureReach) / folded
	sum, total := [folded + 1]float64{}, 0.0
	for i := range folded {
		total += h.Counts[folded+i] + h.Counts[folded-1-i]
		sum[i+1] = total
	}
	// beyond is D at edge i over its deviation; at the last edge everything is below.
	beyond := func(i int) float64 {
		below, above := float64(2*i), float64(2*(folded-i))
		return ((1-q)*sum[i] - q*(total-sum[i])) / (h.Sigma * math.Sqrt((1-q)*(1-q)*below+q*q*above))
	}
	low, high := 0, folded
	for low < folded-1 && beyond(low+1) < -quantileZ {
		low++
	}
	for high > 0 && beyond(high-1) > quantileZ {
		high--
	}
	if high == folded || high <= low {
		return Quantile{}, false, nil
	}
	// Between the two ends the value is where the noised sums first reach q, at most between edges.
	value := float64(high)
	for i := low; i < high; i++ {
		if sum[i+1] < q*total {
			continue
		}
		value = float64(i)
		if in := sum[i+1] - sum[i]; in > 0 {
			value += min(1, max(0, (q*total-sum[i])/in))
		}
		break
	}
	return Quantile{Value: value * step, Low: float64(low) * step, High: float64(high) * step}, true, nil
}

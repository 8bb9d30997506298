package study

import "covey/internal/histogram"

// ClipQuantile is the quantile of ‖y‖² at which a part of the covariance is clipped where long rows
// show nothing of their own; of a private bound.
func (p *Plan) ClipQuantile(part int) float64 {
	if parts := len(p.parts().shares); parts == 1 || part == 1 || p.Iota <= iotaHeavy {
		return clipHigh
	}
	return clipLow
}

const (
	iotaSmall         = 0.05
	clipLow, clipHigh = 0.1, 0.93
	// Up to iotaHeavy, noise is small unless ι times the ratio of the high bound to the median of
	// ‖y‖² is more than heavy: ι assumes rows of equal length, and noise is proportional to the
	// bound. The ratio is 1.4 to 1.9 for normal rows in groups, and for t rows with 4 degrees of
	// freedom, whose tail noise hides in part, 2.3 to 3.3. With fewer than heavyColumns it is as
	// large for other rows.
	iotaHeavy    = 0.1
	heavy        = 0.16
	heavyColumns = 24
	// A direction of the high clip is looked at where its variance is so many times as far above
	// the others' as noise alone would bring the largest.
	standsClear = 1.2
	// The high clip is taken where the low one misses more than this part of the variance, beyond
	// what noise explains.
	missed = 0.004
)

// bounds are the low and the high B² by the histogram of ‖y‖² among the earlier releases.
func (t *transition) bounds() (low, high float64) {
	for _, r := range t.earlier {
		if q := t.Queries[r.Query]; q.Kind == KindHistogram && q.Of == KindTotal {
			return t.clips(r)
		}
	}
	return defaultRadius, defaultRadius
}

// clips are the low and the high B² by the histogram r of ‖y‖². Where it has two peaks, or little
// noise and no heavy tail, both are the high one.
func (t *transition) clips(r Release) (low, high float64) {
	lengths := t.lengths(r)
	also := histogram.Tail{Near: tailNear}
	if lengths.Spread > tailNoise*float64(lengths.Units) {
		also.Near = tailNoisy
	}
	peaks := lengths.TwoPeaks(t.Iota <= iotaEnough)
	if peaks {
		also.Together = peakBins
	}
	quantile := func(q float64) float64 { return lengths.QuantileWith(also, q) }
	low, high = quantile(clipLow), quantile(clipHigh)
	if peaks {
		low = high
	}
	if t.Iota <= iotaHeavy && float64(t.Iota*high) <= float64(heavy*quantile(0.5)) {
		low = high
	}
	if !(low > 0) {
		low = defaultRadius
	}
	return low, max(low, high)
}

const (
	// tailNear is how many standard deviations a bin of a tail counts from, and tailNoisy where
	// each is more than tailNoise of the units: a few of noise alone would be a tail that is not
	// there.
	tailNear, tailNoisy = 2.0, 3.5
	tailNoise           = 0.005
	// peakBins of a tail may stand out as one where lengths have two peaks.
	peakBins = 4
)

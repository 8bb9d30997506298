package query

import "math"

// Scores are counted on a grid of PictureReach standard deviations to either side of the center, in
// bins of equal width: ScoreBins of one component's, PictureBins an axis of two components'. What
// lies beyond is in the outermost bins.
const (
	PictureReach = 4
	ScoreBins    = 32
	PictureBins  = 16
)

// ScoreBin returns the bin, of so many, of a score in standard deviations. It is a function of the
// number alone, and NaN is in the first bin.
func ScoreBin(z float64, bins int) int {
	// Kept within reach first, since the conversion of a large number is not the same everywhere.
	at := math.Floor((max(-PictureReach, min(z, PictureReach)) + PictureReach) * float64(bins) / (2 * PictureReach))
	if !(at >= 0) { // a NaN
		return 0
	}
	return min(int(at), bins-1)
}

// picture is √2/g: each unit's counts are not negative and add up to 1/g at most, over all groups.
func picture(ratio float64, values int) float64 {
	if values%(PictureBins*PictureBins) != 0 {
		return math.Inf(1)
	}
	return HistogramSensitivity * ratio // exact: ratio is a power of two
}

package run

import (
	"math"

	"covey/internal/query"
	"covey/internal/result"
	"covey/internal/study"
)

// Counted returns what a picture of the rows would hold without noise, in its one group: how many
// have their scores in each bin.
func (m *Data) Counted(r *result.Result, p result.Picture) []float64 {
	out := make([]float64, study.PictureBins*study.PictureBins)
	for at := 0; at < len(m.values); at += m.D {
		bin := 0
		for axis, edges := range [][]float64{p.X, p.Y} {
			score := 0.0
			for j, v := range r.Components[p.Pair[axis]-1] {
				score += v * ((m.values[at+j]-r.Offset[j])/r.Scale[j] - r.Mean[j])
			}
			deviation := edges[len(edges)-1] / study.PictureReach
			bin = bin*study.PictureBins + query.ScoreBin(score/deviation, study.PictureBins)
		}
		out[bin]++
	}
	return out
}

// Variation is the total variation between two histograms, each divided by its sum; 1 if either has
// no counts.
func Variation(a, b []float64) float64 {
	var sums [2]float64
	for i := range a {
		sums[0] += a[i]
		sums[1] += b[i]
	}
	if !(sums[0] > 0 && sums[1] > 0) {
		return 1
	}
	out := 0.0
	for i := range a {
		out += math.Abs(a[i]/sums[0]-b[i]/sums[1]) / 2
	}
	return out
}

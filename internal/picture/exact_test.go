package picture

import (
	"math"
	"testing"

	"covey/internal/result"
)

// picture is one of counts as they are, with noise of deviation 1.
func picture(counts ...[]float64) result.Picture {
	return result.Picture{Pair: [2]int{1, 2}, X: edges(bins), Y: edges(bins), Sigma: 1, Counts: counts}
}

// TestPeakIsNoiseOfNoGroup: the more groups a picture has, the more peaks noise could make, and all
// of them together have the stated probability.
func TestPeakIsNoiseOfNoGroup(t *testing.T) {
	for _, groups := range []int{1, 5, 200} {
		tests := float64(groups*len(kernels)) * math.Pow(bins, 4)
		if p := tests * math.Erfc(peakZ(groups)/math.Sqrt2) / 2; math.Abs(p-invented) > 1e-9 {
			t.Errorf("noise of %d groups has a peak with probability %v", groups, p)
		}
	}
	// A plateau of 4 by 4 bins, which wavelets leave as it is, just high enough.
	plateau := func(height float64) []float64 {
		v := make([]float64, bins*bins)
		each(4, 8, func(_, _, bin int) { v[bin] = height })
		return v
	}
	height := 1.0
	for ; height < 10; height *= 1.001 {
		if d := drawn(t, picture(plateau(height))); len(d.Peaks[0]) > 0 {
			break
		}
	}
	many := [][]float64{plateau(height)}
	for len(many) < 200 {
		many = append(many, make([]float64, bins*bins))
	}
	if d := drawn(t, picture(many...)); len(d.Peaks[0]) > 0 {
		t.Errorf("a peak of height %v of one group is one of 200 groups, too", height)
	}
}

// TestNoiseIsNotDrawn: where a window's average is what noise makes, nothing is drawn, however much
// is elsewhere. A negative number of units counts as 0.
func TestNoiseIsNotDrawn(t *testing.T) {
	low, none := make([]float64, bins*bins), make([]float64, bins*bins)
	for i := range low {
		low[i], none[i] = 0.8, -0.8 // 4 times that is the coefficient of a window
	}
	each(0, 0, func(_, _, bin int) { low[bin] = 1000 })
	d := drawn(t, picture(low, none))
	if far := d.Shown[0][bins*bins-1]; far != 0 || d.Shown[0][0] < 900 {
		t.Errorf("%v is drawn of 0.8, and %v of 1000", far, d.Shown[0][0])
	}
	if d.Total[1] != 0 || d.Hidden[1] != 0 || len(d.Peaks[1]) != 0 {
		t.Errorf("%v units, of which %v are hidden, have peaks %v", d.Total[1], d.Hidden[1], d.Peaks[1])
	}
}

package covey

import (
	"math"
	"testing"

	"covey/internal/clip"
	"covey/internal/study"
)

// TestRestatedFormulas: study may not import clip, so the grid, the sensitivity
// and the bins stand in both (docs/adr/0001-house.md). They MUST agree to the bit:
// noise is scaled by the one and the sums are made by the other.
func TestRestatedFormulas(t *testing.T) {
	if study.HistogramBins != clip.HistogramBins || study.HistogramSensitivity != clip.HistogramSensitivity {
		t.Fatal("the histogram's bins or sensitivity differ")
	}
	for j := range study.HistogramBins {
		if study.BinEdge(j) != clip.BinEdge(j) {
			t.Fatalf("edge %d: %v and %v", j, study.BinEdge(j), clip.BinEdge(j))
		}
	}
	radius := clip.MinRadius
	for radius < clip.MaxRadius/2 {
		for _, r := range []float64{radius, math.Nextafter(radius, 0), math.Nextafter(radius, math.Inf(1))} {
			if r < clip.MinRadius {
				continue
			}
			if study.Grid(r) != clip.Grid(r) {
				t.Fatalf("grid of %v: %v and %v", r, study.Grid(r), clip.Grid(r))
			}
			for _, d := range []int{1, 2, 7, 64, 1000, 100_000} {
				for kind, m := range map[study.Kind]clip.Map{
					study.KindPower: clip.Power, study.KindMean: clip.Mean, study.KindMoment: clip.Moment,
					study.KindVariance: clip.Variance, study.KindTotal: clip.Total, study.KindRows: clip.Rows,
				} {
					if d > 1 && (m == clip.Total || m == clip.Rows) {
						continue // of one number
					}
					if a, b := study.SumSensitivity(kind, r, study.Grid(r), d), clip.Sensitivity(m, r, clip.Grid(r), d); a != b {
						t.Fatalf("sensitivity of %s with R = %v, %d values: %v and %v", kind, r, d, a, b)
					}
				}
			}
		}
		radius *= 1.37
	}
}

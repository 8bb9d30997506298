package query

import (
	"math"
	"testing"
)

// TestScoreBins: scores are in their bins, what lies beyond in the outermost, and what is no number
// in one, too.
func TestScoreBins(t *testing.T) {
	for _, c := range []struct {
		z           float64
		score, pair int
	}{
		{-4, 0, 0}, {-4.1, 0, 0}, {math.Inf(-1), 0, 0}, {-math.MaxFloat64, 0, 0}, {4, 31, 15}, {math.Inf(1), 31, 15}, {0x1p900, 31, 15},
		{0, 16, 8}, {0.25, 17, 8}, {0.5, 18, 9}, {-0.01, 15, 7}, {-3.75, 1, 0}, {3.999, 31, 15}, {math.NaN(), 0, 0},
	} {
		if score, pair := ScoreBin(c.z, ScoreBins), ScoreBin(c.z, PictureBins); score != c.score || pair != c.pair {
			t.Errorf("%v is in the bins %d and %d, want %d and %d", c.z, score, pair, c.score, c.pair)
		}
	}
}

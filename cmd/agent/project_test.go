package main

import (
	"strings"
	"testing"

	"covey/internal/score"
)

// TestProjectionAsksForUnits: where most rows are flagged, which a column in another unit of
// measurement causes, it is asked for.
func TestProjectionAsksForUnits(t *testing.T) {
	for flagged, asked := range map[int]bool{2: false, 45: false, 46: true, 90: true} {
		p := &projection{Summary: &score.Summary{Rows: 100, LeftOut: 10, Limits: []score.Limit{{Quantile: 0.99, T2: 9, SPE: 7}}, Flagged: []int{flagged}}}
		if text := p.text(); strings.Contains(text, "another unit of measurement") != asked {
			t.Errorf("%d of 90 flagged: %s", flagged, text)
		}
	}
}

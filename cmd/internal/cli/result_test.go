package cli

import (
	"strings"
	"testing"

	"covey/internal/result"
)

// TestVarianceTextNamesTheClip: the interval of a variance is of clipped rows, far below that of
// the rows where the noise left little of them, and the reader is told.
func TestVarianceTextNamesTheClip(t *testing.T) {
	r := &result.Result{ExplainedVariance: []float64{0.83}, VarianceInterval: [][2]float64{{0.77, 0.89}}, VarianceRatio: []float64{0.87}}
	if text := VarianceText(r); !strings.Contains(text, "0.830 (95%: 0.770 to 0.890)") || !strings.Contains(text, "of clipped rows") {
		t.Errorf("%q", text)
	}
	if text := VarianceText(&result.Result{}); text != "" {
		t.Errorf("nothing was bought: %q", text)
	}
}

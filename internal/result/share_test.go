package result

import (
	"math"
	"strings"
	"testing"
)

// TestShareText: a share that noise made impossible says what the intervals leave known, and
// rounding makes neither all nor nothing of one.
func TestShareText(t *testing.T) {
	for _, c := range []struct {
		d     int
		v     float64
		in    [2]float64
		total float64
		of    [2]float64
		want  string
	}{
		{7, 3, [2]float64{2.98, 3.02}, 6, [2]float64{5.95, 6.05}, "50.0%"},
		{7, 3, [2]float64{2.98, 3.02}, 6, [2]float64{4, 8}, "50%"}, // the total's noise takes the decimal
		{7, 3, [2]float64{2, 4}, 6, [2]float64{5.95, 6.05}, "50%"},
		{7, 6.9, [2]float64{6.3, 7.5}, 6, [2]float64{5, 7}, "≥ 90%"}, // the ratio is 115%
		{7, 6, [2]float64{5.98, 6.02}, 6, [2]float64{5.98, 6.02}, "≥ 99%"},
		{7, 6, [2]float64{0, 13}, 5, [2]float64{0, 12}, "unknown part"},
		{7, 6.9, [2]float64{6.3, 7.5}, 4, [2]float64{3, 5}, "unknown part"}, // more than all
		{7, 0, [2]float64{0, 0.1}, 6, [2]float64{5, 7}, "≤ 2%"},
		{7, 0, [2]float64{0, 9}, 6, [2]float64{5, 7}, "unknown part"},
		{7, 1, [2]float64{0, 2}, 0, [2]float64{0, 1}, "unknown part"},
		{7, 0, [2]float64{0, 0}, 0, [2]float64{0, 0}, "unknown part"},
		{7, 0.0004, [2]float64{0.00039, 0.00041}, 1, [2]float64{0.99, 1.01}, "< 0.1%"},
		{7, 0.0004, [2]float64{0, 0.001}, 1, [2]float64{0.99, 1.01}, "< 1%"},
		{7, 0.99996, [2]float64{0.999, 1.001}, 1, [2]float64{0.999, 1.001}, "> 99.9%"},
		{7, 0.996, [2]float64{0.9, 1.1}, 1, [2]float64{0.999, 1.001}, "> 99%"},
		{1, 6.9, [2]float64{6.3, 7.5}, 6, [2]float64{5, 7}, "100%"}, // there is no other direction
		{1, 5, [2]float64{4, 6}, 6, [2]float64{5, 7}, "100%"},
	} {
		ratio := 0.0
		if c.total > 0 {
			ratio = min(1, c.v/c.total) // as [Result.explain] has it
		}
		r := &Result{D: c.d, ExplainedVariance: []float64{c.v}, VarianceInterval: [][2]float64{c.in}, VarianceRatio: []float64{ratio}, TotalVariance: c.total, TotalInterval: &c.of}
		if number := !strings.HasPrefix(c.want, "≥") && !strings.HasPrefix(c.want, "≤") && c.want != "unknown part"; number == math.IsNaN(r.Shares()[0]) || number && c.d == 1 && r.Shares()[0] != 1 {
			t.Errorf("%+v: a share of %v", c, r.Shares())
		}
		if got := r.ShareText(0); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

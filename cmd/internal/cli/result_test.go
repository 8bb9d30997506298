package cli

import (
	"math"
	"strings"
	"testing"

	"covey/internal/result"
	"covey/internal/worth"
)

// TestVarianceTextNamesTheClip: a variance's interval is about clipped rows, far below the variance
// of the rows if the noise left little of them, and the reader is told.
func TestVarianceTextNamesTheClip(t *testing.T) {
	r := &result.Result{ExplainedVariance: []float64{0.83}, VarianceInterval: [][2]float64{{0.77, 0.89}}, VarianceRatio: []float64{0.87}}
	if text := VarianceText(r); !strings.Contains(text, "0.830 (95%: 0.770 to 0.890)") || !strings.Contains(text, "on clipped rows") || !strings.Contains(text, "nor how other rows would vary") {
		t.Errorf("%q", text)
	}
	if text := VarianceText(r); !strings.Contains(text, ", 87% of the total") || strings.Contains(text, "more than 100%") {
		t.Errorf("%q", text)
	}
	r.VarianceRatio = nil
	if text := VarianceText(r); !strings.Contains(text, "0.770 to 0.890)\n") || strings.Contains(text, "of the total") {
		t.Errorf("no share is known: %q", text)
	}
	if text := VarianceText(&result.Result{}); text != "" {
		t.Errorf("nothing was bought: %q", text)
	}
}

// TestSharesAboveAll: shares whose noise makes them add up to more than all are explained, and a
// share has decimals where its interval does.
func TestSharesAboveAll(t *testing.T) {
	of := func(half float64, ratios ...float64) string {
		r := &result.Result{VarianceRatio: ratios}
		for _, v := range ratios {
			r.ExplainedVariance = append(r.ExplainedVariance, v)
			r.VarianceInterval = append(r.VarianceInterval, [2]float64{v * (1 - half), v * (1 + half)})
		}
		return VarianceText(r)
	}
	for _, c := range []struct {
		half   float64
		ratios []float64
		want   []string
		noted  bool
	}{
		{0.01, []float64{0.651, 0.402}, []string{" 65.1% of", " 40.2% of"}, true},
		{0.2, []float64{0.651, 0.402}, []string{" 65% of", " 40% of"}, true},
		{0.01, []float64{0.651, 0.302}, []string{" 65.1% of", " 30.2% of"}, false},
		{0.2, []float64{0.336, 0.336, 0.328}, []string{" 34% of", " 33% of"}, false}, // 101 by rounding alone
		{0.01, []float64{0.99999, 0.02}, []string{" > 99.9% of", " 2.0% of"}, true},
	} {
		text := of(c.half, c.ratios...)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%v: no %q in %q", c.ratios, want, text)
			}
		}
		if strings.Contains(text, "add up to more than 100%") != c.noted {
			t.Errorf("%v: %q", c.ratios, text)
		}
	}
}

// TestShareAboveTotal: of one variance that noise made larger than the total, the bound is given
// and explained.
func TestShareAboveTotal(t *testing.T) {
	r := &result.Result{D: 3, ExplainedVariance: []float64{6.9}, VarianceInterval: [][2]float64{{6.3, 7.5}}, VarianceRatio: []float64{1}, TotalVariance: 6, TotalInterval: &[2]float64{5, 7}}
	if text := VarianceText(r); !strings.Contains(text, ", ≥ 90% of the total\n") || !strings.Contains(text, "larger than the total") || strings.Contains(text, "add up") {
		t.Errorf("%q", text)
	}
	r.VarianceInterval[0][0], r.TotalInterval[1] = 0, 12
	if text := VarianceText(r); !strings.Contains(text, ", unknown part of the total\n") || !strings.Contains(text, "contradict") {
		t.Errorf("%q", text)
	}
}

// TestVarianceInOtherUnits: a variance that is no zero does not look like one, and a large one does
// not look exact.
func TestVarianceInOtherUnits(t *testing.T) {
	for _, c := range []struct {
		v, half float64
		want    string
	}{
		{1e-6, 1e-7, "1e-06 (95%: 9e-07 to 1.1e-06)"}, {1e-6, 1, "0.000 (95%: -1.000 to 1.000)"},
		{162731.5, 146359.5, "162732 (95%: 16372 to 309091)"}, {990, 9, "990.000 (95%: 981.000 to 999.000)"}, {2e6, 1e6, "2e+06 (95%: 1e+06 to 3e+06)"},
	} {
		v, half, want := c.v, c.half, c.want
		r := &result.Result{D: 3, ExplainedVariance: []float64{v}, VarianceInterval: [][2]float64{{v - half, v + half}}, VarianceRatio: []float64{0.5}, TotalVariance: 2 * v, TotalInterval: &[2]float64{v, 3 * v}}
		if text := VarianceText(r); !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

// TestFixed: no zero has a sign.
func TestFixed(t *testing.T) {
	for v, want := range map[float64]string{math.Copysign(0, -1): "0.0000", -0.00004: "0.0000", 0: "0.0000", -0.00006: "-0.0001", -10: "-10.0000", 0.5: "0.5000"} {
		if got := Fixed(v, 4); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// TestLoadingsHead: a table of loadings says of each component whether it means anything.
func TestLoadingsHead(t *testing.T) {
	of := &worth.Report{Components: []worth.Component{{Number: 1, Separated: true}, {Number: 2}}}
	for _, c := range []struct {
		at, k int
		want  string
	}{
		{0, 1, "loading"}, {0, 3, "component 1"}, {1, 3, "component 2, not to be interpreted"}, {2, 3, "component 3, not to be interpreted"},
	} {
		if got := loadingsHead(of, c.at, c.k); got != c.want {
			t.Errorf("component %d of %d: %q, want %q", c.at, c.k, got, c.want)
		}
	}
	if got := loadingsHead(&worth.Report{Uncalibrated: "heavy tails"}, 0, 1); got != "loading, not to be interpreted" {
		t.Errorf("of a result without bounds: %q", got)
	}
}

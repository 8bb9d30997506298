package sitedata

import (
	"math/rand/v2"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// TestPlausibleRanges: a column of which more than 5% lies on one side of the plausible range is
// named, and outer quantiles are shown of 50 rows and more. The rows are seeded.
func TestPlausibleRanges(t *testing.T) {
	look := func(n int, value func(i int) float64) ColumnFigure {
		rows := &dataset.Rows{Rows: n, Units: n, D: 1}
		for i := range n {
			rows.Values = append(rows.Values, (value(i)-90)/20)
		}
		f := LookAt(rows, []dataset.Column{{Name: "x", Offset: 90, Scale: 20}})
		f.Beside([]proposal.Column{{Name: "x", Measure: "mg/dL", Range: []float64{50, 130}}})
		return f.Columns[0]
	}
	for name, c := range map[string]struct {
		shift float64
		says  []string
	}{
		"within":      {0, nil},
		"above":       {25, []string{"above 130, which the proposer calls the highest"}},
		"below":       {-25, []string{"below 50, which the proposer calls the lowest"}},
		"a few above": {5, nil},
	} {
		rng := rand.New(rand.NewPCG(1, 7)) // its own: a map has no order
		f := look(5000, func(int) float64 { return 90 + c.shift + 20*rng.NormFloat64() })
		got := strings.Join(f.Warnings, "; ")
		if f.Measure != "mg/dL" || f.Low == nil || *f.Low > *f.High || len(c.says) == 0 && got != "" {
			t.Errorf("%s: %q, %+v", name, got, f)
		}
		for _, want := range c.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	if f := look(49, func(i int) float64 { return float64(i) }); f.Low != nil || f.High != nil || strings.Contains(strings.Join(f.Warnings, ""), "plausible") {
		t.Errorf("of 49 rows an outer quantile is shown: %+v", f)
	}
}

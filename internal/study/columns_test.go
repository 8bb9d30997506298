package study

import (
	"strings"
	"testing"

	"covey/internal/standardize"
)

// TestColumnsText: what a study asks for are columns, and what a row becomes are numbers.
func TestColumnsText(t *testing.T) {
	for _, c := range []struct {
		columns, coordinates int
		want                 string
	}{{1, 1, "1 column"}, {14, 14, "14 columns"}, {14, 22, "14 columns (22 numbers a row)"}} {
		if got := ColumnsText(c.columns, c.coordinates); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestLearnedText: of levels that are left out it is said beside, so that learned columns are all
// that this speaks of.
func TestLearnedText(t *testing.T) {
	r := &Result{D: 22, ScaleNote: "x", LevelsNote: "y", LeftOut: []LeftOut{{"ward=other", OutRare}}}
	if got := r.LearnedText(); strings.Contains(got, "no column was left out") || !strings.HasSuffix(got, "none of these columns was left out") {
		t.Error(got)
	}
	if got := r.LevelsText(); !strings.Contains(got, `left out, since too few rows are in them by the noised counts: "ward=other"`) {
		t.Error(got)
	}
	r.LeftOut = append(r.LeftOut, LeftOut{"age", standardize.Constant})
	if got := r.LearnedText(); !strings.Contains(got, `left out, and with no part in any component, are "age" (`) || strings.Contains(got, "22") {
		t.Error(got)
	}
}

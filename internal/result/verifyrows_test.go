package result

import (
	"slices"
	"testing"
)

// TestVerifiedCountsColumns: the size of a verified result is told in the proposal's columns, and
// also in coordinates if a column has several.
func TestVerifiedCountsColumns(t *testing.T) {
	for _, c := range []struct {
		d    int
		want string
	}{
		{5, "90 units × 5 columns at 3 sites, at least 3 of them in every sum"},
		{7, "90 units × 5 columns (7 numbers a row) at 3 sites, at least 3 of them in every sum"},
	} {
		v := &Verified{N: 90, D: c.d, columns: 5, Sites: 3, FewestSurvivors: 3}
		if rows := v.Rows(); !slices.Contains(rows, [2]string{"data", c.want}) {
			t.Errorf("%q, want %q", rows, c.want)
		}
	}
}

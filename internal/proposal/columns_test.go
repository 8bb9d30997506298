package proposal

import (
	"testing"
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

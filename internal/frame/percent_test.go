package frame

import "testing"

// TestPercent: only nothing is 0%, and only all is 100%.
func TestPercent(t *testing.T) {
	for _, c := range []struct {
		part     float64
		decimals int
		want     string
	}{
		{0, 1, "0.0%"}, {0.0004, 1, "< 0.1%"}, {0.0006, 1, "0.1%"}, {0.004, 0, "< 1%"}, {0.5, 0, "50%"},
		{0.994, 0, "99%"}, {0.996, 0, "> 99%"}, {0.99996, 1, "> 99.9%"}, {1, 1, "100.0%"}, {1, 0, "100%"}, {1 - 1e-15, 0, "100%"}, {1.15, 0, "115%"},
	} {
		if got := Percent(c.part, c.decimals); got != c.want {
			t.Errorf("%v with %d decimals: %q, want %q", c.part, c.decimals, got, c.want)
		}
	}
}

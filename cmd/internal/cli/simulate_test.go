package cli

import "testing"

// TestCapturedText: no share is rounded up, and only all of the variance is 1.
func TestCapturedText(t *testing.T) {
	for v, want := range map[float64]string{1: "1.0000", 1 - 1e-15: "1.0000", 1 + 1e-15: "1.0000", 0.99996: "0.9999", 0.9999: "0.9999", 0.95: "0.9500", 0.00009: "0.0000", 0: "0.0000"} {
		if got := CapturedText(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// TestAngleText: digits that a cosine does not keep are not shown, and no zero has a sign.
func TestAngleText(t *testing.T) {
	for v, want := range map[float64]string{0: "0°", 8.5e-7: "0°", 0.0004: "< 0.001°", 0.00123: "0.00123°", 3.456: "3.46°", 90: "90°"} {
		if got := angleText(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

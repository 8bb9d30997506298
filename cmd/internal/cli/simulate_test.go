package cli

import (
	"fmt"
	"slices"
	"testing"

	"covey/internal/simulate"
)

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

// TestNoBoundSaysWhy: of studies that state no bound, each reason is printed with how many have it.
func TestNoBoundSaysWhy(t *testing.T) {
	s := simulated{Report: simulate.Report{Times: 3, Captured: &simulate.Spread{}, Angle: &simulate.Spread{}, NoBounds: map[string]int{"few units": 1, "noise": 2}}}
	var got []string
	s.printCaptured(func(_, format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) })
	for _, want := range []string{"no study stated one", "none in 1: few units", "none in 2: noise"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

package main

import (
	"testing"

	"covey/internal/coordinator"
)

// TestSitesNamesAreQuoted: LIM-9. What could pass for another column, or another row, of `site
// list` is quoted.
func TestSitesNamesAreQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"weights-2026.a_b":        `weights-2026.a_b (5)`,
		"a (5) north connected":   `"a (5) north connected" (5)`,
		"a\x1b[2K\rb":             `"a\x1b[2K\rb" (5)`,
		`a" north`:                `"a' north" (5)`,
		"größen":                  `größen (5)`,
		"with\u00a0hidden\u200bs": `"with\u00a0hidden\u200bs" (5)`,
	} {
		if got := datasets(coordinator.ListedSite{Datasets: map[string]int{name: 5}}); got != want {
			t.Errorf("%q is printed as %s, want %s", name, got, want)
		}
	}
}

package main

import "testing"

// TestSitesNamesAreQuoted: LIM-9. What could pass for another column, or another row, of `site
// list` is quoted.
func TestSitesNamesAreQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"weights-2026.a_b":        "weights-2026.a_b",
		"a (5) north connected":   `"a (5) north connected"`,
		"a\x1b[2K\rb":             `"a\x1b[2K\rb"`,
		`a" north`:                `"a\" north"`,
		"größen":                  `"größen"`,
		"with\u00a0hidden\u200bs": `"with\u00a0hidden\u200bs"`,
	} {
		if got := plainly(name); got != want {
			t.Errorf("%q is printed as %s, want %s", name, got, want)
		}
	}
}

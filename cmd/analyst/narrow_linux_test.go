package main

import (
	"io"
	"strings"
	"testing"

	"covey/test/pty"
)

// TestAttackNarrowTerminal: the name of another analyst's study never goes on at the left edge of a
// terminal, where it would look like a line of the program's own.
func TestAttackNarrowTerminal(t *testing.T) {
	const columns, fake = 60, "status  approved"
	for shift := range columns {
		var v view
		v.Name = strings.Repeat("x", shift) + " " + fake
		for line := range strings.Lines(pty.Screen(t, columns, func(w io.Writer) { v.print(w) })) {
			if strings.HasPrefix(line, fake) || strings.Contains(line, "xx") && len([]rune(line)) > columns {
				t.Fatalf("with %d letters before it: %q", shift, line)
			}
		}
	}
}

package main

import (
	"io"
	"strings"
	"testing"

	"covey/internal/outline"
	"covey/test/pty"
)

// TestAttackNarrowTerminal: a study's name never goes on at the left edge of a terminal, where it
// would look like a line of the program's own.
func TestAttackNarrowTerminal(t *testing.T) {
	const columns, fake = 60, "status  approved"
	for shift := range columns {
		v := outline.View{Name: strings.Repeat("x", shift) + " " + fake}
		for line := range strings.Lines(pty.Screen(t, columns, func(w io.Writer) { printView(w, v) })) {
			if strings.HasPrefix(line, fake) || strings.Contains(line, "x") && len([]rune(line)) > columns {
				t.Fatalf("with %d letters before it: %q", shift, line)
			}
		}
	}
}

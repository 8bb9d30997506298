package main

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestAgreed: yes is the one word that agrees; Ctrl-C at the question ends it at once, and whatever is typed later.
func TestAgreed(t *testing.T) {
	for typed, want := range map[string]bool{"yes\n": true, "y\n": false, "YES\n": false, "\n": false, "": false, "yes": true} {
		term := &terminal{ctx: t.Context(), err: io.Discard}
		if got := term.agreed(strings.NewReader(typed), "?"); got != want {
			t.Errorf("%q agrees: %v", typed, got)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	in, keyboard := io.Pipe() // nothing is typed
	defer keyboard.Close()
	interrupt()
	if (&terminal{ctx: ctx, err: io.Discard}).agreed(in, "?") {
		t.Error("Ctrl-C agrees")
	}
	if (&terminal{ctx: ctx, err: io.Discard}).agreed(strings.NewReader("yes\n"), "?") {
		t.Error("yes after Ctrl-C agrees")
	}
}

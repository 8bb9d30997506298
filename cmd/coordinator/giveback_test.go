package main

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"

	shared "covey/cmd/internal/cli"
)

// TestServeGivesBack: a coordinator that serves gives memory back, from before it opens its folder,
// until it ends.
func TestServeGivesBack(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	c := &serveCmd{Log: "text"}
	if err := c.Run(&terminal{&shared.Terminal{Ctx: ctx, Out: io.Discard, Err: io.Discard}, t.TempDir()}); err == nil {
		t.Fatal("an empty folder is served")
	}
	stacks := make([]byte, 1<<20)
	if all := string(stacks[:runtime.Stack(stacks, true)]); !strings.Contains(all, "memory.GiveBack(") {
		t.Errorf("nothing gives memory back: %s", all)
	}
}

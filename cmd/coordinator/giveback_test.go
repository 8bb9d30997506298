package main

import (
	"context"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	shared "covey/cmd/internal/cli"
)

// TestServeGivesBack: a coordinator that serves gives memory back, from before it opens its folder,
// until it ends.
func TestServeGivesBack(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		c := &serveCmd{Log: "text"}
		if err := c.Run(&terminal{&shared.Terminal{Ctx: ctx, Out: io.Discard, Err: io.Discard}, dir}); err == nil {
			t.Fatal("an empty folder is served")
		}
		given := func() bool {
			synctest.Wait()
			stacks := make([]byte, 1<<20)
			return slices.ContainsFunc(strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n"), func(stack string) bool {
				return strings.Contains(stack, "synctest bubble") && strings.Contains(stack, "memory.GiveBack(")
			})
		}
		if !given() {
			t.Error("nothing gives memory back")
		}
		if end(); given() {
			t.Error("what gives memory back goes on")
		}
	})
}

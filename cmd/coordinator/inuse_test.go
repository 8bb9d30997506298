package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"covey/internal/node"
)

// TestInUseNamesItsSource: who reads that an address is in use, or gone, is told where it is set.
func TestInUseNamesItsSource(t *testing.T) {
	taken := fmt.Errorf("listen tcp 127.0.0.1:1: %w", syscall.EADDRINUSE)
	gone := fmt.Errorf("listen tcp 192.0.2.9:1: %w", syscall.EADDRNOTAVAIL)
	board := &node.DashboardError{Err: taken}
	for _, c := range []struct {
		flag string
		err  error
		want string
	}{
		{"", taken, "a coordinator runs here already, or another program has this port of hub/coordinator.toml"},
		{"localhost:1", taken, "a coordinator runs here already, or another program has this port of hub/coordinator.toml"},
		{"localhost:1", board, "use: another program has this port of --dashboard (or COVEY_DASHBOARD)"},
		{"", board, "use: another program has this port of hub/coordinator.toml"},
		{"", gone, "assign requested address: this machine does not have this address of hub/coordinator.toml now"},
		{"localhost:1", &node.DashboardError{Err: gone}, "this address of --dashboard (or COVEY_DASHBOARD) now"},
		{"", errors.New("another"), "another"},
	} {
		if got := (&serveCmd{Dashboard: c.flag}).inUse(c.err, "hub/coordinator.toml").Error(); !strings.HasSuffix(got, c.want) {
			t.Errorf("--dashboard %q: %q, want %q", c.flag, got, c.want)
		}
	}
}

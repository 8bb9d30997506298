//go:build linux

// Package canary runs whole studies with processes of the two commands, knows every secret of
// theirs, and looks for each in everything that they write, say, show, or have in memory
// afterwards.
package canary

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"covey/test/fed"
	"covey/test/must"
	"covey/test/overlay"
)

const (
	coordinators = 3
	sites        = 4
)

type proc = fed.Process

// fleet is a whole federation of processes, and what they say.
type fleet struct {
	*fed.Fleet
	said   map[string][]byte // everything that was shown, by where
	traces func() []byte
}

// newFleet builds the commands, with edits of their sources if some are given.
func newFleet(t *testing.T, edits []edit) *fleet {
	t.Helper()
	// root reads the memory of any process; others none of one that is not dumpable
	if os.Geteuid() != 0 {
		edits = append(slices.Clone(edits), edit{"internal/memory/memory_linux.go", "PR_SET_DUMPABLE, 0,", "PR_SET_DUMPABLE, 1,"})
	}
	var flags []string
	if len(edits) > 0 {
		list := must.Get(overlay.Write(t.TempDir(), edits))(t)
		flags = []string{"-overlay", list}
	}
	f := &fleet{Fleet: fed.NewFleet(t, fed.Build(t, flags...), coordinators, sites), said: map[string][]byte{}}
	f.Heard = func(command string, said []byte) {
		where := "command " + command
		f.said[where] = append(f.said[where], said...)
	}
	collector := f.collect()
	for _, p := range f.All() {
		p.Env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + collector, "OTEL_BSP_SCHEDULE_DELAY=100"}
	}
	for _, p := range f.Nodes {
		p.Flags = []string{"--verbose", "--dashboard", p.Watch}
	}
	for _, p := range f.Sites {
		p.Flags = []string{"--metrics", p.Watch}
	}
	return f
}

// frozen does something while the process stands still.
func (f *fleet) frozen(p *proc, do func()) {
	f.T.Helper()
	must.Do(f.T, p.Freeze())
	defer p.Thaw()
	f.Until(p.Name+" to stand still", func() error { // the signal is not waited for by kill(2)
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
		if err == nil && !strings.Contains(string(stat), ") T ") {
			err = errors.New("it runs")
		}
		return err
	})
	do()
}

// leader waits for a coordinator that leads and runs.
func (f *fleet) leader() (p *proc) {
	f.T.Helper()
	f.Until("a leader", func() error {
		if p = f.Leader(); p == nil || !p.Running() {
			return errors.New("none")
		}
		return nil
	})
	return p
}

package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// careless prints without looking at the error.
type careless struct{}

func (careless) Run(t *Terminal) error { fmt.Fprintln(t.Out, "1"); return nil }

// TestLostOutputFails: a command whose data could not be written has failed, even if it did not
// look, and so have --help and --version. Bad arguments stay bad.
func TestLostOutputFails(t *testing.T) {
	for args, want := range map[string]int{"print": ExitFailure, "--help": ExitFailure, "": ExitFailure, "print --help": ExitFailure, "nothing": ExitBad} {
		for _, disk := range []io.Writer{full{}, io.Discard} {
			var grammar struct {
				Print careless `cmd:""`
			}
			var prose strings.Builder
			program := &Program{Name: "tool", Description: "Does it."}
			code := program.Run(&Terminal{Ctx: t.Context(), Out: disk, Err: &prose}, &grammar, strings.Fields(args), func() (any, error) { return nil, nil })
			lost := disk == full{} && want == ExitFailure
			if disk == io.Discard && want == ExitFailure {
				want = ExitOK
			}
			if code != want || strings.Contains(prose.String(), "tool: no space left\n") != lost {
				t.Errorf("%q to %T ends with %d, want %d, and says %q", args, disk, code, want, prose.String())
			}
		}
	}
}

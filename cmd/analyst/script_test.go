package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"covey/test/command"
	"covey/test/must"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"analyst": main}) }

// TestScript runs the commands as a person would, each beside result.json, one demo's.
func TestScript(t *testing.T) {
	bin, kept := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	// without what debuggers read, half of the link's time
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "../coordinator").CombinedOutput(); err != nil {
		t.Fatalf("build the coordinator: %v\n%s", err, out)
	}
	if out, err := exec.Command(filepath.Join(bin, "coordinator"), "demo", "--keep", kept).CombinedOutput(); err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	result := must.Get(os.ReadFile(filepath.Join(kept, "result.json")))(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
			return os.WriteFile(filepath.Join(e.WorkDir, "result.json"), result, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": command.Code, "sub": command.Sub},
	})
}

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
	result, err := os.ReadFile(filepath.Join(kept, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
			return os.WriteFile(filepath.Join(e.WorkDir, "result.json"), result, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": code, "sub": sub},
	})
}

// code is "code N PROGRAM ARGS…": it runs a program and wants exit status N.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if at, ok := errors.AsType[*exec.ExitError](err); ok {
		got = at.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// sub is "sub FILE REGEXP NEW": each match, of which there must be one at least, is
// replaced; \n in NEW is a line break.
func sub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sub file regexp new")
	}
	match := regexp.MustCompile("(?m)" + args[1])
	text := ts.ReadFile(args[0])
	if !match.MatchString(text) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(match.ReplaceAllString(text, strings.ReplaceAll(args[2], `\n`, "\n"))), 0o600))
}

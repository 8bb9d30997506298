package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"covey/internal/packed"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"agent": main}) }

// TestScript runs the commands that need no coordinator, as a person would.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			text, err := os.ReadFile("../../internal/result/testdata/result.json")
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "result.json"), text, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": code, "sub": sub, "makeledger": makeLedger, "spent": spent, "locked": locked, "zipped": zipped,
		},
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

// zipped is "zipped FILE…": each gets its form in pending/, next to it.
func zipped(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: zipped file...")
	}
	for _, file := range args {
		ts.Check(os.WriteFile(ts.MkAbs(file+".gz"), packed.Zip([]byte(ts.ReadFile(file))), 0o600))
	}
}

// sub is "sub FILE REGEXP NEW": each match, of which there must be one at least, is
// replaced.
func sub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sub file regexp new")
	}
	match := regexp.MustCompile("(?m)" + args[1])
	text := ts.ReadFile(args[0])
	if !match.MatchString(text) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(match.ReplaceAllString(text, args[2])), 0o600))
}

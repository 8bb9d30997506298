// Package command has what tests of the three commands share.
package command

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/testscript"
)

// Code is a script's "code N PROGRAM ARGS…": it runs a program and wants exit status N.
func Code(ts *testscript.TestScript, neg bool, args []string) {
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

// Sub is a script's "sub FILE REGEXP NEW": each match, of which there must be one at least, is
// replaced; \n in NEW is a line break.
func Sub(ts *testscript.TestScript, neg bool, args []string) {
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

// Tree is every file below dir with its content.
func Tree(t testing.TB, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			out.WriteString(path + "\n")
			return err
		}
		text, err := os.ReadFile(path)
		out.WriteString(path + ": " + string(text) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// bad is the exit status of bad input, of all three commands.
const bad = 2

// Refused runs a command that must fail as bad input, say all of says, and leave every file below
// dir as it is. It returns all that was printed.
func Refused(t testing.TB, dir string, says []string, run func(out, errs io.Writer) int) string {
	t.Helper()
	before := Tree(t, dir)
	var out, errs bytes.Buffer
	if code := run(&out, &errs); code != bad {
		t.Errorf("exit status %d, want %d\n%s", code, bad, errs.String())
	}
	for _, part := range says {
		if !strings.Contains(errs.String(), part) {
			t.Errorf("stderr has no %q:\n%s", part, errs.String())
		}
	}
	if Tree(t, dir) != before {
		t.Error("the disk changed")
	}
	return out.String() + errs.String()
}

// Helped wants a help of every command and flag of grammar.
func Helped(t testing.TB, grammar any, name string) {
	t.Helper()
	parser, err := kong.New(grammar, kong.Name(name))
	if err != nil {
		t.Fatal(err)
	}
	helped(t, parser.Model.Node, name)
}

func helped(t testing.TB, n *kong.Node, path string) {
	for _, f := range n.Flags {
		if !f.Hidden && f.Help == "" {
			t.Errorf("%s --%s has no help", path, f.Name)
		}
	}
	for _, c := range n.Children {
		if !c.Hidden && c.Help == "" {
			t.Errorf("%s %s has no help", path, c.Name)
		}
		helped(t, c, path+" "+c.Name)
	}
}

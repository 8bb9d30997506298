// Command analyst is for who reads results: it checks result files and writes them in other forms, offline.
//
// Data goes to stdout, prose to stderr. The exit status is 0 when the command did
// what it says, 1 when it failed, and 2 when what it was given is at fault.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"covey/cmd/internal/cli"
	"covey/internal/completion"
	"covey/internal/frame"
)

const (
	exitOK      = 0
	exitFailure = 1
	exitBad     = 2
)

type commands struct {
	Verify verifyCmd `cmd:"" help:"Check a result file offline: releases, charges, outputs, hash chain, signatures."`
	Export exportCmd `cmd:"" help:"Write a result file as a NumPy archive, a table or drawings, offline."`

	Release cli.Release `name:"version" help:"Print this program's version."`

	Version    versionCmd    `cmd:"" help:"Show which build this is."`
	Completion completionCmd `cmd:"" help:"Print a shell's completion script."`
}

// streams are a command's outputs.
type streams struct{ stdout, stderr io.Writer }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	var c commands
	exited, code := false, exitOK
	parser, err := kong.New(&c,
		kong.Name("analyst"),
		kong.Description("What an analyst does with a study's result. Exit status: 0 done, 1 failed, 2 bad input. Data goes to stdout, prose to stderr."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { exited, code = true, status }),
		kong.UsageOnError(),
	)
	if err != nil {
		fmt.Fprintln(stderr, "analyst:", err)
		return exitFailure
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if exited {
		return code // --help
	}
	if err != nil {
		fmt.Fprintln(stderr, "analyst:", err)
		return exitBad
	}
	if err := k.Run(&streams{stdout, stderr}); err != nil {
		fmt.Fprintln(stderr, "analyst:", err)
		if _, input := errors.AsType[*cli.InputError](err); input {
			return exitBad
		}
		return exitFailure
	}
	return exitOK
}

type verifyCmd struct{ cli.Verify }

func (c *verifyCmd) Run(s *streams) error { return c.Check(s.stdout, s.stderr) }

type versionCmd struct{ cli.Version }

func (c *versionCmd) Run(s *streams) error {
	return c.Print(s.stdout, frame.This("covey-analyst").Software)
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is kong's longer text.
func (completionCmd) Help() string {
	// Indented, since kong makes one paragraph of lines that are not.
	return `Where a script goes:

    analyst completion bash > ~/.local/share/bash-completion/completions/analyst
    analyst completion zsh > "${fpath[1]}/_analyst"
    analyst completion fish > ~/.config/fish/completions/analyst.fish`
}

func (c *completionCmd) Run(s *streams, k *kong.Context) error {
	return completion.Write(s.stdout, c.Shell, k.Model)
}

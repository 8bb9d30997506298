// Command coordinator runs the middle of a federation: it makes the CA and
// the data folder, serves agents, and creates, watches and ends studies.
//
// Data goes to stdout, prose to stderr. The exit status is 0 when the command did
// what it says, 1 when it failed, and 2 when what it was given is at fault.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	shared "covey/cmd/internal/cli"
	"covey/internal/coordinator"
	"covey/internal/node"
	"covey/internal/noise"
	"covey/internal/pki"
	"covey/internal/study"
)

const (
	exitOK      = 0
	exitFailure = 1
	exitBad     = 2
)

type cli struct {
	Init    initCmd    `cmd:"" help:"Make a data folder with a CA, keys and a configuration."`
	Serve   serveCmd   `cmd:"" help:"Serve agents and the operator's commands."`
	Demo    demoCmd    `cmd:"" help:"Run a whole study of five sites on this machine."`
	Site    siteCmd    `cmd:"" help:"Invite, list and revoke sites."`
	Study   studyCmd   `cmd:"" help:"Validate, create, list, show, watch and abort studies; fetch results."`
	CA      caCmd      `cmd:"" name:"ca" help:"Change the federation's CA, with no site cut off."`
	Raft    raftCmd    `cmd:"" help:"List, add and remove coordinators; give the lead away; snapshot."`
	Account accountCmd `cmd:"" help:"Convert between noise and privacy."`
	Verify  verifyCmd  `cmd:"" help:"Check a result file offline: releases, charges, outputs, hash chain, signatures."`

	Release shared.Release `name:"version" help:"Print this program's version."`

	Version    versionCmd    `cmd:"" help:"Show which build this is."`
	Completion completionCmd `cmd:"" help:"Print a shell's completion script."`
}

// streams are a command's outputs and its end.
type streams struct {
	ctx    context.Context
	stdout io.Writer
	stderr io.Writer
}

// badInput marks an error as the user's to mend: exit status 2.
type badInput struct{ err error }

func (e *badInput) Error() string { return e.err.Error() }
func (e *badInput) Unwrap() error { return e.err }

func bad(format string, args ...any) error { return &badInput{fmt.Errorf(format, args...)} }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c cli
	exited, code := false, exitOK
	parser, err := kong.New(&c,
		kong.Name("coordinator"),
		kong.Description("The middle of a Covey federation. Exit status: 0 done, 1 failed, 2 bad input. Data goes to stdout, prose to stderr."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(status int) { exited, code = true, status }),
		kong.UsageOnError(),
	)
	if err != nil {
		fmt.Fprintln(stderr, "coordinator:", err)
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
		fmt.Fprintln(stderr, "coordinator:", err)
		return exitBad
	}
	if err := k.Run(&streams{ctx: ctx, stdout: stdout, stderr: stderr}); err != nil {
		fmt.Fprintln(stderr, "coordinator:", err)
		return status(err)
	}
	return exitOK
}

// status gives the exit status of an error.
func status(err error) int {
	_, mine := errors.AsType[*badInput](err)
	_, input := errors.AsType[*shared.InputError](err)
	_, field := errors.AsType[*study.FieldError](err)
	_, parameter := errors.AsType[*noise.ParameterError](err)
	_, join := errors.AsType[*coordinator.JoinError](err)
	_, name := errors.AsType[*pki.NameError](err)
	_, exists := errors.AsType[*pki.ExistsError](err)
	_, host := errors.AsType[*pki.HostError](err)
	_, file := errors.AsType[*pki.FileError](err)
	_, mode := errors.AsType[*pki.ModeError](err)
	_, config := errors.AsType[*node.ConfigError](err)
	_, joinFile := errors.AsType[*pki.JoinError](err)
	_, expired := errors.AsType[*pki.ExpiredError](err)
	if mine || input || field || parameter || join || name || exists || host || file || mode || config || joinFile || expired {
		return exitBad
	}
	return exitFailure
}

// Command analyst is for who reads results: it checks result files and writes them in other forms,
// offline.
//
// Data goes to stdout, prose to stderr. The exit status is 0 when the command did
// what it says, 1 when it failed, and 2 when what it was given is at fault.
package main

import (
	"context"
	"io"
	"os"

	"covey/cmd/internal/cli"
	_ "covey/internal/dataset/parquet"
	"covey/internal/frame"
)

const description = "Check the results of studies and export them, offline. Exit status: 0 done, 1 failed, 2 bad input. Data goes to stdout, prose to stderr."

type commands struct {
	cli.Globals

	Verify   cli.Verify   `cmd:"" help:"Check a result file offline: releases, charges, outputs, hash chain, signatures."`
	Compare  cli.Compare  `cmd:"" help:"Hold two result files against each other, offline: angles between components, with intervals where they are calibrated."`
	Export   exportCmd    `cmd:"" help:"Write a result file as a NumPy archive, a table or drawings, offline."`
	Simulate cli.Simulate `cmd:"" help:"Try a study on files, in this process, with real noise: what would studies of this plan find?"`
	Plan     cli.Plan     `cmd:"" help:"Say what it takes to capture a share: units, ε or components."`

	cli.Tools
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program but its process.
func run(args []string, stdout, stderr io.Writer) int {
	program := &cli.Program{Name: "analyst", Description: description, Software: frame.Software("covey-analyst")}
	t := &cli.Terminal{Ctx: context.Background(), In: os.Stdin, Out: stdout, Err: stderr}
	var c commands
	return program.Run(t, &c, args, func() (any, error) {
		t.JSON = c.JSON
		return nil, nil
	})
}

// Command analyst is an analyst's program: it plans and tries studies, proposes them to a
// federation over its coordinator's port from anywhere, follows them, and fetches, checks and
// exports results.
//
// Data goes to stdout, prose to stderr. The exit status is 0 when the command did
// what it says, 1 when it failed, and 2 when what it was given is at fault.
package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"covey/cmd/internal/cli"
	"covey/internal/analyst"
	_ "covey/internal/dataset/parquet"
	"covey/internal/frame"
	"covey/internal/proposal"
)

const description = "Plan, try, propose and follow studies, and read their results. Exit status: 0 done, 1 failed, 2 bad input. Data goes to stdout, prose to stderr."

type commands struct {
	Dir string `short:"C" env:"COVEY_ANALYST_DIR" placeholder:"DIR" help:"The folder of keys, certificate and proposals, as made by join; by default covey/analyst in the user's configuration folder (~/.config on Linux)."`
	cli.Globals

	Join joinCmd `cmd:"" help:"Join a federation: create keys, fetch a certificate, write analyst.toml."`

	Init     cli.Init     `cmd:"" help:"Write a first study file from a header or a data dictionary, offline."`
	Validate validateCmd  `cmd:"" help:"Check a study file and print its plan, offline."`
	Plan     cli.Plan     `cmd:"" help:"Compute what it takes to capture a share: units, ε or components."`
	Simulate cli.Simulate `cmd:"" help:"Try a study on files, in this process, with real noise: what would studies of this plan find?"`

	Propose  proposeCmd  `cmd:"" help:"Propose a study to its sites, signed with your key."`
	List     listCmd     `cmd:"" help:"List your studies and those that you may read."`
	Show     showCmd     `cmd:"" help:"Show a study's state: each site's answer, faults, and which sites are awaited."`
	Watch    watchCmd    `cmd:"" help:"Follow a study until it is over."`
	Notify   notifyCmd   `cmd:"" help:"Notify the receivers in analyst.toml of what happens to your studies."`
	Withdraw withdrawCmd `cmd:"" help:"End a study of yours; what was charged stays charged."`
	Result   resultCmd   `cmd:"" help:"Fetch and check the signed result of a study."`

	Verify  verifyCmd   `cmd:"" help:"Check a result file offline: releases, charges, outputs, hash chain, signatures."`
	Export  exportCmd   `cmd:"" help:"Write a result file as a NumPy archive, a table or drawings, offline."`
	Compare cli.Compare `cmd:"" help:"Compare two result files, offline: angles between components, with intervals where they are calibrated."`

	cli.Tools
}

// terminal is where commands read and write, and the analyst's folder.
type terminal struct {
	*cli.Terminal
	dir string // as it was given; empty for the default
}

func main() {
	cli.Main(func(ctx context.Context) int { return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr) })
}

// run is the whole program but its process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	program := &cli.Program{Name: "analyst", Description: description, Software: frame.Software("covey-analyst"), BadInput: badInput}
	t := &cli.Terminal{Ctx: ctx, In: stdin, Out: stdout, Err: stderr}
	var c commands
	return program.Run(t, &c, args, func() (any, error) {
		t.JSON = c.JSON
		return &terminal{t, c.Dir}, nil
	})
}

// folder returns where the analyst's keys are. One folder is one federation's.
func (t *terminal) folder() (string, error) {
	if t.dir != "" {
		return t.dir, nil
	}
	base, err := os.UserConfigDir()
	if err != nil {
		return "", cli.Bad("no folder for keys: %w; --dir or COVEY_ANALYST_DIR names one", err)
	}
	return filepath.Join(base, "covey", "analyst"), nil
}

// client opens the analyst's folder. The caller closes it.
func (t *terminal) client() (*analyst.Client, error) {
	dir, err := t.folder()
	if err != nil {
		return nil, err
	}
	c, err := analyst.Open(dir)
	if err != nil {
		return nil, err
	}
	c.Say = t.Say
	return c, nil
}

// badInput reports whether an error is the input's fault.
func badInput(err error) bool {
	return cli.Is[*analyst.NotJoinedError](err) || cli.Is[*analyst.ConfigError](err) || cli.Is[*analyst.EndedError](err) || cli.Is[*analyst.ExcludedError](err) ||
		cli.Is[*analyst.QuotaError](err) || cli.Is[*analyst.RefusedError](err) || cli.Is[*analyst.UnknownStudyError](err) || cli.Is[*analyst.KeyChangedError](err) ||
		cli.Is[*analyst.NoResultError](err) || cli.Is[*analyst.KeptError](err) || cli.Is[*proposal.FieldError](err) || cli.BadKeys(err)
}

// Command coordinator runs and operates a coordinator of a federation: it makes the CA and
// the data folder, serves agents, and creates, watches and ends studies.
//
// Data goes to stdout, prose to stderr. The exit status is 0 for success, 1 for a failure, and 2
// for bad input.
package main

import (
	"context"
	"io"
	"os"

	shared "covey/cmd/internal/cli"
	"covey/internal/coordinator"
	"covey/internal/membership"
	"covey/internal/node"
	"covey/internal/noise"
	"covey/internal/people"
	"covey/internal/pki"
	"covey/internal/proposal"
)

type cli struct {
	Data string `short:"C" default:"." env:"COVEY_DATA" placeholder:"DIR" help:"The data folder, as made by init (${default})."`
	shared.Globals

	Init    initCmd        `cmd:"" help:"Make a data folder with a CA, keys and a configuration."`
	Serve   serveCmd       `cmd:"" help:"Run the coordinator."`
	Demo    demoCmd        `cmd:"" help:"Run a whole study of five sites on this machine."`
	Site    siteCmd        `cmd:"" help:"Invite, list and revoke sites."`
	Analyst analystCmd     `cmd:"" help:"Invite, list and revoke analysts."`
	Study   studyCmd       `cmd:"" help:"Validate, create, list, show, watch and abort studies; print decisions and results."`
	Page    pageCmd        `cmd:"" help:"Invite, list and revoke the people who may log in at the coordinators' pages."`
	CA      caCmd          `cmd:"" name:"ca" help:"Replace the federation's CA without cutting off a site."`
	Raft    raftCmd        `cmd:"" help:"List, add and remove coordinators; transfer the lead; take a snapshot."`
	Account accountCmd     `cmd:"" help:"Convert between noise and privacy."`
	Compare shared.Compare `cmd:"" help:"Compare two result files, offline: angles between components, with intervals where they are calibrated."`
	Verify  shared.Verify  `cmd:"" help:"Check a result file offline: releases, charges, outputs, hash chain, signatures."`

	shared.Tools
}

// terminal is where commands read and write, and the data folder.
type terminal struct {
	*shared.Terminal
	dir string
}

const description = "Run and operate a Covey coordinator. Exit status: 0 done, 1 failed, 2 bad input. Data goes to stdout, prose to stderr."

func main() {
	shared.Main(func(ctx context.Context) int { return run(ctx, os.Args[1:], os.Stdout, os.Stderr) })
}

// run is the whole program but its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	program := &shared.Program{Name: "coordinator", Description: description, Software: coordinator.Software, BadInput: badInput}
	t := &shared.Terminal{Ctx: ctx, In: os.Stdin, Out: stdout, Err: stderr}
	var c cli
	return program.Run(t, &c, args, func() (any, error) {
		t.JSON = c.JSON
		return &terminal{t, c.Data}, nil
	})
}

// badInput reports whether an error is the input's fault.
func badInput(err error) bool {
	return shared.Is[*proposal.FieldError](err) || shared.Is[*noise.ParameterError](err) || shared.Is[*membership.JoinError](err) ||
		shared.Is[*pki.NameError](err) || shared.Is[*people.Error](err) || shared.Is[*pki.ExistsError](err) || shared.Is[*pki.HostError](err) || shared.Is[*pki.FileError](err) ||
		shared.Is[*pki.ModeError](err) || shared.Is[*pki.JoinError](err) || shared.Is[*pki.ExpiredError](err) || shared.Is[*node.ConfigError](err) ||
		shared.Is[*node.LostLogError](err)
}

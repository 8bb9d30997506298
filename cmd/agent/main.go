// Command agent is a site's side of Covey: it joins a coordinator, answers the
// studies that its operator or its policy approved, and shows what it holds and
// what left.
package main

import (
	"context"
	"io"
	"os"

	shared "covey/cmd/internal/cli"
	"covey/internal/clip"
	"covey/internal/dataset"
	_ "covey/internal/dataset/mariadb"
	_ "covey/internal/dataset/npy"
	_ "covey/internal/dataset/parquet"
	_ "covey/internal/dataset/postgres"
	"covey/internal/enroll"
	"covey/internal/ledger"
	"covey/internal/siteconfig"
)

const description = `Run and operate the agent of one site: it answers the studies that the site
approved with masked sums of the site's rows.

Data goes to stdout, prose to stderr. Exit status: 0 success; 1 failure (the
coordinator or the agent is not there, the disk failed); 2 bad input (arguments,
configuration, join file, data, an unknown study, no budget left).`

// cli is the command line.
type cli struct {
	Data string `short:"C" default:"." env:"COVEY_AGENT_DIR" placeholder:"DIR" help:"The data folder, as made by join (${default})."`
	shared.Globals

	Join    joinCmd        `cmd:"" help:"Join a federation: create keys, fetch a certificate, write agent.toml."`
	Check   checkCmd       `cmd:"" help:"Check configuration, keys, certificate, data sets and the coordinator; change nothing."`
	Run     runCmd         `cmd:"" help:"Run the agent."`
	Reload  reloadCmd      `cmd:"" help:"Make the running agent read agent.toml again: all of it, or nothing."`
	Status  statusCmd      `cmd:"" help:"Show the agent's status, and its data sets."`
	DataSet dataCmd        `cmd:"" name:"data" help:"Look at this site's own data."`
	Page    pageCmd        `cmd:"" help:"Serve a page on this machine where the site's data manager reads proposals and decides."`
	Study   studyCmd       `cmd:"" help:"List, show, approve, withdraw from and reject studies."`
	Project projectCmd     `cmd:"" help:"Write the scores of this site's rows on a result's components: individual data, for this site only."`
	Ledger  ledgerCmd      `cmd:"" help:"Show, export and recover privacy budgets and charges."`
	Chain   chainCmd       `cmd:"" help:"Show the chain of the coordinators' log as this site kept it, or accept another."`
	Egress  egressCmd      `cmd:"" help:"Show exactly what leaves this site, and what has left."`
	Compare shared.Compare `cmd:"" help:"Compare two result files, offline: angles between components, with intervals where they are calibrated."`
	Verify  verifyCmd      `cmd:"" help:"Check a result file offline, and with this site's ledger if -C names one."`

	shared.Tools
}

// terminal is where commands read and write, and the data folder.
type terminal struct {
	*shared.Terminal
	dir string
}

func main() {
	shared.Main(func(ctx context.Context) int { return run(ctx, os.Args[1:], os.Stdout, os.Stderr) })
}

// run is the whole program but its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	program := &shared.Program{Name: "agent", Description: description, Software: enroll.Software, Kernel: func() string { return string(clip.Path()) }, BadInput: badInput}
	t := &shared.Terminal{Ctx: ctx, In: os.Stdin, Out: stdout, Err: stderr}
	var c cli
	return program.Run(t, &c, args, func() (any, error) {
		if err := clip.SetPath(os.Getenv("COVEY_CLIP")); err != nil {
			return nil, shared.Bad("COVEY_CLIP: %w", err)
		}
		t.JSON = c.JSON
		return &terminal{t, c.Data}, nil
	})
}

// badInput reports whether an error is the input's fault.
func badInput(err error) bool {
	return shared.Is[*siteconfig.Error](err) || shared.Is[*dataset.Error](err) || shared.Is[*ledger.LostError](err) || shared.BadKeys(err)
}

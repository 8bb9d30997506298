// Command agent is a site's side of Covey: it joins a coordinator, answers the
// studies that its operator or its policy approved, and shows what it holds and
// what left.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"covey/internal/clip"
	"covey/internal/dataset"
	_ "covey/internal/dataset/parquet"
	_ "covey/internal/dataset/postgres"
	"covey/internal/enroll"
	"covey/internal/ledger"
	"covey/internal/pki"
	"covey/internal/siteconfig"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitInput   = 2
)

const description = `The agent of one site: it holds the link to the coordinator and answers
approved studies with masked sums of the site's rows.

Data goes to stdout, prose to stderr. Exit status: 0 success; 1 failure (the
coordinator or the agent is not there, the disk failed); 2 bad input (arguments,
configuration, join file, data, an unknown study, no budget left).`

// cli is the command line.
type cli struct {
	Dir  string `short:"C" default:"." env:"COVEY_AGENT_DIR" placeholder:"DIR" help:"Directory of agent.toml (${default})."`
	JSON bool   `name:"json" help:"One JSON value on stdout instead of text."`

	Join   joinCmd   `cmd:"" help:"Spend a join file: make keys, get a certificate, write agent.toml."`
	Check  checkCmd  `cmd:"" help:"Check configuration, keys, certificate, data sets and the coordinator; change nothing."`
	Run    runCmd    `cmd:"" help:"Run the agent."`
	Status statusCmd `cmd:"" help:"Show how the running agent stands."`
	Study  studyCmd  `cmd:"" help:"List, read, approve and reject studies."`
	Ledger ledgerCmd `cmd:"" help:"Privacy budgets and what was charged to them."`
	Egress egressCmd `cmd:"" help:"Exactly what leaves this site, and what has left."`
	Verify verifyCmd `cmd:"" help:"Check a result file offline, and with this site's ledger if -C names one."`

	Version    versionCmd    `cmd:"" help:"Show which build this is."`
	Completion completionCmd `cmd:"" help:"Print a shell's completion script."`
}

// terminal is where commands write.
type terminal struct {
	ctx      context.Context
	out, err io.Writer
	dir      string
	json     bool
}

func (t *terminal) say(format string, args ...any) { fmt.Fprintf(t.err, format+"\n", args...) }

// print writes data: v as JSON, or text by way of human.
func (t *terminal) print(v any, human func(io.Writer)) error {
	if !t.json {
		human(t.out)
		return nil
	}
	e := json.NewEncoder(t.out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// agreed asks, and says whether the answer is yes. Ctrl-C is a no: the read that it leaves behind ends with the process.
func (t *terminal) agreed(in io.Reader, question string) bool {
	fmt.Fprint(t.err, question)
	answer := make(chan string, 1)
	go func() {
		var word string
		fmt.Fscanln(in, &word)
		answer <- word
	}()
	select {
	case word := <-answer:
		return word == "yes" && t.ctx.Err() == nil
	case <-t.ctx.Done():
		fmt.Fprintln(t.err)
		return false
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// exited carries kong's exit out of the parser, which calls it for --help.
type exited int

// run is the whole program but its process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	defer func() {
		if p := recover(); p != nil {
			c, ok := p.(exited)
			if !ok {
				panic(p)
			}
			code = int(c)
		}
	}()
	stdout, stderr = &screen{to: stdout}, &screen{to: stderr}
	var c cli
	parser, err := kong.New(&c, kong.Name("agent"), kong.Description(description), kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exited(code)) }), kong.UsageOnError())
	if err != nil {
		panic(err) // the struct above is wrong
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "agent: %v\n", err)
		fmt.Fprintln(stderr, `See "agent --help".`)
		return exitInput
	}
	if err := clip.SetPath(os.Getenv("COVEY_CLIP")); err != nil {
		fmt.Fprintf(stderr, "agent: COVEY_CLIP: %v\n", err)
		return exitInput
	}
	t := &terminal{ctx: ctx, out: stdout, err: stderr, dir: c.Dir, json: c.JSON}
	if err := parsed.Run(t); err != nil {
		fmt.Fprintf(stderr, "agent: %v\n", err)
		if badInput(err) {
			return exitInput
		}
		return exitFailure
	}
	return exitOK
}

// inputError is bad input by itself.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// badInput says whether an error is the input's fault.
func badInput(err error) bool {
	return is[*inputError](err) || is[*siteconfig.Error](err) || is[*enroll.JoinRefusedError](err) || is[*enroll.JoinedError](err) ||
		is[*pki.JoinError](err) || is[*pki.ExpiredError](err) || is[*pki.WrongCAError](err) || is[*pki.CertificateError](err) ||
		is[*pki.FileError](err) || is[*pki.ModeError](err) || is[*pki.ExistsError](err) || errors.Is(err, pki.ErrNotJoined) ||
		is[*dataset.Error](err) || is[*ledger.LostError](err) ||
		is[*enroll.HandshakeError](err) && !errors.Is(err, context.DeadlineExceeded) // a network that swallows it is nobody's input
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

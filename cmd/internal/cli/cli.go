// Package cli is what the commands share: how a program parses its arguments and exits, where it
// writes, how it asks, the client of a unix socket, and the commands that all of them have.
package cli

import (
	"errors"
	"fmt"

	"github.com/alecthomas/kong"
)

// Exit statuses.
const (
	ExitOK      = 0
	ExitFailure = 1
	ExitBad     = 2 // bad input
)

// InputError marks an error as the user's to correct: [ExitBad].
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }
func (e *InputError) Unwrap() error { return e.Err }

// Bad returns an *[InputError] of these words.
func Bad(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// Is reports whether an error of type E is in err's chain.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Globals are flags of every command, before or after it.
type Globals struct {
	JSON bool `name:"json" help:"Print JSON on stdout instead of text."`
}

// Tools are the flag and the commands that every program has.
type Tools struct {
	Release Release `name:"version" help:"Print this program's version."`

	Version    Version    `cmd:"" help:"Print which build this is."`
	Completion Completion `cmd:"" help:"Print a shell's completion script."`
	Man        Man        `cmd:"" hidden:"" help:"Print the manual page."`
}

// Program is one of the programs.
type Program struct {
	Name        string
	Description string
	Software    string        // what it calls itself to others: name/version
	Kernel      func() string // the path that sums rows; nil where none does
	// BadInput reports whether an error is the input's fault, for errors that are not an
	// *[InputError].
	BadInput func(error) bool
}

// Run parses args into the grammar and runs the command; no arguments are --help. begin runs
// between the two and returns the program's own argument of the commands' Run, or nil; the others
// are t, p and the [*kong.Context]. It returns the exit status.
func (p *Program) Run(t *Terminal, grammar any, args []string, begin func() (any, error)) int {
	out := &screen{to: t.Out}
	t.Out, t.Err = out, &screen{to: t.Err}
	exited, code := false, ExitOK
	parser, err := kong.New(grammar, kong.Name(p.Name), kong.Description(p.Description), kong.Writers(t.Out, t.Err),
		kong.Exit(func(status int) { exited, code = true, status }))
	if err != nil {
		panic(err) // the grammar is wrong
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited && out.failed() == nil {
		return code // --help
	}
	if err != nil && out.failed() == nil {
		t.Say("%s: %v", p.Name, err)
		t.Say("See %q.", p.at(err)+" --help")
		return ExitBad
	}
	if err = out.failed(); err != nil { // of --help
		t.Say("%s: %v", p.Name, err)
		return ExitFailure
	}
	own, err := begin()
	if err == nil {
		bound := []any{t, p}
		if own != nil {
			bound = append(bound, own)
		}
		err = parsed.Run(bound...)
	}
	if err == nil {
		err = out.failed() // of what a command prints without looking
	}
	if err == nil {
		return ExitOK
	}
	t.Say("%s: %v", p.Name, err)
	if Is[*InputError](err) || p.BadInput != nil && p.BadInput(err) {
		return ExitBad
	}
	return ExitFailure
}

// at returns the command in which the arguments went wrong.
func (p *Program) at(err error) string {
	at := p.Name
	if bad, ok := errors.AsType[*kong.ParseError](err); ok {
		for _, step := range bad.Context.Path {
			if step.Command != nil {
				at += " " + step.Command.Name
			}
		}
	}
	return at
}

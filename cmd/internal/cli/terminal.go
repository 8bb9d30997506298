package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/term"

	"covey/internal/result"
	"covey/internal/worth"
)

// Terminal is where a command reads and writes: data to Out, prose to Err.
type Terminal struct {
	Ctx      context.Context // ends with Ctrl-C
	In       io.Reader
	Out, Err io.Writer
	JSON     bool // --json
}

// Shown reports whether a reader of Err has just read Out above it: both are a terminal.
func (t *Terminal) Shown() bool { return !t.JSON && Width(t.Out) != nil && Width(t.Err) != nil }

// plainPath is what every shell takes as it is.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`)

// Shell returns a path as it stands in a line for a shell: quoted where that is needed.
func Shell(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// ErrInterrupted is a command that ended with Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// Await returns what work returns, or [ErrInterrupted] as soon as ctx ends: nobody waits for a
// large file or a slow database then. Work that is left behind ends with the process, so it must
// change nothing that outlives it.
func Await[T any](ctx context.Context, work func() (T, error)) (T, error) {
	return awaitLong(ctx, nil, work)
}

// patience is how long people wait before they are told what for.
const patience = 2 * time.Second

// awaitLong is Await of work that may take longer than patience; slow is then called, once, unless
// it is nil.
func awaitLong[T any](ctx context.Context, slow func(), work func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if ctx.Err() != nil {
		return none, ErrInterrupted
	}
	done := make(chan answer, 1)
	go func() {
		value, err := work()
		done <- answer{value, err}
	}()
	var late <-chan time.Time
	if slow != nil {
		late = time.After(patience)
	}
	for {
		select {
		case a := <-done:
			return a.value, a.err
		case <-late:
			slow()
		case <-ctx.Done():
			return none, ErrInterrupted
		}
	}
}

// Worth returns what a result is worth. Similar studies may have to be simulated, for five
// components of 512 columns in 20 seconds of a processor's time or more. Who waits at a terminal is
// told, and Ctrl-C ends it.
func (t *Terminal) Worth(r *result.Result) (*worth.Report, error) {
	var slow func()
	if Width(t.Err) != nil {
		slow = func() {
			t.Say("Studies like this one are being simulated, to say what it is worth. With several components of hundreds of columns this can take a minute.")
		}
	}
	return awaitLong(t.Ctx, slow, func() (*worth.Report, error) { return worth.Read(r) })
}

// Say writes a line of prose.
func (t *Terminal) Say(format string, args ...any) { fmt.Fprintf(t.Err, format+"\n", args...) }

// Print writes data: v as JSON with --json, and what text writes without. The error is the first of
// a write.
func (t *Terminal) Print(v any, text func(io.Writer)) error {
	if t.JSON {
		return PrintJSON(t.Out, v)
	}
	w := &firstError{to: t.Out}
	text(w)
	return w.err
}

// firstError writes until an error, which it keeps.
type firstError struct {
	to  io.Writer
	err error
}

func (w *firstError) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	var n int
	n, w.err = w.to.Write(p)
	return n, w.err
}

// OnlyShown refuses an output that others may collect, a pipe, a file, a service's journal, unless
// --values says to print anyway. why is what the output shows.
func (t *Terminal) OnlyShown(why string, values bool) error {
	switch {
	case values:
		return nil
	case os.Getenv("INVOCATION_ID") != "":
		return Bad("%s, and a journal keeps what a service prints; add --values to print it anyway", why)
	case Width(t.Out) == nil:
		return Bad("%s, and stdout is not a terminal; add --values to print it anyway", why)
	}
	return nil
}

// PrintJSON writes one value, indented.
func PrintJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Confirm asks a question and returns nil if the answer is yes. The error is an *[InputError]:
// "UNDONE: the answer was not yes", or, where In is not a terminal, what to do without one.
func (t *Terminal) Confirm(question, undone, without string) error {
	if f, ok := t.In.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return Bad("stdin is not a terminal: %s", without)
	}
	if !t.agreed(question) {
		return Bad("%s: the answer was not yes", undone)
	}
	return nil
}

// agreed asks a question and reports whether the answer is yes. Ctrl-C is a no: the read that it
// leaves behind ends with the process.
func (t *Terminal) agreed(question string) bool {
	fmt.Fprint(t.Err, question)
	answer := make(chan string, 1)
	go func() {
		var word string
		fmt.Fscanln(t.In, &word)
		answer <- word
	}()
	select {
	case word := <-answer:
		return word == "yes" && t.Ctx.Err() == nil
	case <-t.Ctx.Done():
		fmt.Fprintln(t.Err)
		return false
	}
}

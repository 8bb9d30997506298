package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/result"
)

// TestAgreed: yes is the one word that agrees; Ctrl-C at the question ends it at once, and whatever
// is typed later.
func TestAgreed(t *testing.T) {
	for typed, want := range map[string]bool{"yes\n": true, "y\n": false, "YES\n": false, "\n": false, "": false, "yes": true} {
		term := &Terminal{Ctx: t.Context(), In: strings.NewReader(typed), Err: io.Discard}
		if got := term.agreed("?"); got != want {
			t.Errorf("%q agrees: %v", typed, got)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	in, keyboard := io.Pipe() // nothing is typed
	defer keyboard.Close()
	interrupt()
	if (&Terminal{Ctx: ctx, In: in, Err: io.Discard}).agreed("?") {
		t.Error("Ctrl-C agrees")
	}
	if (&Terminal{Ctx: ctx, In: strings.NewReader("yes\n"), Err: io.Discard}).agreed("?") {
		t.Error("yes after Ctrl-C agrees")
	}
}

// TestConfirm: a "yes" that no person types at a terminal confirms nothing.
func TestConfirm(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	io.WriteString(w, "yes\n")
	w.Close()
	for _, in := range []io.Reader{strings.NewReader("yes\n"), r} {
		err := (&Terminal{Ctx: t.Context(), In: in, Err: io.Discard}).Confirm("?", "not done", "give --yes")
		if !Is[*InputError](err) || err.Error() != "stdin is not a terminal: give --yes" {
			t.Errorf("%T: %v", in, err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestPrintFails: data that could not be written is an error, as JSON and as text.
func TestPrintFails(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		err := (&Terminal{Out: full{}, JSON: asJSON}).Print(1, func(w io.Writer) { io.WriteString(w, "1\n") })
		if err == nil {
			t.Errorf("JSON %v: no error", asJSON)
		}
	}
}

// TestShell: a path in a line for a shell is one word of it, and the path.
func TestShell(t *testing.T) {
	for path, want := range map[string]string{
		"sites/north": "sites/north", "sites/my site": "'sites/my site'", "it's": `'it'\''s'`, "-C": "'-C'", "": "''", "$HOME;x": "'$HOME;x'",
	} {
		if got := Shell(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// TestAwait: what work returns, or nothing of it once the context ends.
func TestAwait(t *testing.T) {
	failed := errors.New("failed")
	if v, err := Await(t.Context(), func() (int, error) { return 3, failed }); v != 3 || err != failed {
		t.Errorf("%v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if v, err := Await(ctx, func() (int, error) { cancel(); <-t.Context().Done(); return 3, nil }); v != 0 || err != ErrInterrupted {
		t.Errorf("%v, %v", v, err)
	}
}

// TestLongWaitsAreTold: who waits for more than patience is told once what for, and goes on
// waiting; who gets an answer sooner is told nothing.
func TestLongWaitsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for takes, want := range map[time.Duration]int{patience / 2: 0, 10 * patience: 1} {
			told := 0
			v, err := awaitLong(t.Context(), func() { told++ }, func() (int, error) {
				time.Sleep(takes) // of the bubble's clock
				return 3, nil
			})
			if v != 3 || err != nil || told != want {
				t.Errorf("after %v: %v, %v, told %d times", takes, v, err, told)
			}
		}
	})
}

// TestWorthIsInterrupted: Ctrl-C ends the wait for what a result is worth.
func TestWorthIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if of, err := (&Terminal{Ctx: ctx, Err: io.Discard}).Worth(new(result.Result)); of != nil || err != ErrInterrupted {
		t.Errorf("%v, %v", of, err)
	}
}

package cli

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"
)

// screen is the way of all that a program writes, prose, data and log: what would not be printed
// as itself is written as an escape, \uXXXX, which means the same in JSON. So no name, reason or
// status of another party moves the cursor, hides a line or turns text around, whichever way it
// came.
type screen struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // the beginning of a character whose end is not written yet
	err  error  // the first of a write
}

// failed returns the first error of a write.
func (s *screen) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Write never keeps more than the three bytes of a character that is not whole.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.rest, p...)
	out := make([]byte, 0, len(text))
	s.rest = nil
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			s.rest = append([]byte(nil), text...)
			break
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case r == '\n' || r == '\t' || strconv.IsPrint(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	if _, err := s.to.Write(out); err != nil {
		s.err = cmp.Or(s.err, err)
		return 0, err
	}
	return len(p), nil
}

// Raw returns what a [Terminal]'s Out or Err writes to, for control sequences of our own: never for
// a text that another party had a hand in.
func Raw(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *screen:
		return w.to
	case *firstError: // what Print gives
		return Raw(w.to)
	}
	return w
}

// Width returns a function that returns how many columns w's terminal has, nil if w is not one.
func Width(w io.Writer) func() int {
	f, ok := Raw(w).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
		return 80
	}
}

// NewLogger returns a logger in a format: "text", "json", or "auto", which is text for people on
// a terminal and JSON for everything else.
func NewLogger(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "text" || format == "auto" && Width(w) != nil {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

package cli

import (
	"fmt"
	"io"
	"strings"
)

// Progress shows how far something is: one line that is written over on a terminal, a line for each
// change of what there is to say elsewhere.
type Progress struct {
	Out   io.Writer
	Width func() int // of the terminal, in columns; nil where there is none
	said  string
	drawn bool // a line is on the terminal, and the cursor at its end
}

// NewProgress shows on out, which a [Terminal] has.
func NewProgress(out io.Writer) *Progress { return &Progress{Out: out, Width: Width(out)} }

// Show shows how many of all are done, and text. more is for a terminal alone.
func (p *Progress) Show(done, all int, text, more string) {
	if p.Width == nil {
		if text != p.said {
			p.said = text
			fmt.Fprintln(p.Out, text)
		}
		return
	}
	percent := 0
	if all > 0 {
		percent = min(100*done/all, 100)
	}
	line := []rune(fmt.Sprintf("[%-10s] %3d%%  %s", strings.Repeat("#", percent/10), percent, text+more))
	// One that reaches the last column would be a line and a half, and could not be written over.
	if most := max(p.Width()-1, 1); len(line) > most {
		line = append(line[:most-1], '…')
	}
	fmt.Fprint(Raw(p.Out), "\r")
	fmt.Fprint(p.Out, string(line))
	fmt.Fprint(Raw(p.Out), "\x1b[K")
	p.drawn = true
}

// End leaves the line as it is, the last word.
func (p *Progress) End() {
	if p.drawn {
		fmt.Fprintln(p.Out)
		p.drawn = false
	}
}

// Clear takes the line away, before something else is said.
func (p *Progress) Clear() {
	if p.drawn {
		fmt.Fprint(Raw(p.Out), "\r\x1b[K")
		p.drawn = false
	}
}

// Few names at most five.
func Few(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
	}
	return strings.Join(names, ", ")
}

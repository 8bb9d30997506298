package cli

import (
	"io"
	"strings"

	"golang.org/x/text/width"
)

// Fold returns text in lines that a terminal of room columns does not break: a terminal goes on at
// its left edge, where another party's sentence of well-chosen length would put lines that look
// like ours. So each line after the first begins with indent. begun is how many columns are taken
// before the first. Lines end between words, unless a word has no room in one.
func Fold(text string, room, begun int, indent string) string {
	var out strings.Builder
	taken, fresh := begun, true
	next := func() {
		out.WriteString("\n" + indent)
		taken, fresh = len(indent), true
	}
	inWord := false
	for i, r := range text {
		if r != ' ' && !inWord {
			word, _, more := strings.Cut(text[i:], " ")
			need := 0
			for _, r := range word {
				need += most(r)
			}
			if more {
				need++ // the space ends the line
			}
			if !fresh && taken+need > room && len(indent)+need <= room {
				next()
			}
		}
		inWord = r != ' '
		if taken+most(r) > room {
			next()
		}
		out.WriteRune(r)
		taken, fresh = taken+most(r), false
	}
	return out.String()
}

// most is how many columns a character takes at the most: such as Chinese takes two.
func most(r rune) int {
	if r >= '\u1100' {
		return 2
	}
	return 1
}

// OnScreen returns a line that may hold another party's words as w takes it: of a terminal, folded.
func OnScreen(w io.Writer, line, indent string) string {
	if columns := Width(w); columns != nil {
		return Fold(strings.TrimRight(line, " "), max(columns()-1, 2*len(indent)), 0, indent)
	}
	return line
}

// Lines writes text that may hold another party's words, each of its lines as OnScreen returns it.
func Lines(w io.Writer, text, indent string) error {
	for line := range strings.Lines(text) {
		if _, err := io.WriteString(w, OnScreen(w, strings.TrimSuffix(line, "\n"), indent)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// Cells returns a line for a [text/tabwriter.Writer] that writes to [Unfilled]: a character that
// takes two columns, as Chinese does, counts as two there.
func Cells(line string) string {
	var out strings.Builder
	for _, r := range line {
		out.WriteRune(r)
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			out.WriteByte(filler)
		}
	}
	return out.String()
}

// filler is in no text: it is not printable.
const filler = 0

// Unfilled returns a writer to w that leaves out what Cells adds.
func Unfilled(w io.Writer) io.Writer { return unfilled{w} }

type unfilled struct{ to io.Writer }

func (u unfilled) Write(p []byte) (int, error) {
	if _, err := io.WriteString(u.to, strings.ReplaceAll(string(p), string(rune(filler)), "")); err != nil {
		return 0, err
	}
	return len(p), nil
}

package main

import (
	"io"
	"strings"

	shared "covey/cmd/internal/cli"
	"covey/internal/proposal"
)

// printStated shows what the proposer wrote for people.
func printStated(w io.Writer, p proposal.Proposal) {
	title, stated := p.Stated()
	for i, line := range stated {
		stated[i] = folded(w, line, "      ")
	}
	section(w, title, stated)
}

// folded is another party's words in lines that the terminal of w does not break, each after the
// first with indent before it: a terminal goes on at its left edge, where a sentence of well-chosen
// length would put lines that look like ours.
func folded(w io.Writer, text, indent string) string {
	room := 79
	if width := shared.Width(w); width != nil {
		room = max(width()-1, 2*len(indent))
	}
	room -= len(indent)
	var out strings.Builder
	taken := 0
	for _, r := range text {
		wide := 1
		if r >= '\u1100' { // such as Chinese takes two columns; no character takes more
			wide = 2
		}
		if taken += wide; taken > room {
			out.WriteString("\n" + indent)
			taken = wide
		}
		out.WriteRune(r)
	}
	return out.String()
}

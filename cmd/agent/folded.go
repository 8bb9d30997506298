package main

import (
	"fmt"
	"io"
	"strings"

	shared "covey/cmd/internal/cli"
	"covey/internal/frame"
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

// namesShown is how many columns are named beyond those that are listed.
const namesShown = 460

// printRest names the columns that a list of columnsShown has no room for: none of a study's is
// read without a word, unless it has hundreds.
func printRest[T any](w io.Writer, columns []T, name func(T) string) {
	if len(columns) <= columnsShown {
		return
	}
	rest := columns[columnsShown:]
	var names []string
	for _, c := range rest[:min(len(rest), namesShown)] {
		names = append(names, frame.Word(name(c)))
	}
	text := fmt.Sprintf("… and %d more (--json has all): %s", len(rest), strings.Join(names, ", "))
	if unnamed := len(rest) - len(names); unnamed > 0 {
		text += fmt.Sprintf(", and %d that are not named here", unnamed)
	}
	fmt.Fprintln(w, "  "+folded(w, text, "    "))
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

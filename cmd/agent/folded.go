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

// printRest names the columns that a list of columnsShown cuts or has no room for: none of a
// study's is read without a word, unless it has hundreds.
func printRest[T any](w io.Writer, columns []T, name func(T) string) {
	for _, c := range columns[:min(len(columns), columnsShown)] {
		if whole := name(c); frame.Cell(whole) != frame.Word(whole) {
			fmt.Fprintln(w, "  "+folded(w, "in full: "+frame.Word(whole), "    "))
		}
	}
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

// folded is another party's words in lines that the terminal of w, or one of 80 columns, does not
// break, after as many columns as indent has, which is before each further line.
func folded(w io.Writer, text, indent string) string {
	room := 79
	if width := shared.Width(w); width != nil {
		room = max(width()-1, 2*len(indent))
	}
	return shared.Fold(text, room, len(indent), indent)
}

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

// printRest names the columns for which a list of columnsShown has no room, so that no column of a
// study is read unmentioned, unless it has hundreds.
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

// folded breaks another party's words into lines that fit the terminal of w, or 80 columns, after
// the width of indent, which begins each further line.
func folded(w io.Writer, text, indent string) string {
	room := 79
	if width := shared.Width(w); width != nil {
		room = max(width()-1, 2*len(indent))
	}
	return shared.Fold(text, room, len(indent), indent)
}

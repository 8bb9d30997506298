// Package frame prepares text that people will see: it cleans, cuts and quotes what another party
// wrote, so that it cannot pass for this program's own, and names this build.
//
// # Rules
//
// Rules of docs/protocol.md that this package keeps, at length.
//
//   - AG-35: Text of another party (statuses, versions, names in a certificate, keys of a file)
//     MUST reach terminals, logs and pages as printable characters only, quoted where it could
//     pass for the agent's own.
package frame

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"covey/internal/name"
)

// maxPrintable is how many runes of another party's text Printable keeps.
const maxPrintable = 200

// Printable returns text of another party as a terminal, a log or a page can take it: a rune that
// is not printed as itself is replaced by its escape in Go's syntax. Those are control characters,
// separators other than the space, characters that change the direction of text or show nothing,
// marks on a letter that has four, bytes that are not UTF-8, and all joiners of a text where one
// joins nothing; a backslash is doubled, so that an escape cannot be imitated. What is longer than
// 200 runes is cut and ends in "...". The text is not quoted: where it stands in a row or a
// sentence of this program, %q of the result marks where it begins and ends.
func Printable(s string) string {
	var out strings.Builder
	marks, joined := 0, name.Joined(s)
	for kept := 0; len(s) > 0; kept++ {
		if kept == maxPrintable {
			out.WriteString("...")
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		if marks++; !name.Mark(r) {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			out.WriteString(`\x` + strconv.FormatUint(0x100+uint64(s[0]), 16)[1:])
		case r == ' ' || joined && name.Joiner(r) || r != '\\' && name.Shows(r) && marks <= name.MostMarks && !unicode.Is(unicode.Bidi_Control, r):
			out.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return out.String()
}

// Quoted is Printable between quotes, for a place where text of another party could pass for ours;
// a quote within becomes an apostrophe.
func Quoted(s string) string {
	return `"` + strings.ReplaceAll(Printable(s), `"`, "'") + `"`
}

// Word returns a name of another party for a column or a list: as it is if it is one word of
// letters, digits and . _ - alone, and else Quoted.
func Word(s string) string {
	for _, r := range s {
		if r != '.' && r != '_' && r != '-' && !(name.Shows(r) && (unicode.IsLetter(r) || unicode.IsDigit(r))) {
			return Quoted(s)
		}
	}
	if s == "" || utf8.RuneCountInString(s) > maxPrintable {
		return Quoted(s)
	}
	return s
}

// mostCell is how many letters of a name a table shows, so that one long name leaves its other
// lines readable.
const mostCell = 40

// Cell returns a name of another party for a table's cell: as Word does, and cut if it is long.
func Cell(s string) string {
	if letters := []rune(s); len(letters) > mostCell {
		s = string(letters[:mostCell-1]) + "…"
	}
	return Word(s)
}

// MaxCleaned bounds, in bytes, what Cleaned keeps of a text.
const MaxCleaned = 500

// Cleaned returns a sentence of this program that may repeat another party's words as a terminal or
// a log can take it: a space stands for what is not printed as itself, and what is longer than
// MaxCleaned bytes is cut and ends in "…".
func Cleaned(text string) string {
	text = strings.Map(func(r rune) rune {
		if !name.Shows(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	if len(text) > MaxCleaned {
		text = strings.ToValidUTF8(text[:MaxCleaned], "") + "…"
	}
	return text
}

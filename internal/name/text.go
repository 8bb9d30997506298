package name

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// MostMarks is how many marks one letter may carry: no language in use has more, and a stack of
// them is drawn over the lines above and below, which another party wrote.
const MostMarks = 4

// Readable reports whether people see a text as it is on one line: it is UTF-8, each of its
// characters is printed as itself, and no letter carries a stack of marks.
func Readable(s string) bool {
	marks := 0
	for _, r := range s {
		if r == utf8.RuneError || !Shows(r) { // U+FFFD stands for bytes that are not UTF-8, too
			return false
		}
		if marks++; !Mark(r) {
			marks = 0
		}
		if marks > MostMarks {
			return false
		}
	}
	return true
}

// Shows reports whether a rune is printed as itself. Unicode has letters, marks and a symbol that
// are printed as nothing: with one of them a name would look like another.
func Shows(r rune) bool {
	return strconv.IsPrint(r) && r != '\u034f' && r != '\u2800' && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Mark reports whether a rune is drawn over or under the letter before it, and takes no room of its
// own.
func Mark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) }

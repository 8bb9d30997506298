package name

import (
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// MostMarks is how many marks one letter may carry: everyday writing has no more in any language,
// and a stack of them is drawn over the lines above and below, which another party wrote.
const MostMarks = 4

// Readable reports whether people see a text as it is on one line: it is UTF-8, each of its
// characters is printed as itself, and no letter carries a stack of marks.
func Readable(s string) bool { return Fault(s) == "" }

// Fault is why a text is not [Readable], with the character, which nobody sees; empty of one that
// is.
func Fault(s string) string {
	marks := 0
	for _, r := range s {
		switch {
		case r == '\n':
			return "holds a line end"
		case r == utf8.RuneError || !Shows(r): // U+FFFD stands for bytes that are not UTF-8, too
			return fmt.Sprintf("holds the unprintable character %U", r)
		}
		if marks++; !Mark(r) {
			marks = 0
		}
		if marks > MostMarks {
			return fmt.Sprintf("holds more than %d marks on a letter", MostMarks)
		}
	}
	return ""
}

// Shows reports whether a rune is printed as itself. Unicode has letters, marks and a symbol that
// are printed as nothing: with one of them a name would look like another.
func Shows(r rune) bool {
	return strconv.IsPrint(r) && r != '\u034f' && r != '\u2800' && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Mark reports whether a rune is drawn over or under the letter before it, and takes no room of its
// own.
func Mark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) }

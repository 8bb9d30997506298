package name

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// MostMarks is how many marks one letter may carry: everyday writing has no more in any language,
// and a stack of them is drawn over the lines above and below, which another party wrote.
const MostMarks = 4

// Readable reports whether people see a text as it is on one line: it is UTF-8, each of its
// characters is printed as itself or is a joiner where its language writes one, and no letter
// carries a stack of marks.
func Readable(s string) bool { return Fault(s) == "" }

// Fault is why a text is not [Readable], with the character, which nobody sees; empty of one that
// is.
func Fault(s string) string {
	marks, written := 0, Joined(s)
	for _, r := range s {
		switch {
		case r == '\n':
			return "holds a line end"
		case written && Joiner(r):
			continue
		case r == utf8.RuneError || !Shows(r): // U+FFFD stands for bytes that are not UTF-8, too
			return fmt.Sprintf("holds the unprintable character %U: leave it out", r)
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

// Joiner reports whether a rune is one of the two that are seen by how they join the letters beside
// them alone.
func Joiner(r rune) bool { return r == nonJoiner || r == '\u200d' }

// Joined reports whether a text has a joiner, and each stands where a language writes one: after a
// virama, as in Malayalam, or, of the one that parts letters, between two of Arabic script that
// would join, as in Persian (RFC 5892, appendix A.1 and A.2). Elsewhere it shows nothing.
func Joined(s string) bool {
	found := false
	for i, r := range s {
		if !Joiner(r) {
			continue
		}
		found = true
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if norm.NFC.PropertiesString(string(before)).CCC() == virama {
			continue
		}
		ahead := strings.TrimLeftFunc(s[i+utf8.RuneLen(r):], Mark)
		after, _ := utf8.DecodeRuneInString(ahead)
		before, _ = utf8.DecodeLastRuneInString(strings.TrimRightFunc(s[:i], Mark))
		if r != nonJoiner || !joins(before, after) {
			return false
		}
	}
	return found
}

const (
	nonJoiner = '\u200c'
	virama    = 9 // the combining class of the marks that take a letter's vowel away
)

// joins reports whether two letters of Arabic script, side by side, are drawn as one.
func joins(before, after rune) bool {
	arabic := func(r rune) bool { return unicode.Is(unicode.Arabic, r) && unicode.IsLetter(r) }
	if !arabic(before) || !arabic(after) || strings.ContainsRune("\u0621\u0674\u08ad", after) { // these join nothing before them
		return false
	}
	_, err := joiners.ToUnicode(string(before) + "\u200c\u0627") // an alef, which joins what joins on
	return err == nil
}

// joiners checks the joiners of a label and nothing else. What follows one it does not check, so
// that joins does.
var joiners = idna.New(idna.CheckJoiners(true))

// Plain returns a text without its joiners: two names that are alike but for them look the same
// where a font draws no difference.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if Joiner(r) {
			return -1
		}
		return r
	}, s)
}

// Shows reports whether a rune is printed as itself. Unicode has letters, marks and a symbol that
// are printed as nothing: with one of them a name would look like another.
func Shows(r rune) bool {
	return strconv.IsPrint(r) && r != '\u034f' && r != '\u2800' && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Mark reports whether a rune is drawn over or under the letter before it, and takes no room of its
// own.
func Mark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) }

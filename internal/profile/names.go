package profile

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"covey/internal/dataset"
)

// renamed proposes the study's texts for other texts of a column: those that [sameLevel] takes for
// a level, and words for yes and no. A wrong one distorts everybody's result, so a text that may be
// two things gets no proposal. open are the others, and into says what they may be.
func (c *column) renamed(w *want) (names map[string]string, open []string, into string) {
	if w == nil || !w.texts || w.reading.As == dataset.Days {
		return nil, nil, ""
	}
	var texts []string
	shown, _, _ := shownLevels(c)
	for _, l := range shown {
		if v := w.reading.Of(l.Text); !math.IsNaN(v) && (len(w.reading.Levels) == 0 || int(v) < len(w.reading.Levels)) {
			continue
		}
		if kind, _ := notNumber(l.Text); kind != isStand {
			texts = append(texts, l.Text)
		}
	}
	names = map[string]string{}
	begun := map[string]int{} // how many texts begin with a level
	for _, text := range texts {
		begun[beginning(w.reading.Levels, text)]++
	}
	for _, text := range texts {
		same, begins, number := sameLevel(w.reading.Levels, text), beginning(w.reading.Levels, text), integerOf(text)
		switch {
		case slices.Contains(w.reading.Levels, number), w.reading.As == dataset.Boolean && (number == "0" || number == "1"):
			names[text] = number
		case same != "":
			names[text] = same
		case begins != "" && begun[begins] == 1:
			names[text] = begins
		case w.reading.As == dataset.Boolean && truths[strings.ToLower(text)] != "":
			names[text] = truths[strings.ToLower(text)]
		default:
			open = append(open, text)
		}
	}
	into = "yes or no"
	if w.reading.As != dataset.Boolean {
		var levels []string
		for _, level := range w.reading.Levels[:min(mostShown, len(w.reading.Levels))] {
			levels = append(levels, quote(level))
		}
		into = "one of " + strings.Join(levels, ", ")
	}
	return names, open, into
}

// compared are the column's most frequent texts such as <5.
func (c *column) compared() (texts []string) {
	shown, _, _ := shownLevels(c)
	for _, l := range shown {
		if kind, _ := notNumber(l.Text); kind == isCompared {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// integerOf returns the digits of a whole number that a program wrote with a fraction, as many do
// in a column with empty cells; empty for any other text. 1.000 may be a thousand.
func integerOf(text string) string {
	number, fraction, ok := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	if !ok || fraction != "0" && fraction != "00" || !digit(strings.TrimPrefix(number, "-")) {
		return ""
	}
	return number
}

// sameLevel returns the one level that a text is but for letters' case and blanks, or that is a
// word for the same sex; empty without one, or with two.
func sameLevel(levels []string, text string) string {
	found := ""
	for _, level := range levels {
		if strings.EqualFold(unspaced(level), unspaced(text)) {
			if found != "" {
				return ""
			}
			found = level
		}
	}
	if found != "" {
		return found
	}
	at := slices.IndexFunc(sexes, func(words []string) bool { return slices.Contains(words[1:], strings.ToLower(text)) })
	if at < 0 {
		return ""
	}
	// A letter is a sex's only beside the other's: M is a woman's beside H.
	of := make([]string, len(sexes))
	for _, level := range levels {
		for i, words := range sexes {
			if slices.Contains(words, strings.ToLower(level)) {
				if of[i] != "" {
					return ""
				}
				of[i] = level
			}
		}
	}
	if slices.Contains(of, "") {
		return ""
	}
	return of[at]
}

// beginning returns the longest level that a text begins with, before a mark: AB of "AB+". No
// single letter is one, for it begins words of other meanings, and no level before a minus, which
// may say that it is not; of levels that differ in letters' case alone none is chosen.
func beginning(levels []string, text string) string {
	found, twice := "", false
	for _, level := range levels {
		n := len(level)
		if utf8.RuneCountInString(level) < 2 || n >= len(text) || n < len(found) || !strings.EqualFold(level, text[:n]) {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[n:])
		if unicode.IsLetter(next) || unicode.IsDigit(next) || unicode.IsMark(next) || strings.ContainsRune("-−–", next) || digit(level[n-1:]) && strings.ContainsRune(".,", next) {
			continue
		}
		twice, found = n == len(found), level
	}
	if twice {
		return ""
	}
	return found
}

func digit(text string) bool { return strings.Trim(text, "0123456789") == "" }

// unspaced is a text without blanks and what nobody sees, and with each accent in its letter: é is
// written in two ways that look alike.
func unspaced(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFC.String(text))
}

// sexes are words for each, after the letter that studies have.
var sexes = [][]string{
	{"f", "female", "woman", "weiblich", "frau", "féminin", "femme", "femenino", "mujer", "femminile", "donna", "vrouw"},
	{"m", "male", "man", "männlich", "mann", "masculin", "homme", "masculino", "hombre", "maschile", "uomo"},
}

// truths are words for true and false that no study reads.
var truths = map[string]string{"ja": "yes", "j": "yes", "oui": "yes", "si": "yes", "sí": "yes", "wahr": "yes", "nein": "no", "nee": "no", "non": "no", "falsch": "no"}

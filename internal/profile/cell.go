package profile

import (
	"slices"
	"strings"
	"unicode"

	"covey/internal/dataset"
)

// stands are texts that exports write for a missing value, in lower case and without blanks.
var stands = []string{
	"null", "n/a", "na", "n.a.", "#n/a", "#na", "<na>", "nat", "-", "--", "---", ".", "..", "none", "nil", "?", "??", "missing", "unknown", "notknown", "notdone", "notavailable", "notapplicable", "nd", "n.d.",
	"k.a.", "keineangabe", "n.b.", "unbekannt", "fehlt", "fehlend", "nichterhoben", "inconnu", "manquant", "desconocido", "sconosciuto", "onbekend",
	"#value!", "#div/0!", "#null!", "#ref!", "#name?", "#num!", "#nv", "#wert!", "#bezug!", "#zahl!", // a spreadsheet's errors
}

// mostBlank bounds the bytes of other blanks around one, such as a no-break space, which
// missing_values have to name, too.
const mostBlank = 8

// Kinds of what a cell holds that is no number.
const (
	isText     = "text"
	isStand    = "stands for a missing value"
	isComma    = "decimal comma"
	isGrouped  = "mark between thousands"
	isEither   = "comma before three digits"
	isPoint    = "decimal point"
	isSigned   = "minus sign of another form"
	isPadded   = "blank that is no space"
	isCompared = "comparison, such as <5"
	isMeasured = "number with a unit"
	isDate     = "date"
	isTruth    = "true or false"
	isInfinite = "infinity"
)

// misread reports whether cells of a kind are numbers that are not read, by how they are written.
func misread(kind string) bool {
	switch kind {
	case isComma, isGrouped, isEither, isPoint, isSigned, isPadded, isCompared, isMeasured, isInfinite:
		return true
	}
	return false
}

// notNumber returns the kind of a cell that is no number, by its form. stand is the text of stands
// that it is, as missing_values have to name it.
func notNumber(field string) (kind, stand string) {
	whole := dataset.Trim(field)
	field = strings.TrimSpace(field)
	lower := strings.ToLower(field)
	if len(whole) <= len(field)+mostBlank && slices.Contains(stands, unspaced(lower)) {
		return isStand, whole
	}
	switch lower {
	case "true", "false", "yes", "no", "t", "f", "y", "n", "ja", "nein", "oui", "non", "wahr", "falsch":
		return isTruth, ""
	case "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity", "∞", "-∞":
		return isInfinite, ""
	}
	switch {
	case field == "":
		return isText, ""
	case field != whole && numeral(field) == len(field):
		return isPadded, ""
	case signed(field):
		return isSigned, ""
	}
	bare := field
	field = strings.TrimSpace(strings.TrimLeft(field, currencies))
	if rest := strings.TrimSpace(strings.TrimLeft(field, "<>≤≥~=")); len(rest) > 0 && len(rest) < len(field) && numeral(rest) == len(rest) {
		return isCompared, ""
	}
	if dated(field) {
		return isDate, ""
	}
	switch n := numeral(field); {
	case n == 0:
		return isText, ""
	case bare != field:
		return isMeasured, ""
	case n < len(field):
		rest := strings.TrimSpace(field[n:])
		if first := []rune(rest)[0]; (unicode.IsLetter(first) || strings.ContainsRune("%°µ"+currencies, first)) && len(rest) <= 12 {
			return isMeasured, ""
		}
		return isText, ""
	}
	return marked(field), ""
}

// marked returns the kind of a number that the data set's decimal and thousands do not read.
func marked(number string) string {
	digits := strings.TrimLeft(number, "+-")
	if strings.Count(digits, ",") == 1 && !strings.ContainsAny(digits, ". '\u00a0\u202f") {
		if isGroup(number, ",") {
			return isEither
		}
		return isComma
	}
	if strings.Count(digits, ".") == 1 && !strings.ContainsAny(digits, ", '\u00a0\u202f") && !isGroup(number, ".") {
		return isPoint // which is one only where agent.toml has another
	}
	return isGrouped
}

// currencies may stand before or behind a number.
const currencies = "€$£¥"

// signed reports whether a text is a negative number as accounts and typesetters write it.
func signed(s string) bool {
	inside, closed := strings.CutSuffix(s, ")")
	inside, opened := strings.CutPrefix(inside, "(")
	before, trails := strings.CutSuffix(s, "-")
	for _, number := range []struct {
		text string
		is   bool
	}{{inside, opened && closed}, {before, trails}, {strings.TrimLeft(s, "\u2212\u2013"), strings.HasPrefix(s, "\u2212") || strings.HasPrefix(s, "\u2013")}} {
		if number.is && number.text != "" && !strings.ContainsAny(number.text[:1], "+- ") && numeral(number.text) == len(number.text) {
			return true
		}
	}
	return false
}

// numeral returns how many bytes of a text are a number as somebody may write it: digits with marks
// between them.
func numeral(s string) int {
	at, digits := 0, 0
	trimmed := strings.TrimLeft(s, " ")
	at = len(s) - len(trimmed)
	if trimmed != "" && (trimmed[0] == '+' || trimmed[0] == '-') {
		at++
	}
	end := at
	for i, r := range s[at:] {
		switch {
		case r >= '0' && r <= '9':
			digits++
			end = at + i + 1
		case strings.ContainsRune(",.' \u00a0\u202f", r) && digits > 0:
		default:
			return end * min(1, digits)
		}
	}
	return end * min(1, digits)
}

// dated reports whether a text looks like a date: three groups of digits with one mark between.
func dated(s string) bool {
	if at := strings.IndexAny(s, " T"); at > 0 {
		s = s[:at]
	}
	for _, mark := range []string{"-", ".", "/"} {
		groups := strings.Split(s, mark)
		if len(groups) != 3 {
			continue
		}
		year := 0
		for _, g := range groups {
			if len(g) == 0 || len(g) > 4 || strings.Trim(g, "0123456789") != "" {
				return false
			}
			if len(g) == 4 {
				year++
			}
		}
		return year == 1 || mark != "." && len(groups[2]) == 2
	}
	return false
}

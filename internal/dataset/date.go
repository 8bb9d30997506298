package dataset

import (
	"math"
	"slices"
	"strings"
)

// DateForms are the forms in which a site's text may have dates: day, month and year with one mark
// between. A year has four digits, a day and a month one or two; a time of day may follow, and is
// cut off.
var DateForms = []string{
	"YYYY-MM-DD", "YYYY/MM/DD", "YYYY.MM.DD",
	"DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY",
	"MM/DD/YYYY", "MM-DD-YYYY", "MM.DD.YYYY",
}

// DateOf returns a text's date in days since 1970-01-01. It returns NaN for a text that is not a
// date of that form of [DateForms], even if it is one of another form.
func DateOf(form, text string) float64 {
	if slices.Contains(DateForms, form) {
		if day, ok := formed(form, trim(text)); ok {
			return float64(day)
		}
	}
	return math.NaN()
}

// formed reads a date of a form of DateForms as days since 1970-01-01. It allocates nothing.
func formed(form, text string) (int, bool) {
	if at := strings.IndexAny(text, " T"); at >= 0 {
		if !clock(text[at:]) {
			return 0, false
		}
		text = text[:at]
	}
	mark := form[2]
	if form[0] == 'Y' {
		mark = form[4]
	}
	var y, m, d int
	for form != "" {
		size, end := strings.IndexByte(form, mark), strings.IndexByte(text, mark)
		if (size < 0) != (end < 0) { // fewer parts, or more
			return 0, false
		}
		name, part := form, text
		if form, text = "", ""; size >= 0 {
			name, form, part, text = name[:size], name[size+1:], part[:end], part[end+1:]
		}
		n, ok := digits(part)
		if !ok || part == "" || len(part) > len(name) || len(name) == 4 && len(part) < 4 {
			return 0, false
		}
		switch name[0] {
		case 'Y':
			y = n
		case 'M':
			m = n
		default:
			d = n
		}
	}
	return dayOf(y, m, d)
}

// clock reports whether what follows a date is a time of day: as [timeOfDay], and with an hour of
// one digit, or of half a day and AM or PM. rest is not empty.
func clock(rest string) bool {
	if n := len(rest); n > 3 && rest[n-1]|0x20 == 'm' && (rest[n-2]|0x20 == 'a' || rest[n-2]|0x20 == 'p') {
		rest = strings.TrimRight(rest[:n-2], " ")
	}
	if len(rest) > 2 && rest[2] == ':' {
		return '0' <= rest[1] && rest[1] <= '9' && (rest[0] == ' ' || rest[0] == 'T') && len(rest) >= 5 && timeLetters(rest[1:])
	}
	return rest != "" && timeOfDay(rest)
}

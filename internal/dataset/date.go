package dataset

import (
	"math"
	"slices"
	"strings"
	"time"
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

// NoDate is how databases write that there is no date, or no end: the last day of a date.
const NoDate = "9999-12-31"

// IsNoDate reports whether a text is the day of [NoDate] in a form of [DateForms].
func IsNoDate(text string) bool {
	return strings.Contains(text, "9999") && slices.ContainsFunc(DateForms, func(form string) bool { return DateOf(form, text) == float64(lastDay) })
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

// The first and the last day of a date that is read.
var (
	firstDay = day(0, time.January, 1)
	lastDay  = day(9999, time.December, 31)
)

// day is a date in days since 1970-01-01.
func day(y int, m time.Month, d int) int {
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// date reads YYYY-MM-DD, which T or a space and a time of day may follow, as days since 1970-01-01.
func date(field string) (int, bool) {
	if len(field) < 10 || field[4] != '-' || field[7] != '-' {
		return 0, false
	}
	y, okY := digits(field[:4])
	m, okM := digits(field[5:7])
	d, okD := digits(field[8:10])
	if !okY || !okM || !okD || !timeOfDay(field[10:]) {
		return 0, false
	}
	return dayOf(y, m, d)
}

// dayOf is day of numbers that may be of no day.
func dayOf(y, m, d int) (int, bool) {
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return int(t.Unix() / 86400), t.Year() == y && int(t.Month()) == m && t.Day() == d // whole days: exact before 1970 too
}

// dateIn reads a date of a form of DateForms; empty: YYYY-MM-DD with all of its digits.
func dateIn(form, field string) (int, bool) {
	if form == "" {
		return date(field)
	}
	return formed(form, field)
}

func digits(text string) (int, bool) {
	n := 0
	for i := range len(text) {
		c := text[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// timeOfDay reports whether what follows a date is nothing, or T or a space and what times of day
// and zones are written with, hours and minutes at least.
func timeOfDay(rest string) bool {
	if rest == "" {
		return true
	}
	if len(rest) < 6 || rest[0] != 'T' && rest[0] != ' ' || rest[3] != ':' {
		return false
	}
	return timeLetters(rest[1:])
}

// timeLetters reports whether a text has only what times of day and zones are written with.
func timeLetters(text string) bool { return strings.Trim(text, "0123456789:.,+-Z ") == "" }

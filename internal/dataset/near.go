package dataset

import (
	"slices"
	"strings"
	"unicode"
)

// mostNear is how many names an error has.
const mostNear = 3

// Near returns names like one that is not there, the most alike first: what Error.Near has.
func Near(name string, names []string) []string {
	type found struct {
		name string
		rank int
	}
	var all []found
	want := letters(name)
	for _, n := range names {
		have := letters(n)
		if strings.IndexFunc(have, unicode.IsLetter) < 0 || len(n) > 200 || strings.IndexFunc(n, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			continue
		}
		switch short := min(len(want), len(have)); {
		case have == want:
			all = append(all, found{n, 0})
		case short >= 3 && (strings.HasPrefix(have, want) || strings.HasPrefix(want, have)):
			all = append(all, found{n, 1})
		case short >= 4 && have[0] == want[0] && oneEdit(have, want):
			all = append(all, found{n, 2})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.rank - b.rank })
	var out []string
	for _, f := range all[:min(mostNear, len(all))] {
		out = append(out, f.name)
	}
	return out
}

// letters returns a name's letters and digits in lower case.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// oneEdit reports whether two texts differ in one byte that was changed, put in or left out.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	same := 0
	for same < len(a) && a[same] == b[same] {
		same++
	}
	return a[same:] == b[same+len(b)-len(a):] || len(a) == len(b) && same < len(a) && a[same+1:] == b[same+1:]
}

package studyfile

import (
	"fmt"
	"strconv"
	"strings"
)

// maxDigits bounds the numbers of a range's ends.
const maxDigits = 9

// maxName bounds the names of a range, in bytes: as the study bounds its columns', so that few
// bytes do not stand for many.
const maxName = 200

// expand returns the names that one text stands for: itself, or, for a range such as "c0..c783" or
// "c001..c784", all from the first to the last. At most so many are returned, of most in a study.
func expand(text string, left, most int) ([]string, error) {
	first, last, ok := strings.Cut(text, "..")
	if !ok {
		if left < 1 {
			return nil, tooMany(most)
		}
		return []string{text}, nil
	}
	prefix, from := numbered(first)
	other, to := numbered(last)
	if from == "" || to == "" || prefix != other || strings.Contains(last, "..") {
		return nil, fmt.Errorf("%.100q is not a range of names, such as \"c0..c783\" or \"c001..c784\"; a name that holds two dots is written { name = \"a..b\" }", text)
	}
	if len(from) > maxDigits || len(to) > maxDigits {
		return nil, fmt.Errorf("%.100q: the numbers of a range have at most %d digits", text, maxDigits)
	}
	if len(first) > maxName || len(last) > maxName {
		return nil, fmt.Errorf("%.100q: a name has at most %d bytes", text, maxName)
	}
	if padded(from) && len(from) != len(to) || padded(to) && len(from) != len(to) {
		return nil, fmt.Errorf("%.100q: with leading zeros both numbers must have the same number of digits", text)
	}
	low, _ := strconv.Atoi(from) // of digits, and few
	high, _ := strconv.Atoi(to)
	if high < low {
		return nil, fmt.Errorf("%.100q ends before it begins", text)
	}
	if high-low >= left {
		return nil, tooMany(most)
	}
	width := 0
	if padded(from) {
		width = len(from)
	}
	names := make([]string, 0, high-low+1)
	for n := low; n <= high; n++ {
		names = append(names, fmt.Sprintf("%s%0*d", prefix, width, n))
	}
	return names, nil
}

func tooMany(most int) error {
	return fmt.Errorf("more columns than a study may have, which are %d", most)
}

// numbered parts a name into what stands before its last number, and that number's digits.
func numbered(name string) (prefix, digits string) {
	prefix = strings.TrimRight(name, "0123456789")
	return prefix, name[len(prefix):]
}

// padded reports whether a number has leading zeros.
func padded(digits string) bool { return len(digits) > 1 && digits[0] == '0' }

// fewest is how many names a range stands for at least, where a list is shortened.
const fewest = 3

// Shorten returns the items of a list of columns for names in order: ranges where names count up,
// tables for names that hold two dots.
func Shorten(names []string) []string {
	var out []string
	for len(names) > 0 {
		n := counted(names)
		switch {
		case n >= fewest:
			out = append(out, Quote(names[0]+".."+names[n-1]))
		case strings.Contains(names[0], ".."):
			out, n = append(out, "{ name = "+Quote(names[0])+" }"), 1
		default:
			out, n = append(out, Quote(names[0])), 1
		}
		names = names[n:]
	}
	return out
}

// counted returns how many names from the first on count up by one.
func counted(names []string) int {
	prefix, digits := numbered(names[0])
	if digits == "" || len(digits) > maxDigits || strings.Contains(prefix, "..") {
		return 1
	}
	at, _ := strconv.Atoi(digits) // of digits, and few
	n := 1
	for n < len(names) {
		next := strconv.Itoa(at + n)
		if padded(digits) {
			next = fmt.Sprintf("%0*d", len(digits), at+n)
		}
		if names[n] != prefix+next || len(next) > maxDigits || padded(digits) && len(next) != len(digits) {
			break
		}
		n++
	}
	return n
}

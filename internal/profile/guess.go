package profile

import (
	"bytes"
	"encoding/csv"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"covey/internal/dataset"
)

// guessBytes is how much of a file's beginning is looked at, and guessLines how many lines of it.
const (
	guessBytes = 256 << 10
	guessLines = 200
)

// guess returns the mapping of a data set whose file is text, with what it does not say of how the
// text is written filled in from the file's beginning; what is in order as it is, stays. The error
// is a *dataset.Error.
func guess(s dataset.Source) (dataset.Mapping, error) {
	if !textual(s) {
		return s.Mapping, nil
	}
	head, err := dataset.Head(s, guessBytes)
	if err != nil {
		return s.Mapping, err
	}
	return guessText(s.Mapping, head, len(head) == guessBytes), nil
}

// guessText fills a mapping in from a file's first bytes; cut reports whether there are more.
func guessText(m dataset.Mapping, head []byte, cut bool) dataset.Mapping {
	m.Encoding = guessEncoding(m.Encoding, head, cut)
	text, ok := m.Encoding.Decode(head)
	if !ok {
		m.Encoding = "" // the mark says so
		if text, ok = m.Encoding.Decode(head); !ok {
			return m
		}
	}
	lines := strings.SplitAfter(text, "\n")
	if cut && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	lines = lines[:min(len(lines), guessLines)]
	m = guessFields(m, lines)
	return guessGroups(guessMarks(m, lines), lines)
}

// guessEncoding returns what a file's first bytes are in, where they are not in the encoding said.
// A text of another encoding is UTF-8 by chance only if it has none but ASCII characters, or few.
func guessEncoding(said dataset.Encoding, head []byte, cut bool) dataset.Encoding {
	if said == dataset.UTF16 {
		if bytes.IndexByte(head, 0) >= 0 { // of a line's end, at least
			return said
		}
		said = ""
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) || unmarked(head) {
		return dataset.UTF16
	}
	if cut { // maybe within a character
		for n := 0; n < utf8.UTFMax && len(head) > 0 && !utf8.RuneStart(head[len(head)-1]); n++ {
			head = head[:len(head)-1]
		}
		if len(head) > 0 && head[len(head)-1] >= utf8.RuneSelf {
			head = head[:len(head)-1]
		}
	}
	utf, narrow := utf8.Valid(head), said != "" && said != dataset.UTF8
	switch {
	case !utf && !narrow:
		return dataset.Windows1252
	case utf && narrow && utf8.RuneCount(head) < len(head):
		return dataset.UTF8
	}
	return said
}

// unmarked reports whether every other byte is mostly 0, as in little-endian UTF-16 without a byte
// order mark.
func unmarked(head []byte) bool {
	zeros := 0
	for i := 1; i < len(head); i += 2 {
		if head[i] == 0 {
			zeros++
		}
	}
	return len(head) >= 4 && 4*zeros > len(head)
}

// mostJoined is how many lines a record of quoted fields may have to be seen as one.
const mostJoined = 20

// records joins lines that a quoted field with line breaks goes over; where no quote closes soon, a
// line is taken as it is.
func records(lines []string) []string {
	var out []string
	for len(lines) > 0 {
		n, quotes := 1, strings.Count(lines[0], `"`)
		for quotes%2 == 1 && n < min(len(lines), mostJoined) {
			quotes += strings.Count(lines[n], `"`)
			n++
		}
		if quotes%2 == 1 {
			n = 1
		}
		out, lines = append(out, strings.Join(lines[:n], "")), lines[n:]
	}
	return out
}

// countFields returns how many fields each line has, as lines of their own, and how many of them
// hold something.
func countFields(lines []string, comma rune) (fields, filled []int) {
	for _, line := range lines {
		r := csv.NewReader(strings.NewReader(line))
		r.Comma, r.FieldsPerRecord, r.LazyQuotes = comma, -1, true
		record, err := r.Read()
		if err != nil {
			record = nil
		}
		n := 0
		for _, field := range record {
			if dataset.Trim(field) != "" {
				n++
			}
		}
		fields, filled = append(fields, len(record)), append(filled, n)
	}
	return fields, filled
}

// commonFields returns the most common number of fields above one, how many lines have it, and the
// first of them that may be a header: at least half of its fields hold something.
func commonFields(lines []string, comma rune) (fields, have, first int) {
	all, filled := countFields(lines, comma)
	seen := map[int]int{}
	for _, n := range all {
		if n > 1 {
			seen[n]++
		}
	}
	for n, k := range seen {
		if k > have || k == have && n > fields {
			fields, have = n, k
		}
	}
	for i, n := range all {
		if n == fields && have > 0 && 2*filled[i] >= n {
			return fields, have, i
		}
	}
	return 0, 0, 0
}

// sepLine is a first line by which an export tells a spreadsheet what separates fields. It has two
// of them, as a table of two columns has.
var sepLine = regexp.MustCompile(`^(?i:"?sep=)([,;\t|])"?\r?\n$`)

// guessFields finds separator and preamble, where they are not said and a comma-separated table
// that begins on the first line is not what is there.
func guessFields(m dataset.Mapping, lines []string) dataset.Mapping {
	if mark := sepLine.FindStringSubmatch(lines[0]); m.SkipRows == 0 && mark != nil {
		m.SkipRows = 1
		if m.Separator == "" && mark[1] != "," {
			m.Separator = mark[1]
		}
	}
	filled := 0
	skip := min(m.SkipRows, len(lines))
	skipped, after := lines[:skip], records(lines[skip:])
	for _, line := range slices.Concat(skipped, after) {
		if strings.TrimSpace(line) != "" {
			filled++
		}
	}
	said := ','
	if m.Separator != "" {
		said = rune(m.Separator[0])
	}
	if n, k, first := commonFields(after, said); n > 1 && first == 0 && 10*k >= 8*filled {
		return m
	}
	separators := []rune{';', '\t', '|', ','}
	if m.Separator != "" {
		separators = []rune{said}
	}
	best, preamble, found := bestFields(after, separators, filled)
	if !found {
		return m
	}
	if m.Separator == "" && best != ',' {
		m.Separator = string(best)
	}
	if m.SkipRows == 0 {
		if trails(after, best, preamble) {
			preamble--
		}
		m.SkipRows = strings.Count(strings.Join(after[:preamble], ""), "\n") // it counts lines
	}
	return m
}

// bestFields returns the separator by which most lines have equally many fields, two at least, and
// how many lines stand before the first of them. None is found where these are fewer than half of
// the filled lines: most of what was looked at is no table then.
func bestFields(lines []string, separators []rune, filled int) (best rune, preamble int, found bool) {
	score := 0
	for _, s := range separators {
		if n, k, first := commonFields(lines, s); n >= 2 && 2*k >= filled && k > score {
			best, score, preamble = s, k, first
		}
	}
	return best, preamble, score > 0
}

// trails reports whether line at is a row, and the line before it the header, where one of the two
// has a separator more than the other, as in a table whose rows alone end with one.
func trails(lines []string, comma rune, at int) bool {
	if at == 0 {
		return false
	}
	number := func(line string) bool {
		r := csv.NewReader(strings.NewReader(line))
		r.Comma, r.LazyQuotes = comma, true
		fields, err := r.Read()
		return err == nil && slices.ContainsFunc(fields, func(field string) bool {
			field = dataset.Trim(field)
			return field != "" && numeral(field) == len(field)
		})
	}
	fields, _ := countFields(lines[at-1:at+1], comma)
	apart := fields[1] - fields[0]
	return fields[0] > 1 && (apart == 1 || apart == -1) && number(lines[at]) && !number(lines[at-1])
}

// guessMarks finds the decimal mark and the one between thousands, where they are not said and no
// number is written with a point but before three last digits.
func guessMarks(m dataset.Mapping, lines []string) dataset.Mapping {
	if m.Decimal != "" {
		return m
	}
	r := below(m, lines)
	if r == nil {
		return m
	}
	n := countMarks(r)
	// 200.000 beside 12,5 has three zeros, and beside 1,250 maybe decimals.
	marked := n.thousands > 0 && n.thousands == n.points && n.fractions >= 3
	if n.commas+n.grouped < 3 || !marked && n.points > n.commas+n.grouped {
		return m
	}
	switch {
	case (n.grouped > 0 || marked) && m.Thousands == "":
		m.Decimal, m.Thousands = ",", "."
	case n.points == 0 && m.Thousands != "," && (n.fractions > 0 || m.Separator != ""): // "1,234" among commas is thousands, most often
		m.Decimal = ","
	}
	return m
}

// below reads the records below the header; nil if there are none.
func below(m dataset.Mapping, lines []string) *csv.Reader {
	r := csv.NewReader(strings.NewReader(strings.Join(lines[min(m.SkipRows, len(lines)):], "")))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	if m.Separator != "" {
		r.Comma = rune(m.Separator[0])
	}
	if _, err := r.Read(); err != nil {
		return nil
	}
	return r
}

// guessGroups finds an apostrophe or a space between thousands, where no mark is said: it is
// nothing else in a number. Where numbers below a thousand have not shown it, the decimal mark is
// found with it.
func guessGroups(m dataset.Mapping, lines []string) dataset.Mapping {
	if m.Thousands != "" {
		return m
	}
	decimals := []string{m.Decimal}
	if m.Decimal == "" {
		decimals = append(decimals, ",")
	}
	best, most := m, 2
	for _, decimal := range decimals {
		for _, mark := range []string{"'", " "} {
			with := m
			with.Decimal, with.Thousands = decimal, mark
			if n := grouped(with, below(m, lines)); n > most {
				best, most = with, n
			}
		}
	}
	return best
}

// grouped counts the fields that are numbers by the mark between thousands alone.
func grouped(m dataset.Mapping, r *csv.Reader) (n int) {
	if r == nil {
		return 0
	}
	bare := m
	bare.Thousands = ""
	with, without := m.Cell(), bare.Cell()
	for field := range fieldsOf(r) {
		if _, reason := with(field); reason != "" {
			continue
		}
		if _, reason := without(field); reason != "" {
			n++
		}
	}
	return n
}

// fieldsOf yields the trimmed fields of the records that are left, up to the first that cannot be
// read.
func fieldsOf(r *csv.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			fields, err := r.Read()
			if err != nil {
				return
			}
			for _, field := range fields {
				if !yield(dataset.Trim(field)) {
					return
				}
			}
		}
	}
}

// markCounts counts the numbers of a file by the marks in them.
type markCounts struct {
	commas    int // with one comma and no point
	fractions int // of these, where what follows the comma is no group of three digits
	grouped   int // with points between thousands and then a comma
	points    int // with one point and not one comma
	thousands int // of these, where a group of three digits follows the point
}

// countMarks counts the numbers in the records that are left.
func countMarks(r *csv.Reader) (n markCounts) {
	plain, german := dataset.Mapping{}.Cell(), dataset.Mapping{Decimal: ",", Thousands: "."}.Cell()
	reads := func(cell func(string) (float64, string), field string) bool {
		_, reason := cell(field)
		return reason == ""
	}
	for field := range fieldsOf(r) {
		switch comma, point := strings.Count(field, ","), strings.Count(field, "."); {
		case comma == 1 && point == 0 && reads(german, field):
			n.commas++
			if !isGroup(field, ",") {
				n.fractions++
			}
		case comma == 1 && point > 0 && reads(german, field):
			n.grouped++
		case comma != 1 && point == 1 && reads(plain, field):
			n.points++
			if isGroup(field, ".") {
				n.thousands++
			}
		}
	}
	return n
}

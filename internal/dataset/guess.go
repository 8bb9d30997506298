package dataset

import (
	"bytes"
	"encoding/csv"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

// guessBytes is how much of a file's beginning is looked at, and guessLines how many lines of it.
const (
	guessBytes = 256 << 10
	guessLines = 200
)

// Guess returns the mapping of a data set whose file is text, with what it does not say of how the
// text is written filled in from the file's beginning; what is in order as it is, stays. The error
// is an *[Error].
func Guess(s Source) (Mapping, error) {
	m := s.Mapping
	kind := s.Kind()
	if s.Query != nil || kind != CSV && kind != CSVGzip {
		return m, nil
	}
	src, err := open(s.Path, ReadOptions{})
	if err != nil {
		return m, err
	}
	defer src.close()
	var in io.Reader = src
	if kind == CSVGzip {
		z, err := gzip.NewReader(src)
		if err != nil {
			return m, unreadable(s.Path, packed(err))
		}
		in = &gunzip{z}
	}
	head := make([]byte, guessBytes)
	n, err := io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return m, unreadable(s.Path, err)
	}
	return guess(m, head[:n], n == len(head)), nil
}

// guess fills a mapping in from a file's first bytes; cut reports whether there are more.
func guess(m Mapping, head []byte, cut bool) Mapping {
	if m.Encoding == "" {
		m.Encoding = guessEncoding(head, cut)
	}
	_, text, err := decode(bytes.NewReader(head), m.Encoding, "")
	if err != nil {
		m.Encoding = "" // the mark says so
		if _, text, err = decode(bytes.NewReader(head), m.Encoding, ""); err != nil {
			return m
		}
	}
	all, _ := io.ReadAll(text) // of memory; what an encoding does not know it replaces
	lines := strings.SplitAfter(string(all), "\n")
	if cut && len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	lines = lines[:min(len(lines), guessLines)]
	m = guessFields(m, lines)
	return guessMarks(m, lines)
}

func guessEncoding(head []byte, cut bool) Encoding {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return UTF16
	}
	if cut { // maybe within a character
		for n := 0; n < utf8.UTFMax && len(head) > 0 && !utf8.RuneStart(head[len(head)-1]); n++ {
			head = head[:len(head)-1]
		}
		if len(head) > 0 && head[len(head)-1] >= utf8.RuneSelf {
			head = head[:len(head)-1]
		}
	}
	if !utf8.Valid(head) {
		return Windows1252
	}
	return ""
}

// counts returns how many fields each line has, as lines of their own, and how many of them hold
// something.
func counts(lines []string, comma rune) (fields, filled []int) {
	for _, line := range lines {
		r := csv.NewReader(strings.NewReader(line))
		r.Comma, r.FieldsPerRecord, r.LazyQuotes = comma, -1, true
		record, err := r.Read()
		if err != nil {
			record = nil
		}
		n := 0
		for _, field := range record {
			if trim(field) != "" {
				n++
			}
		}
		fields, filled = append(fields, len(record)), append(filled, n)
	}
	return fields, filled
}

// common returns the most common number of fields above one, how many lines have it, and the first
// of them that may be a header: at least half of its fields hold something.
func common(lines []string, comma rune) (fields, have, first int) {
	all, filled := counts(lines, comma)
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

// guessFields finds separator and preamble, where they are not said and a comma-separated table
// that begins on the first line is not what is there.
func guessFields(m Mapping, lines []string) Mapping {
	filled := 0
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			filled++
		}
	}
	said := ','
	if m.Separator != "" {
		said = rune(m.Separator[0])
	}
	skip := min(m.SkipRows, len(lines))
	if n, k, first := common(lines[skip:], said); n > 1 && first == 0 && 10*k >= 8*filled {
		return m
	}
	best, score, preamble := said, 0, 0
	for _, s := range []rune{';', '\t', '|', ','} {
		if m.Separator != "" && s != said {
			continue
		}
		n, k, first := common(lines[skip:], s)
		if n < 2 || 2*k < filled { // most of what was looked at is no table then
			continue
		}
		if k > score {
			best, score, preamble = s, k, first
		}
	}
	if score == 0 {
		return m
	}
	if m.Separator == "" && best != ',' {
		m.Separator = string(best)
	}
	if m.SkipRows == 0 {
		m.SkipRows = preamble
	}
	return m
}

// guessMarks finds the decimal mark and the one between thousands, where they are not said and no
// number is written with a point.
func guessMarks(m Mapping, lines []string) Mapping {
	if m.Decimal != "" {
		return m
	}
	r := csv.NewReader(strings.NewReader(strings.Join(lines[min(m.SkipRows+1, len(lines)):], "")))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	if m.Separator != "" {
		r.Comma = rune(m.Separator[0])
	}
	commas, points, grouped := 0, 0, 0
	german := &cells{decimal: ",", thousands: "."}
	for {
		fields, err := r.Read()
		if err != nil {
			break
		}
		for _, field := range fields {
			field = trim(field)
			switch {
			case strings.Count(field, ",") == 1 && !strings.Contains(field, "."):
				if _, reason := german.number(field); reason == "" {
					commas++
				}
			case strings.Count(field, ",") == 1 && strings.Contains(field, "."):
				if _, reason := german.number(field); reason == "" {
					grouped++
				}
			case strings.Count(field, ".") == 1:
				if _, reason := parse(field); reason == "" {
					points++
				}
			}
		}
	}
	if commas+grouped < 3 || points > commas+grouped {
		return m
	}
	switch {
	case grouped > 0 && m.Thousands == "":
		m.Decimal, m.Thousands = ",", "."
	case points == 0 && m.Thousands != ",":
		m.Decimal = ","
	}
	return m
}

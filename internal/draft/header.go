package draft

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"covey/internal/frame"
	"covey/internal/name"
)

// maxLine bounds a header.
const maxLine = 4 << 20

// Header reads the first line of a CSV and no byte after it. what names the file in words.
func Header(r io.Reader, what string) (Draft, error) {
	line, err := firstLine(r)
	if err != nil {
		return Draft{}, err
	}
	if sepLine.Match(line) {
		return Draft{}, errors.New("the first line tells a spreadsheet what separates fields (sep=): delete it, so that the first line names the columns; sites say skip_rows = 1 in agent.toml")
	}
	names, comma, err := fields(line)
	if err != nil {
		return Draft{}, err
	}
	if i := slices.IndexFunc(names, likeValue); i >= 0 && !numbered(names) {
		return Draft{}, fmt.Errorf("name %d of the first line is a number or a date, so that the line may be a row of values, which a study file must not have: put a line of names before it; if it is the names, write them below one another into a file whose first line is name, and give that file as --dictionary", i+1)
	}
	d := Draft{Source: fmt.Sprintf("the header of %s: that line was read, and no value", what)}
	if note := separated(comma); note != "" {
		d.Notes = append(d.Notes, note)
	}
	var kept, blank int
	var ids, odd []string
	seen := map[string]bool{}
	for _, name := range names {
		if name = strings.Trim(name, " \t"); strings.ContainsAny(name, "\n\t") {
			name = strings.Join(strings.Fields(name), " ") // as agents read it
		}
		switch {
		case name == "":
			blank++
		case !printable(name):
			odd = append(odd, fmt.Sprintf("%.100q", name))
		case seen[name]:
			return Draft{}, fmt.Errorf("the header has %.100q twice; a study's columns need different names", name)
		case likeID(name):
			ids = append(ids, strconv.Quote(name))
		default:
			d.Columns = append(d.Columns, Column{Name: name})
			kept++
		}
		seen[name] = true
	}
	d.Notes = append(d.Notes, fmt.Sprintf("%d of %s in it, all taken as numbers: give categories their levels, and delete what is not a measurement.", kept, frame.Count(len(names), "column is", "columns are")))
	if len(names) == 1 {
		d.Notes = append(d.Notes, "This line has a single name. If it is a title, delete it, so that the first line names the columns.")
	}
	if len(ids) > 0 {
		d.Notes = append(d.Notes, "Left out, because it looks like an identifier: "+strings.Join(ids, ", ")+".")
	}
	if len(odd) > 0 {
		d.Notes = append(d.Notes, "Left out, because its name has over 200 bytes, or characters that are not printed: "+strings.Join(odd, ", ")+".")
	}
	if blank > 0 {
		d.Notes = append(d.Notes, "Left out: "+frame.Count(blank, "column", "columns")+" without a name.")
	}
	return d, nil
}

// sepLine is no header: it has one column, or two of which one has no name.
var sepLine = regexp.MustCompile(`^(?i:"?sep=)[,;\t|]?"?\r?$`)

// likeValue reports whether a name is a number or a date, as cells are.
func likeValue(name string) bool {
	name = strings.TrimSpace(name)
	if _, err := strconv.ParseFloat(strings.ReplaceAll(name, ",", "."), 64); err == nil {
		return !strings.EqualFold(name, "inf") && !strings.EqualFold(name, "infinity") && !strings.EqualFold(name, "nan")
	}
	return date.MatchString(name)
}

var date = regexp.MustCompile(`^\d{1,4}([-./])\d{1,2}([-./])\d{1,4}([ T].*)?$`)

// numbered reports whether the names that are like values are numbers in equal steps, at least
// three, as of channels or wavelengths: few rows of values are.
func numbered(names []string) bool {
	var marks []float64
	for _, name := range names {
		if !likeValue(name) {
			continue
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(name), ",", "."), 64)
		if err != nil {
			return false // a date
		}
		marks = append(marks, v)
	}
	if len(marks) < 3 || marks[0] == marks[1] {
		return false
	}
	step := marks[1] - marks[0]
	for i := 2; i < len(marks); i++ {
		if math.Abs(marks[i]-marks[i-1]-step) > 1e-6*math.Abs(step) {
			return false
		}
	}
	return true
}

// errQuote is a header whose end cannot be told: what follows it may be values.
var errQuote = errors.New("the first line has a name that begins with a quote and is not closed by one before the next separator: correct it, since what follows may be values")

// quoting is where a reader stands in a line of names, some of them in quotes. A quote counts where
// a name begins.
type quoting struct {
	begins bool // the next byte is a name's first
	within bool // a quote is open
	closed bool // the last byte closed a quote, or is the first half of a doubled one
}

// next takes a byte, and reports false if it follows a closed quote and ends no name.
func (q *quoting) next(b byte, ends bool) bool {
	switch {
	case q.within:
		q.within, q.closed = b != '"', b == '"'
	case q.closed && b == '"': // doubled, which stands for one
		q.within, q.closed = true, false
	case q.closed && !ends:
		return false
	default:
		q.within, q.closed = q.begins && b == '"', false
	}
	return true
}

// firstLine reads up to the first line end outside quotes, a byte at a time: it asks for nothing
// beyond, so that a pipe which has no more yet does not hold it up. A quote that is left open would
// take the rows below for a name.
func firstLine(r io.Reader) ([]byte, error) {
	var line []byte
	one := make([]byte, 1)
	at := quoting{begins: true}
	for len(line) < maxLine {
		n, err := r.Read(one)
		if n == 1 {
			b := one[0]
			ends := b == '\n' || b == '\r' || slices.Contains(commas, rune(b))
			ended := !at.within && len(line) > 0 && line[len(line)-1] == '\r'
			if !at.next(b, ends) {
				return nil, errQuote
			}
			if b == '\n' && !at.within {
				break
			}
			if ended && b == '\r' {
				return nil, errors.New("lines end with more than one carriage return, as where a program made CRLF of CRLF: save the file with LF or CRLF line ends")
			}
			if ended {
				return nil, errors.New("lines end with a carriage return alone: save the file with LF or CRLF line ends")
			}
			line = append(line, b)
			if err := noText(line); err != nil {
				return nil, err
			}
			at.begins = ends || string(line) == "\ufeff"
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(line) == maxLine {
		return nil, fmt.Errorf("the first line is longer than %d bytes", maxLine)
	}
	if at.within {
		return nil, errQuote
	}
	return text(line)
}

// byHand is what helps where a file has names of columns that are not read here.
const byHand = "write the names of its columns below one another into a file whose first line is name, and give that file as --dictionary"

// noText says of a file's beginning what else it is than text. A first column may be called PAR1: a
// Parquet file goes on with a structure of Thrift's, whose first field is an integer.
func noText(raw []byte) error {
	for _, k := range []struct{ begins, what string }{
		{"PK\x03\x04", "a ZIP archive and no text: of a workbook save the sheet as CSV; of a NumPy archive " + byHand},
		{"\x1f\x8b\x08", "compressed with gzip: unpack it"},
		{"\x93NUMPY", "a NumPy matrix and no text: " + byHand},
		{"PAR1\x15", "a Parquet file and no text: " + byHand},
	} {
		if bytes.HasPrefix(raw, []byte(k.begins)) {
			return errors.New("the file is " + k.what)
		}
	}
	return nil
}

// text returns UTF-8 without the mark that some programs begin a file with.
func text(raw []byte) ([]byte, error) {
	if bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")) {
		return nil, errors.New("the file is UTF-16; save it as UTF-8")
	}
	if err := noText(raw); err != nil {
		return nil, err
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if !utf8.Valid(raw) {
		return nil, errors.New("the file is not UTF-8; save it as UTF-8, or its letters would be others")
	}
	return raw, nil
}

// commas are what separates fields, the most usual first.
var commas = []rune{',', ';', '\t', '|'}

// fields splits a header at its separator: the one that it has most of.
func fields(line []byte) (names []string, comma rune, err error) {
	comma = commas[0]
	for _, c := range commas[1:] {
		if bytes.Count(line, []byte(string(c))) > bytes.Count(line, []byte(string(comma))) {
			comma = c
		}
	}
	r := csv.NewReader(bytes.NewReader(line))
	r.Comma, r.LazyQuotes = comma, true
	names, err = r.Read()
	if errors.Is(err, io.EOF) {
		return nil, 0, errors.New("the first line is empty; it must be a header of column names")
	}
	if err != nil {
		return nil, 0, errors.New("the first line is not the header of a CSV")
	}
	return names, comma, nil
}

// separated says how fields are separated where a site has to be told.
func separated(comma rune) string {
	name := map[rune]string{';': "semicolons", '\t': "tabs", '|': "bars"}[comma]
	if name == "" {
		return ""
	}
	return "Fields are separated by " + name + ": sites say so in agent.toml, with separator."
}

// printable reports whether a proposal can have a text.
func printable(text string) bool { return len(text) <= 200 && name.Readable(text) }

// ids are names of columns that tell people apart.
var ids = []string{"id", "uid", "uuid", "guid", "mrn", "nhs", "ssn", "patient", "subject", "patientid", "subjectid", "caseid", "recordid", "pseudonym"}

// likeID reports whether a column's name is that of an identifier.
func likeID(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(ids, name) || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, " id")
}

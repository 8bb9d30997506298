package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxRecord bounds a record: a quote that is never closed must not take the rest
// of a file into memory. The widest row that a study can have is below half of it.
const maxRecord = 64 << 20

// maxFields bounds a record's fields, as many as a matrix's columns: one is of a byte, which gzip
// packs into none, and takes 24 in memory, or 300 in the header.
const maxFields = 1 << 20

// csvTable is a CSV file whose header was read.
type csvTable struct {
	path   string
	src    *hashedFile
	csv    *csv.Reader
	record recordBound
	raw    *bufio.Reader // unpacked bytes
	text   *bufio.Reader // raw itself, or its characters in UTF-8
	names  []string
	places map[string]int // of the names
	base   int            // lines before the header
	end    int            // line on which the last record ended
	comma  rune
	last   int      // records at the end that are no rows
	ahead  []record // those that may be of them
}

// record is a record of a text file, or what is wrong there.
type record struct {
	fields []string
	line   int
	err    error
}

// openText reads the header of a file that is written as m says.
func openText(src *hashedFile, in io.Reader, m Mapping) (*csvTable, error) {
	t := &csvTable{path: src.path, src: src, record: recordBound{in: in}, base: m.SkipRows, end: m.SkipRows, comma: ',', last: m.SkipLast}
	var err error
	if m.Separator != "" {
		t.comma = rune(m.Separator[0])
	}
	t.record.separator = byte(t.comma)
	if t.raw, t.text, err = decode(&t.record, m.Encoding, t.path); err != nil {
		return nil, err
	}
	if err := t.skip(t.text, m.SkipRows); err != nil {
		return nil, err
	}
	t.csv = csv.NewReader(t.text) // which it uses as it is
	t.csv.ReuseRecord, t.csv.FieldsPerRecord = true, -1
	t.csv.Comma = t.comma
	fields, _, err := t.next()
	if err == io.EOF {
		return nil, &Error{File: t.path, Reason: "the file is empty"}
	}
	if err != nil {
		return nil, err
	}
	for j, field := range fields {
		if short := strings.TrimRight(field, "\r"); j == len(fields)-1 && len(short) < len(field) && !strings.Contains(short, "\r") {
			return nil, &Error{File: t.path, Reason: "lines end with more than one carriage return, as where a program made CRLF of CRLF: save it with LF or CRLF line ends"}
		}
		if strings.Contains(field, "\r") {
			return nil, &Error{File: t.path, Reason: "lines end with a carriage return alone: save it with LF or CRLF line ends"}
		}
		t.names = append(t.names, heading(field))
	}
	if len(fields) == 1 && strings.Contains(fields[0], "\t") { // they are what parts it (without)
		t.names[0] = strings.Clone(trim(fields[0]))
	}
	if i, j := twins(t.names); j > 0 {
		// By position: without a header line the "name" is a value.
		return nil, &Error{Schema: SchemaColumns, File: t.path, Row: t.base + 1, Reason: fmt.Sprintf("fields %d and %d of the header are the same", i+1, j+1), Remedy: "give one of the two another name in the export"}
	}
	t.places = make(map[string]int, len(t.names))
	for j, name := range t.names {
		t.places[name] = j
	}
	return t, nil
}

// heading is a field of the header as a name: a line break in it, which spreadsheets put there, is
// a space, since no name in agent.toml has one.
func heading(field string) string {
	field = trim(field)
	if strings.ContainsAny(field, "\n\t") {
		return strings.Join(strings.Fields(field), " ")
	}
	return strings.Clone(field)
}

// skip passes over lines before the header.
func (t *csvTable) skip(in *bufio.Reader, lines int) error {
	for n := 0; n < lines; {
		_, err := in.ReadSlice('\n')
		switch {
		case err == nil:
			n++
			t.record.read, t.record.fields = 0, 0
		case err == io.EOF:
			return &Error{File: t.path, Reason: "has no lines after those that skip_rows passes over"}
		case err != bufio.ErrBufferFull:
			return unreadable(t.path, err)
		}
	}
	return nil
}

// recordBound fails once more than maxRecord bytes, or maxFields separators, were read for one
// record.
type recordBound struct {
	in        io.Reader
	separator byte
	read      int // since the last record
	fields    int // since then
	all       int64
}

var (
	errRecord = errors.New("record too long")
	errFields = errors.New("record of too many fields")
)

func (r *recordBound) Read(p []byte) (int, error) {
	if r.read > maxRecord {
		return 0, errRecord
	}
	if r.fields > maxFields {
		return 0, errFields
	}
	n, err := r.in.Read(p)
	r.read += n
	r.fields += bytes.Count(p[:n], []byte{r.separator})
	r.all += int64(n)
	return n, err
}

// twins returns the places of the first name but "" that occurs again; 0, 0 if none does.
func twins(names []string) (first, again int) {
	seen := make(map[string]int, len(names))
	for i, name := range names {
		if at, ok := seen[name]; ok && name != "" {
			return at, i
		}
		seen[name] = i
	}
	return 0, 0
}

func (t *csvTable) header() []string { return t.names }
func (t *csvTable) word() string     { return "line" }

// consumed returns an estimate of how many of the file's bytes were parsed, without those only read
// ahead, and how many there are.
func (t *csvTable) consumed() (read, total float64) {
	read, total = float64(t.src.read), float64(t.src.before.Size())
	all := float64(t.record.all)
	read *= (all - float64(t.raw.Buffered())) / all
	if t.text != t.raw {
		past := float64(t.csv.InputOffset())
		read *= past / (past + float64(t.text.Buffered()))
	}
	return read, total
}

// find returns the index in a record of a column.
func (t *csvTable) find(name string) (int, error) {
	at, ok := t.places[name]
	if !ok {
		e := &Error{Schema: SchemaColumns, File: t.path, Row: t.base + 1, Column: name, Near: t.near(name)}
		e.Reason, e.Remedy = t.without()
		return 0, e
	}
	return at, nil
}

// near returns names of the header like one that is not there; none where one is a number, since
// without a header line they are a row's values.
func (t *csvTable) near(name string) []string {
	if slices.ContainsFunc(t.names, func(name string) bool {
		v, reason := parse(name)
		return reason == "" && !math.IsNaN(v)
	}) {
		return nil
	}
	return Near(name, t.names)
}

// separators are what fields may be separated by, in words.
var separators = []struct {
	mark rune
	word string
}{{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {'|', "vertical bars"}}

// without says what a header is that lacks a name, and what may help. It has none of the header's
// text: without a header line that would be a row's values.
func (t *csvTable) without() (reason, remedy string) {
	if slices.ContainsFunc(t.names, func(name string) bool { return !utf8.ValidString(name) }) {
		remedy = `the header is not UTF-8: set encoding = "windows-1252", or "latin-1", for the data set in agent.toml`
	}
	reason = fmt.Sprintf("none of the header's %d fields has this name", len(t.names))
	if len(t.names) == 1 {
		reason = "the header is one field with another name"
	}
	for _, s := range separators {
		switch {
		case s.mark == t.comma:
			if len(t.names) == 1 {
				reason += "; fields are separated by " + s.word
			}
		case strings.Count(strings.Join(t.names, ""), string(s.mark)) >= len(t.names): // more than what separates them
			key := string(s.mark)
			if s.mark == '\t' {
				key = "tab"
			}
			remedy = fmt.Sprintf(`set separator = "%s" for the data set in agent.toml, if its fields are separated by %s`, key, s.word)
		}
	}
	return reason, remedy
}

// next returns the fields of the next record, good until the next call, and the line on which it
// begins, or io.EOF itself. Blank lines are refused but at the file's end. After a fault of one
// record ([Error.record]) the next one may be read.
func (t *csvTable) next() (fields []string, line int, err error) {
	t.record.read = 0
	t.record.fields = 0
	fields, err = t.csv.Read()
	if err == io.EOF {
		return nil, 0, err
	}
	fault, bad := errors.AsType[*csv.ParseError](err)
	before := t.end
	switch {
	case bad:
		line = t.base + fault.StartLine
		t.end = t.base + fault.Line
	case errors.Is(err, errRecord):
		return nil, 0, &Error{File: t.path, Row: t.end + 1, Reason: fmt.Sprintf("a row of more than %d MiB; is a quote not closed?", maxRecord>>20)}
	case errors.Is(err, errFields):
		return nil, 0, &Error{File: t.path, Row: t.end + 1, Reason: "a row of more than 2^20 fields; write a line for each row, with fewer columns"}
	case err != nil:
		return nil, 0, unreadable(t.path, err)
	default:
		line, _ = t.csv.FieldPos(0)
		line += t.base
		last := len(fields) - 1
		t.end, _ = t.csv.FieldPos(last)
		// line breaks inside quotes, which the library makes LF
		t.end += t.base + strings.Count(fields[last], "\n")
	}
	if line != before+1 { // the library skips blank lines
		return nil, line, &Error{File: t.path, Row: before + 1, Reason: "a blank line", record: true}
	}
	if bad {
		at, reason := fault.Line, `a quoted field is not closed, or text follows its closing quote (")`
		switch {
		case errors.Is(fault.Err, csv.ErrBareQuote):
			reason = `a quote (") inside a field that does not begin with one`
		case fault.Line > fault.StartLine:
			at, reason = fault.StartLine, reasonOver
		}
		return nil, line, &Error{File: t.path, Row: t.base + at, Reason: reason, record: true}
	}
	return fields, line, nil
}

// reasonOver is the fault of a record that may hold other rows.
const reasonOver = `a quoted field goes on over the next lines and is not closed, or text follows its closing quote (")`

// row returns the next record that is a row or should be one: those at the end that are not are
// held back. It is good until the next call.
func (t *csvTable) row() (record, error) {
	for {
		fields, line, err := t.next()
		if e, ok := err.(*Error); err != nil && !(ok && e.record) {
			return record{}, err
		}
		if err == nil && len(fields) != len(t.names) {
			err = &Error{File: t.path, Row: line, Reason: fmt.Sprintf("%d fields, the header has %d", len(fields), len(t.names)), record: true}
		}
		// skip_last must not pass over rows that a quote holds without a word
		if e, ok := err.(*Error); t.last == 0 || ok && e.Reason == reasonOver {
			return record{fields, line, err}, nil
		}
		t.ahead = append(t.ahead, record{slices.Clone(fields), line, err})
		if len(t.ahead) > t.last {
			first := t.ahead[0]
			t.ahead = t.ahead[1:]
			return first, nil
		}
	}
}

// rows adds every record to b. The first fault in a line's order of columns asked for is
// reported, and only of a record with as many fields as the header.
func (t *csvTable) rows(b *builder) error {
	places := make([]int, len(b.sourceColumns))
	for j, c := range b.sourceColumns {
		var err error
		if places[j], err = t.find(c.Name); err != nil {
			return err
		}
	}
	unit := -1
	if b.sourceUnit != "" {
		var err error
		if unit, err = t.find(b.sourceUnit); err != nil {
			return err
		}
	}
	b.consumed = t.consumed
	for {
		r, err := t.row()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = r.err
		}
		if err != nil {
			return err
		}
		b.begin(r.line)
		for j, at := range places {
			b.text(j, r.fields[at])
		}
		if unit >= 0 {
			b.setUnit(r.fields[unit])
		}
		if err := b.end(); err != nil {
			return err
		}
	}
}

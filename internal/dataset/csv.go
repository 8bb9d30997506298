package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxRecord bounds a record: a quote that is never closed must not take the rest
// of a file into memory. The widest row that a study can have is below half of it.
const maxRecord = 64 << 20

// csvTable is a CSV file whose header was read.
type csvTable struct {
	path   string
	csv    *csv.Reader
	record recordBound
	total  int64 // the file's bytes
	names  []string
	places map[string]int // of the names
	end    int            // line on which the last record ended
}

// openCSV reads the header.
func openCSV(src *source, in io.Reader) (*csvTable, error) {
	t := &csvTable{path: src.path, record: recordBound{in: in}, total: src.before.Size()}
	buffer := bufio.NewReaderSize(&t.record, bufferSize)
	mark, _ := buffer.Peek(3) // a short file or a failing one shows at the first record
	switch {
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		buffer.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, &Error{Schema: SchemaFormat, File: t.path, Row: 1, Reason: "the file is UTF-16; save it as UTF-8"}
	}
	t.csv = csv.NewReader(buffer) // which it uses as it is
	t.csv.ReuseRecord, t.csv.FieldsPerRecord = true, -1
	fields, _, err := t.next()
	if err == io.EOF {
		return nil, &Error{File: t.path, Reason: "the file is empty"}
	}
	if err != nil {
		return nil, err
	}
	for _, field := range fields {
		t.names = append(t.names, strings.Clone(trim(field)))
	}
	if i, j := twins(t.names); j > 0 {
		// By position: without a header line the "name" is a value.
		return nil, &Error{Schema: SchemaColumns, File: t.path, Row: 1, Reason: fmt.Sprintf("fields %d and %d of the header are the same", i+1, j+1)}
	}
	t.places = make(map[string]int, len(t.names))
	for j, name := range t.names {
		t.places[name] = j
	}
	return t, nil
}

// recordBound fails once more than maxRecord bytes were read for one record.
type recordBound struct {
	in   io.Reader
	read int // since the last record
}

var errRecord = errors.New("record too long")

func (r *recordBound) Read(p []byte) (int, error) {
	if r.read > maxRecord {
		return 0, errRecord
	}
	n, err := r.in.Read(p)
	r.read += n
	return n, err
}

// twins returns the places of the first name that occurs again; 0, 0 if none does.
func twins(names []string) (first, again int) {
	seen := make(map[string]int, len(names))
	for i, name := range names {
		if at, ok := seen[name]; ok {
			return at, i
		}
		seen[name] = i
	}
	return 0, 0
}

func (t *csvTable) header() []string { return t.names }
func (t *csvTable) word() string     { return "line" }

// find returns the index in a record of a column.
func (t *csvTable) find(name string) (int, error) {
	at, ok := t.places[name]
	if !ok {
		reason := fmt.Sprintf("none of the header's %d fields has this name", len(t.names))
		if len(t.names) == 1 {
			reason = "the header is one field of another name; fields are separated by commas"
		}
		return 0, &Error{Schema: SchemaColumns, File: t.path, Row: 1, Column: name, Reason: reason}
	}
	return at, nil
}

// next returns the fields of the next record, good until the next call, and the line on which it
// begins, or io.EOF itself. Blank lines are refused but at the file's end.
func (t *csvTable) next() (fields []string, line int, err error) {
	t.record.read = 0
	fields, err = t.csv.Read()
	if err == io.EOF {
		return nil, 0, err
	}
	fault, bad := errors.AsType[*csv.ParseError](err)
	switch {
	case bad:
		line = fault.StartLine
	case errors.Is(err, errRecord):
		return nil, 0, &Error{File: t.path, Row: t.end + 1, Reason: fmt.Sprintf("a row of more than %d MiB; is a quote not closed?", maxRecord>>20)}
	case err != nil:
		return nil, 0, unreadable(t.path, err)
	default:
		line, _ = t.csv.FieldPos(0)
	}
	if line != t.end+1 { // the library skips blank lines
		return nil, 0, &Error{File: t.path, Row: t.end + 1, Reason: "a blank line"}
	}
	if bad {
		reason := `a quoted field is not closed, or text follows its closing quote (")`
		if errors.Is(fault.Err, csv.ErrBareQuote) {
			reason = `a quote (") inside a field that does not begin with one`
		}
		return nil, 0, &Error{File: t.path, Row: fault.Line, Reason: reason}
	}
	last := len(fields) - 1
	t.end, _ = t.csv.FieldPos(last)
	t.end += strings.Count(fields[last], "\n") // line breaks inside quotes, which the library makes LF
	return fields, line, nil
}

// rows adds every record to b. The first fault in a line's order of columns asked for is
// reported, and only of a record with as many fields as the header.
func (t *csvTable) rows(b *builder) error {
	places := make([]int, len(b.columns))
	for j, c := range b.columns {
		var err error
		if places[j], err = t.find(c.Name); err != nil {
			return err
		}
	}
	unit := -1
	if b.unit != "" {
		var err error
		if unit, err = t.find(b.unit); err != nil {
			return err
		}
	}
	for {
		fields, line, err := t.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(fields) != len(t.names) {
			return &Error{File: t.path, Row: line, Reason: fmt.Sprintf("%d fields, the header has %d", len(fields), len(t.names))}
		}
		b.begin(line)
		for j, at := range places {
			b.text(j, fields[at])
		}
		if unit >= 0 {
			b.whose(fields[unit])
		}
		if err := b.end(); err != nil {
			return err
		}
		if b.count == sampleRows {
			b.expect(t.csv.InputOffset(), t.total)
		}
	}
}

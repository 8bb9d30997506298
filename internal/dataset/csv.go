package dataset

import (
	"bytes"
	"fmt"
	"io"
)

// csvTable is a CSV file whose header was read.
type csvTable struct {
	*lines
	src    *source
	names  []string
	places map[string]int // of the names
	blanks int            // line of the first blank line since the last record; 0: none
}

// openCSV reads the header.
func openCSV(src *source, in io.Reader) (*csvTable, error) {
	t := &csvTable{lines: newLines(src.path, in), src: src}
	for t.to < 3 && t.err == nil { // a short file or a failing one shows at the first record
		if err := t.fill(); err != nil {
			return nil, err
		}
	}
	switch mark := t.buf[:t.to]; {
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		t.from = 3
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, &Error{Schema: SchemaFormat, File: t.path, Row: 1, Reason: "the file is UTF-16; save it as UTF-8"}
	}
	line, ended, err := t.record()
	if err == io.EOF {
		return nil, &Error{File: t.path, Reason: "the file is empty"}
	}
	if err != nil {
		return nil, err
	}
	fields, err := t.split(line, ended)
	if err != nil {
		return nil, err
	}
	for _, field := range fields {
		t.names = append(t.names, trim(string(field)))
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

// record returns the first line of the next record, or io.EOF itself. Blank lines
// before the file's end do not count.
func (t *csvTable) record() (line []byte, ended bool, err error) {
	for {
		line, ended, err = t.next()
		if err != nil {
			return nil, false, err
		}
		if len(line) > 0 {
			if t.blanks > 0 {
				return nil, false, &Error{File: t.path, Row: t.blanks, Reason: "a blank line"}
			}
			return line, ended, nil
		}
		if t.blanks == 0 {
			t.blanks = t.line
		}
	}
}

// split returns a record's fields, good until the next call.
func (t *csvTable) split(line []byte, ended bool) ([][]byte, error) {
	if bytes.IndexByte(line, '"') >= 0 {
		return t.unquote(line, ended)
	}
	t.fields = t.fields[:0]
	for {
		field, rest, more := bytes.Cut(line, comma)
		t.fields = append(t.fields, field)
		if !more {
			return t.fields, nil
		}
		line = rest
	}
}

// rows adds every record to b. The first fault in a line's order of columns asked for is
// reported, and only of a record with as many fields as the header.
func (t *csvTable) rows(b *builder) error {
	// place[f] is what becomes of field f: the column's index, -1 for nothing.
	place := make([]int, len(t.names))
	for f := range place {
		place[f] = -1
	}
	for j, c := range b.columns {
		f, err := t.find(c.Name)
		if err != nil {
			return err
		}
		place[f] = j
	}
	unit := -1
	if b.unit != "" {
		var err error
		if unit, err = t.find(b.unit); err != nil {
			return err
		}
	}
	for {
		line, ended, err := t.record()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		at := t.line
		b.begin(at)
		if bytes.IndexByte(line, '"') < 0 {
			err = t.plain(b, line, place, unit)
		} else {
			err = t.quoted(b, line, ended, place, unit)
		}
		if err == nil {
			err = b.end()
		}
		if err != nil {
			return err
		}
		if b.count == sampleRows {
			b.expect(t.taken, t.src.before.Size())
		}
	}
	return nil
}

// plain reads a record without quotes in one pass.
func (t *csvTable) plain(b *builder, line []byte, place []int, unit int) error {
	p, f := 0, 0
	for ; f < len(place); f++ {
		end := 0
		if j := place[f]; j >= 0 {
			v, q, ok := number(line, p)
			if ok && (q == len(line) || line[q] == ',') {
				b.put(j, v)
				end = q
			} else {
				end = fieldEnd(line, p)
				b.text(j, line[p:end])
			}
		} else {
			end = fieldEnd(line, p)
			if f == unit {
				b.whose(line[p:end])
			}
		}
		if end == len(line) {
			f++
			p = -1
			break
		}
		p = end + 1
	}
	if f < len(place) || p >= 0 {
		return t.ragged(bytes.Count(line, comma)+1, t.line)
	}
	return nil
}

func fieldEnd(line []byte, from int) int {
	if i := bytes.IndexByte(line[from:], ','); i >= 0 {
		return from + i
	}
	return len(line)
}

func (t *csvTable) quoted(b *builder, line []byte, ended bool, place []int, unit int) error {
	at := t.line
	fields, err := t.unquote(line, ended)
	if err != nil {
		return err
	}
	if len(fields) != len(place) {
		return t.ragged(len(fields), at)
	}
	for f, field := range fields {
		if j := place[f]; j >= 0 {
			if v, q, ok := number(field, 0); ok && q == len(field) {
				b.put(j, v)
			} else {
				b.text(j, field)
			}
		} else if f == unit {
			b.whose(field)
		}
	}
	return nil
}

func (t *csvTable) ragged(fields, line int) *Error {
	return &Error{File: t.path, Row: line, Reason: fmt.Sprintf("%d fields, the header has %d", fields, len(t.names))}
}

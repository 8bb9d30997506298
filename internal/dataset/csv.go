package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ReadCSV reads the named columns of a CSV file, in the order given.
//
// The format is RFC 4180 with LF or CRLF, one header line, commas, UTF-8 with or
// without a byte order mark, and every row as long as the header. Spaces and tabs
// around names and values do not count. Values are read as strconv.ParseFloat does.
// Columns that are not asked for may hold anything. Blank lines at the end are
// ignored; anywhere else they are faults, since whether they are units cannot be
// told (in a file of one column a missing value can be written "").
//
// unit names the column whose value says which unit a row belongs to ([Rows]);
// empty: every row is a unit. It cannot be one of columns.
//
// Every error is an [*Error]. A fault is reported for the first line that has one.
func ReadCSV(path string, columns []Column, unit string, missing Missing) (*Rows, error) {
	return ReadCSVWith(path, columns, unit, missing, ReadOptions{})
}

// ReadCSVWith is [ReadCSV] with options.
func ReadCSVWith(path string, columns []Column, unit string, missing Missing, o ReadOptions) (*Rows, error) {
	if err := check(columns, unit, missing); err != nil {
		return nil, err
	}
	src, err := open(path, o)
	if err != nil {
		return nil, err
	}
	defer src.close()
	t, err := newCSV(src)
	if err != nil {
		return nil, err
	}
	at := make([]int, len(columns))
	for j, c := range columns {
		if at[j], err = t.find(c.Name); err != nil {
			return nil, err
		}
	}
	u, err := t.units(unit)
	if err != nil {
		return nil, err
	}
	b := newBuilder(path, columns, missing)
	for {
		record, line, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		i, err := u.add(record, line)
		if err != nil {
			return nil, err
		}
		if err := b.add(line, func(j int) string { return record[at[j]] }); err != nil {
			return nil, err
		}
		if u.byColumn() {
			b.rows.Unit = append(b.rows.Unit, i)
		}
		b.expect(t.csv.InputOffset(), src.before.Size())
	}
	if b.rows.Rows == 0 {
		return nil, &Error{File: path, Reason: "no rows follow the header"}
	}
	b.rows.Units = u.count
	if b.rows.SHA256, err = src.finish(); err != nil {
		return nil, err
	}
	return b.rows, nil
}

// InspectCSV counts the rows and units of a CSV file, reads its header and hashes
// it. It makes every check of [ReadCSV] but those of columns and values other than
// the unit column's, and counts the same units. unit is as there. Every error is an
// [*Error].
func InspectCSV(path, unit string) (Info, error) {
	if err := checkUnit(unit); err != nil {
		return Info{}, err
	}
	src, err := open(path, ReadOptions{})
	if err != nil {
		return Info{}, err
	}
	defer src.close()
	t, err := newCSV(src)
	if err != nil {
		return Info{}, err
	}
	u, err := t.units(unit)
	if err != nil {
		return Info{}, err
	}
	info := Info{Header: t.header}
	for {
		record, line, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Info{}, err
		}
		if _, err := u.add(record, line); err != nil {
			return Info{}, err
		}
		info.Rows++
	}
	if info.Rows == 0 {
		return Info{}, &Error{File: path, Reason: "no rows follow the header"}
	}
	info.Units = u.count
	if info.SHA256, err = src.finish(); err != nil {
		return Info{}, err
	}
	return info, nil
}

// table reads the lines of a CSV file.
type table struct {
	path   string
	csv    *csv.Reader
	header []string
	end    int // line on which the last record ended
}

// newCSV reads the header.
func newCSV(src *source) (*table, error) {
	mark, _ := src.Peek(3) // a short file or a failing one shows at the first record
	switch {
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		src.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, &Error{File: src.path, Row: 1, Reason: "the file is UTF-16; save it as UTF-8"}
	}
	t := &table{path: src.path, csv: csv.NewReader(src.Reader)} // uses our buffer: it is large enough
	t.csv.ReuseRecord = true
	record, _, err := t.next()
	if err == io.EOF {
		return nil, &Error{File: src.path, Reason: "the file is empty"}
	}
	if err != nil {
		return nil, err
	}
	first := make(map[string]int, len(record))
	for i, name := range record {
		name = trim(name)
		if at, ok := first[name]; ok {
			// By position: without a header line the "name" is a value.
			return nil, &Error{File: src.path, Row: 1, Reason: fmt.Sprintf("fields %d and %d of the header are the same", at+1, i+1)}
		}
		first[name] = i
		t.header = append(t.header, name)
	}
	return t, nil
}

// find gives the index in a record of a column.
func (t *table) find(name string) (int, error) {
	at := slices.Index(t.header, name)
	if at < 0 {
		reason := fmt.Sprintf("none of the header's %d fields has this name", len(t.header))
		if len(t.header) == 1 {
			reason = "the header is one field of another name; fields are separated by commas"
		}
		return 0, &Error{File: t.path, Row: 1, Column: name, Reason: reason}
	}
	return at, nil
}

// next gives a record, good until the next call, and the line it begins on, or
// io.EOF itself.
func (t *table) next() ([]string, int, error) {
	record, err := t.csv.Read()
	if err == io.EOF {
		return nil, 0, err
	}
	if fault, ok := errors.AsType[*csv.ParseError](err); ok {
		// The reader skips blank lines; one before this fault comes first.
		if fault.StartLine > t.end+1 {
			return nil, 0, t.blank()
		}
		e := &Error{File: t.path, Row: fault.Line}
		switch fault.Err {
		case csv.ErrFieldCount:
			e.Reason = fmt.Sprintf("%d fields, the header has %d", len(record), len(t.header))
		case csv.ErrBareQuote:
			e.Reason = `a quote (") inside a field that does not begin with one`
		case csv.ErrQuote:
			e.Reason = `a quoted field is not closed, or text follows its closing quote (")`
		default:
			e.Reason = "not CSV"
		}
		return nil, 0, e
	}
	if err != nil {
		return nil, 0, unreadable(t.path, err)
	}
	line, _ := t.csv.FieldPos(0)
	if line != t.end+1 {
		return nil, 0, t.blank()
	}
	last := len(record) - 1
	t.end, _ = t.csv.FieldPos(last)
	t.end += strings.Count(record[last], "\n") // a line break inside quotes, LF after the reader's normalization
	return record, line, nil
}

func (t *table) blank() *Error {
	return &Error{File: t.path, Row: t.end + 1, Reason: "a blank line"}
}

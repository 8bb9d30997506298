package dataset

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// slowCSV is what ReadCSV must do, by encoding/csv and strconv alone.
func slowCSV(path string, text []byte, columns []Column, unit string, missing Missing) (*Rows, error) {
	if err := check(columns, unit, missing, ""); err != nil {
		return nil, err
	}
	t, err := newSlow(path, text)
	if err != nil {
		return nil, err
	}
	at := make([]int, len(columns))
	for j, c := range columns {
		if at[j], err = t.find(c.Name); err != nil {
			return nil, err
		}
	}
	who := -1
	if unit != "" {
		if who, err = t.find(unit); err != nil {
			return nil, err
		}
	}
	seen := map[string]int{}
	r := &Rows{D: len(columns), SHA256: sha256.Sum256(text)}
	for {
		record, line, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if who >= 0 {
			value := strings.Trim(record[who], " \t")
			if slowMissing(value) {
				return nil, &Error{File: path, Row: line, Column: unit, Reason: "the unit is missing"}
			}
			i, ok := seen[value]
			if !ok {
				i = len(seen)
				seen[strings.Clone(value)] = i
			}
			r.Unit = append(r.Unit, i)
		}
		drop := false
		for j, c := range columns {
			v, gone, reason := c.slowValue(record[at[j]])
			if gone && missing == MissingError {
				reason = "the value is missing"
			}
			if reason != "" {
				return nil, &Error{File: path, Row: line, Column: c.Name, Reason: reason}
			}
			drop = drop || gone
			r.Values = append(r.Values, v)
		}
		if drop {
			clear(r.Values[r.Rows*r.D:])
			r.Dropped++
			r.Absent = append(r.Absent, r.Rows)
		}
		r.Rows++
	}
	if r.Units = r.Rows; r.Rows == 0 {
		return nil, &Error{File: path, Reason: "no rows follow the header"}
	}
	if who >= 0 {
		r.Units = len(seen)
	}
	return r, nil
}

func slowMissing(field string) bool {
	return field == "" || field == "NA" || strings.EqualFold(field, "nan")
}

func (c Column) slowValue(field string) (v float64, missing bool, reason string) {
	field = strings.Trim(field, " \t")
	if slowMissing(field) {
		return 0, true, ""
	}
	v, err := strconv.ParseFloat(field, 64)
	if math.IsInf(v, 0) {
		if err != nil {
			return 0, false, "the number is beyond float64"
		}
		return 0, false, "the value is infinite"
	}
	if err != nil || math.IsNaN(v) {
		return 0, false, "not a number"
	}
	if !(math.Abs(v) < Limit) {
		return 0, false, "the value is 2^480 or more"
	}
	end := math.Nextafter(Limit, 0)
	return max(-end, min((v-c.Offset)/c.Scale, end)), false, ""
}

// table reads the lines of a CSV file.
type slowTable struct {
	path   string
	csv    *csv.Reader
	header []string
	end    int // line on which the last record ended
}

// newCSV reads the header.
func newSlow(path string, text []byte) (*slowTable, error) {
	src := bufio.NewReader(bytes.NewReader(text))
	mark, _ := src.Peek(3)
	switch {
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		src.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, &Error{File: path, Row: 1, Reason: "the file is UTF-16; save it as UTF-8"}
	}
	t := &slowTable{path: path, csv: csv.NewReader(src)} // uses our buffer: it is large enough
	t.csv.ReuseRecord = true
	record, _, err := t.next()
	if err == io.EOF {
		return nil, &Error{File: path, Reason: "the file is empty"}
	}
	if err != nil {
		return nil, err
	}
	first := make(map[string]int, len(record))
	for i, name := range record {
		name = trim(name)
		if at, ok := first[name]; ok {
			// By position: without a header line the "name" is a value.
			return nil, &Error{File: path, Row: 1, Reason: fmt.Sprintf("fields %d and %d of the header are the same", at+1, i+1)}
		}
		first[name] = i
		t.header = append(t.header, name)
	}
	return t, nil
}

// find returns the index in a record of a column.
func (t *slowTable) find(name string) (int, error) {
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

// next returns a record, good until the next call, and the line it begins on, or
// io.EOF itself.
func (t *slowTable) next() ([]string, int, error) {
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
	// a line break inside quotes, LF after the reader's normalization
	t.end += strings.Count(record[last], "\n")
	return record, line, nil
}

func (t *slowTable) blank() *Error {
	return &Error{File: t.path, Row: t.end + 1, Reason: "a blank line"}
}

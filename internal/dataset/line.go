package dataset

import (
	"bytes"
	"fmt"
	"io"
)

// maxRecord bounds a record: a quote that is never closed must not take the rest
// of a file into memory. The widest row that a study can have is below half of it.
const maxRecord = 64 << 20

// lines cuts a CSV file into records.
type lines struct {
	path  string
	in    io.Reader
	buf   []byte // what was read and not yet given is buf[from:to]
	from  int
	to    int
	err   error // of in, once it gave one; io.EOF too
	line  int   // number of the line last read, from 1
	taken int64 // bytes that were given

	text   []byte   // of a record with quotes, unquoted
	ends   []int    // of its fields in text
	fields [][]byte // the record as record gives it
}

func newLines(path string, in io.Reader) *lines {
	return &lines{path: path, in: in, buf: make([]byte, bufferSize)}
}

// next returns a line without its end, LF or CRLF, good until the next call; ended is
// false of one that the file's end cut off, which may have a CR there. The error is
// io.EOF itself after the last line, or an *Error.
func (l *lines) next() (line []byte, ended bool, err error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[l.from+searched:l.to], '\n'); i >= 0 {
			line = l.buf[l.from : l.from+searched+i]
			l.from += len(line) + 1
			l.taken += int64(len(line)) + 1
			ended = true
			break
		}
		searched = l.to - l.from
		if l.err != nil {
			if l.err != io.EOF {
				return nil, false, unreadable(l.path, l.err)
			}
			if searched == 0 {
				return nil, false, io.EOF
			}
			line = l.buf[l.from:l.to]
			l.from = l.to
			l.taken += int64(len(line))
			break
		}
		if err := l.fill(); err != nil {
			return nil, false, err
		}
	}
	l.line++
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, ended, nil
}

// fill reads more behind what is there, and makes room first.
func (l *lines) fill() error {
	if l.from > 0 {
		l.to = copy(l.buf, l.buf[l.from:l.to])
		l.from = 0
	}
	if l.to == len(l.buf) {
		if l.to >= maxRecord {
			return l.tooLong()
		}
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	for range 100 { // as bufio does: a reader may give nothing now and then
		n, err := l.in.Read(l.buf[l.to:])
		l.to += n
		if l.err = err; n > 0 || err != nil {
			return nil
		}
	}
	l.err = io.ErrNoProgress
	return nil
}

func (l *lines) tooLong() *Error {
	return &Error{File: l.path, Row: l.line + 1, Reason: fmt.Sprintf("a row of more than %d MiB; is a quote not closed?", maxRecord>>20)}
}

// unquote returns the fields of the record that begins with line, which may go on over
// further lines; good until the next call. It refuses what encoding/csv refuses.
func (l *lines) unquote(line []byte, ended bool) ([][]byte, error) {
	l.text, l.ends = l.text[:0], l.ends[:0]
	for {
		if len(line) == 0 || line[0] != '"' {
			field, rest, more := bytes.Cut(line, comma)
			if bytes.IndexByte(field, '"') >= 0 {
				return nil, &Error{File: l.path, Row: l.line, Reason: `a quote (") inside a field that does not begin with one`}
			}
			l.text = append(l.text, field...)
			l.ends = append(l.ends, len(l.text))
			if !more {
				break
			}
			line = rest
			continue
		}
		line = line[1:]
		for {
			i := bytes.IndexByte(line, '"')
			if i >= 0 {
				l.text = append(l.text, line[:i]...)
				if line = line[i+1:]; len(line) > 0 && line[0] == '"' {
					l.text = append(l.text, '"')
					line = line[1:]
					continue
				}
				break
			}
			l.text = append(l.text, line...)
			if ended {
				l.text = append(l.text, '\n')
			}
			if len(l.text) > maxRecord {
				return nil, l.tooLong()
			}
			var err error
			if line, ended, err = l.next(); err == io.EOF {
				return nil, l.open()
			} else if err != nil {
				return nil, err
			}
		}
		l.ends = append(l.ends, len(l.text))
		if len(line) == 0 {
			break
		}
		if line[0] != ',' {
			return nil, l.open()
		}
		line = line[1:]
	}
	l.fields = l.fields[:0]
	from := 0
	for _, end := range l.ends {
		l.fields = append(l.fields, l.text[from:end])
		from = end
	}
	return l.fields, nil
}

var comma = []byte{','}

func (l *lines) open() *Error {
	return &Error{File: l.path, Row: l.line, Reason: `a quoted field is not closed, or text follows its closing quote (")`}
}

package dataset

import (
	"fmt"
	"strconv"
	"strings"
)

// Error is one fault of a file, or of the columns asked of it. It never carries a
// value of the data, nor any text of the file: a file without a header has a row
// of data where the names should be.
type Error struct {
	File   string // path as given to the reader; empty if the fault is in the columns asked for
	Row    int    // line of a text file, or row of data, from 1; 0 if the fault is in none
	Column string // name as in the proposal; empty if the fault is in no such column
	Reason string
	Err    error // the operating system's error, if that was the fault
	// Near are the data set's own names that are like Column, where no column has that name: for
	// this site's operator, and never part of the message, which goes into logs. Of a file without
	// a header they may be values.
	Near []string
	// Schema says what of the schema is at fault, which no value in the rows decides. Empty for
	// every other fault.
	Schema Schema
	// Value is set where a value in a row is at fault, or missing.
	Value bool
	// Remedy is what a site can do, such as write in agent.toml, where that is known. The message
	// is without it.
	Remedy string

	// Others are the same fault of other columns: an Error is of the first one of them.
	Others []*Error

	word   string // what Row counts; empty: lines
	record bool   // of one record of text, after which others may be read
}

// wholeFile is the remedy for a source that somebody writes while it is read.
const wholeFile = "try again once nothing writes it; a program that writes it should write another file in the same folder, and rename that at the end"

// AskServer is the remedy for a query that a server refused, or did not answer.
const AskServer = "see that the database server runs, and that the user of the connection string can run the query there (psql, mariadb); or correct query, dsn_file or dsn_env of [[dataset]] in agent.toml. A study that waits asks again within a minute"

// Schema is a part of a data set's form.
type Schema string

// The parts that can be at fault.
const (
	SchemaColumns Schema = "columns" // the names of its columns
	SchemaFormat  Schema = "format"  // the file's format, or a column's type
)

// Unfit are the columns whose type cannot be what is asked of them, in order. They are reported
// together, so that a caller that leaves them out reads again once, not once a column.
type Unfit struct{ first *Error }

// Add takes one more.
func (u *Unfit) Add(e *Error) {
	if u.first == nil {
		u.first = e
		return
	}
	u.first.Others = append(u.first.Others, e)
}

// Or returns the first one's error, with the others, or err if there is none.
func (u *Unfit) Or(err error) error {
	if u.first != nil {
		return u.first
	}
	return err
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	if e.Row > 0 {
		word := e.word
		if word == "" {
			word = "line"
		}
		b.WriteString(word + " " + strconv.Itoa(e.Row))
		if e.Column == "" {
			b.WriteString(": ")
		} else {
			b.WriteString(", ")
		}
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "column %q: ", e.Column)
	}
	b.WriteString(e.Reason)
	return b.String()
}

// reasonMissing is the Reason of a value that is missing.
const reasonMissing = "the value is missing"

// Missing reports whether the fault is a missing value, which another study would take.
func (e *Error) Missing() bool { return e.Value && e.Reason == reasonMissing }

// Unwrap returns the operating system's error, such as fs.ErrNotExist, or nil.
func (e *Error) Unwrap() error { return e.Err }

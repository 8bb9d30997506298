package dataset

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// Query is a query to a database server, whose answer is a data set.
//
// It runs in a transaction that is read-only and REPEATABLE READ, as one statement, and must
// say ORDER BY something that tells every row from every other and is not a measured
// value: which place a unit has decides with which others it is paired or grouped, so it must
// not hang on what others measured; and the pin is of the rows in the query's order, so that
// two rows in either order are two data sets. That it says ORDER BY is checked; that it
// is enough cannot be.
//
// The pin of PostgreSQL's is SHA-256 over "covey query 1\n", the number of columns and, in the
// query's order, their names, then every row's values as PostgreSQL writes them in text (UTC, ISO
// dates, shortest digits): each a length of 32 bits, little-endian, and the bytes; NULL is the
// length 2^32-1. MariaDB's is that of package mariadb.
//
// Columns of numbers are the server's integers, floating-point numbers and decimals. NULL is a
// missing value, and so is NaN. A database changes: the rows of an approved study are those of its
// cache file, and the query is asked again only if that is lost.
type Query struct {
	SQL string
	// Server is [Postgres] or [MariaDB]; empty: Postgres.
	Server string
	// DSNFile holds the connection string, as the server's package reads it. Only its owner may
	// read it.
	DSNFile string
	// DSNEnv is the environment variable that holds it instead.
	DSNEnv string
	// Timeout of the statement; 0: [QueryTimeout].
	Timeout time.Duration
}

// The kinds of servers, and all of them. MariaDB is MySQL too.
const (
	Postgres = "postgres"
	MariaDB  = "mariadb"
)

// Servers lists the kinds of servers.
var Servers = []string{Postgres, MariaDB}

// QueryTimeout is how long a query may take.
const QueryTimeout = 10 * time.Minute

// Name is what an error calls the source.
func (q Query) Name() string {
	if q.DSNFile != "" {
		return q.DSNFile
	}
	return "$" + q.DSNEnv
}

// Limit is the timeout that holds.
func (q Query) Limit() time.Duration {
	if q.Timeout > 0 {
		return q.Timeout
	}
	return QueryTimeout
}

// server is the kind that holds.
func (q Query) server() string { return cmp.Or(q.Server, Postgres) }

// MaxDSN bounds a connection string, in bytes.
const MaxDSN = 64 << 10

// DSN returns the connection string. It is in no error.
func (q Query) DSN() (string, error) {
	text := os.Getenv(q.DSNEnv)
	if q.DSNFile != "" {
		raw, err := readSecret(q.DSNFile)
		if err != nil {
			return "", err
		}
		text = string(raw)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", &Error{File: q.Name(), Reason: "holds no connection string"}
	}
	return text, nil
}

// readSecret reads a file that only its owner may read.
func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, &Error{File: path, Reason: "is not a file"}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, &Error{File: path, Reason: fmt.Sprintf("others may read it (mode %04o); chmod 600 it", info.Mode().Perm())}
	case info.Size() > MaxDSN:
		return nil, &Error{File: path, Reason: fmt.Sprintf("is longer than %d bytes", MaxDSN)}
	}
	raw, err := io.ReadAll(io.LimitReader(f, MaxDSN))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return raw, nil
}

// Check returns the fault of a query's text; nil is in order as far as can be seen.
func (q Query) Check() error {
	switch q.server() {
	case Postgres:
		return checkQuery(q.SQL)
	case MariaDB:
		return checkTop(outermostMariaDB(q.SQL))
	}
	return &Error{Reason: fmt.Sprintf("server must be one of %q", Servers)}
}

// describe adds what decides about the answer and is no secret.
func (q Query) describe(word func(string)) {
	word(q.server())
	word(q.SQL)
	if driver := queryDrivers[q.server()]; driver != nil {
		driver.Describe(q, word)
	}
}

// answered is the answer to a query as an input.
type answered struct {
	driven
	answer Answer
}

func (a answered) pin() ([32]byte, error) { return a.answer.Pin(), nil }
func (a answered) close()                 { a.answer.Close() }

// open asks the query.
func (q Query) open() (input, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	driver := queryDrivers[q.server()]
	if driver == nil {
		return nil, &Error{File: q.Name(), Reason: "this program asks no queries: the agent does"}
	}
	answer, err := driver.Ask(q)
	if err != nil {
		return nil, err
	}
	return answered{driven{answer}, answer}, nil
}

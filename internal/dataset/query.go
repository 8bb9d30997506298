package dataset

import (
	"strings"
	"time"
)

// Query is a query to a PostgreSQL server, whose answer is a data set.
//
// It runs in a transaction that is read-only and REPEATABLE READ, as one statement, and must
// say ORDER BY something that tells every row from every other and is none of the measured
// values: which place a unit has decides with which others it is paired or grouped, so it must
// not hang on what others measured; and the pin is of the rows in the query's order, so that
// two rows in either order are two data sets. That it says ORDER BY is checked; that it
// is enough cannot be.
//
// The pin is SHA-256 over "covey query 1\n", the number of columns and, in the query's order,
// their names, then every row's values as PostgreSQL writes them in text (UTC, ISO dates,
// shortest digits): each a length of 32 bits, little-endian, and the bytes; NULL is the
// length 2^32-1.
//
// Columns of numbers are smallint, integer, bigint, real, double precision and numeric. NULL is a
// missing value, and so is NaN. A database changes: the rows of an approved study are those of its
// cache file, and the query is asked again only if that is lost.
type Query struct {
	SQL string
	// DSNFile holds the connection string, as libpq knows it. Only its owner may read it.
	DSNFile string
	// DSNEnv is the environment variable that holds it instead.
	DSNEnv string
	// Timeout of the statement; 0: [QueryTimeout].
	Timeout time.Duration
}

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

// CheckQuery returns the fault of a query's text; nil is in order as far as can be seen.
func CheckQuery(sql string) error {
	top := outermost(sql)
	switch {
	case strings.TrimSpace(top) == "":
		return &Error{Reason: "the query is empty"}
	case !ordered(top):
		return &Error{Reason: "the query must end in ORDER BY columns that tell every row from every other and are none of the measured values, such as a row's key"}
	}
	return nil
}

func ordered(top string) bool {
	words := strings.Fields(strings.ToLower(top))
	for i, w := range words {
		if w == "by" && i > 0 && words[i-1] == "order" {
			return true
		}
	}
	return false
}

// outermost is a statement without comments, without what stands in quotes and without what
// stands in parentheses.
func outermost(sql string) string {
	var out strings.Builder
	depth := 0
	for len(sql) > 0 {
		switch {
		case strings.HasPrefix(sql, "--"):
			_, sql, _ = strings.Cut(sql, "\n")
			out.WriteByte(' ')
			continue
		case strings.HasPrefix(sql, "/*"):
			sql = afterComment(sql)
			out.WriteByte(' ')
			continue
		case sql[0] == '\'' || sql[0] == '"':
			_, sql, _ = strings.Cut(sql[1:], sql[:1]) // '' is two strings side by side
			out.WriteByte(' ')
			continue
		case sql[0] == '$':
			if tag, rest, ok := strings.Cut(sql[1:], "$"); ok && !strings.ContainsAny(tag, " \t\n'\"();,") {
				_, sql, _ = strings.Cut(rest, "$"+tag+"$")
				out.WriteByte(' ')
				continue
			}
		case sql[0] == '(':
			depth++
			out.WriteByte(' ')
		case sql[0] == ')':
			depth = max(0, depth-1) // one too many closes nothing; the server refuses it
			sql = sql[1:]
			out.WriteByte(' ')
			continue
		}
		if depth <= 0 {
			out.WriteByte(sql[0])
		}
		sql = sql[1:]
	}
	return out.String()
}

// afterComment skips a comment; they nest.
func afterComment(sql string) string {
	depth := 0
	for len(sql) > 0 {
		switch {
		case strings.HasPrefix(sql, "/*"):
			depth++
			sql = sql[2:]
		case strings.HasPrefix(sql, "*/"):
			sql = sql[2:]
			if depth--; depth == 0 {
				return sql
			}
		default:
			sql = sql[1:]
		}
	}
	return ""
}

// describe adds what decides about the answer and is no secret.
func (q Query) describe(word func(string)) {
	word("postgres")
	word(q.SQL)
	if queryDriver != nil {
		queryDriver.Describe(q, word)
	}
}

// scan asks the query and gives its rows to a builder.
func (q Query) scan(r Request, prepare func(*builder), header *[]string) (*Rows, *builder, error) {
	if err := CheckQuery(q.SQL); err != nil {
		return nil, nil, err
	}
	if queryDriver == nil {
		return nil, nil, &Error{File: q.Name(), Reason: "this program asks no queries: the agent does"}
	}
	t, err := queryDriver.Ask(q)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	if header != nil {
		*header = t.Header()
	}
	b := newBuilder(q.Name(), "row", r.Columns, r.Unit, r.Missing, r.Precision, nil)
	prepare(b)
	if err := t.Rows(Builder{b}); err != nil {
		return nil, nil, err
	}
	rows, err := b.finish()
	if err != nil {
		return nil, nil, err
	}
	rows.SHA256 = t.Pin()
	return rows, b, nil
}

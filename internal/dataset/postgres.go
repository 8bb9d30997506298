package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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

const (
	connectTimeout = 20 * time.Second
	maxDSN         = 64 << 10
)

// name is what an error calls the source.
func (q Query) name() string {
	if q.DSNFile != "" {
		return q.DSNFile
	}
	return "$" + q.DSNEnv
}

func (q Query) timeout() time.Duration {
	if q.Timeout > 0 {
		return q.Timeout
	}
	return QueryTimeout
}

// CheckQuery gives the fault of a query's text; nil is in order as far as can be seen.
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

// config reads the connection string. Its text is in no error.
func (q Query) config() (*pgconn.Config, error) {
	text := os.Getenv(q.DSNEnv)
	if q.DSNFile != "" {
		raw, err := readSecret(q.DSNFile)
		if err != nil {
			return nil, err
		}
		text = string(raw)
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, &Error{File: q.name(), Reason: "no connection string is there"}
	}
	c, err := pgconn.ParseConfig(text)
	if err != nil {
		return nil, &Error{File: q.name(), Reason: `is no connection string, such as "host=db.example user=covey dbname=clinic sslmode=verify-full"`}
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "covey-agent"
	}
	return c, nil
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
		return nil, &Error{File: path, Reason: "is no file"}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, &Error{File: path, Reason: fmt.Sprintf("others may read it (mode %04o); chmod 600 it", info.Mode().Perm())}
	case info.Size() > maxDSN:
		return nil, &Error{File: path, Reason: fmt.Sprintf("is longer than %d bytes", maxDSN)}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxDSN))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return raw, nil
}

// describe adds what decides about the answer and is no secret. Of a string that cannot be read
// nothing is added: the query fails for it.
func (q Query) describe(word func(string)) {
	word("postgres")
	word(q.SQL)
	if c, err := q.config(); err == nil {
		word(c.Host)
		word(strconv.Itoa(int(c.Port)))
		word(c.Database)
		word(c.User)
	}
}

// postgresTable is the answer to a query, under way.
type postgresTable struct {
	query  Query
	reader *pgconn.ResultReader
	fields []pgconn.FieldDescription
	names  []string
	first  bool // the first row was read
	hash   hash.Hash
	pin    []byte // not hashed yet
}

// scan asks the query and gives its rows to a builder.
func (q Query) scan(r Request, prepare func(*builder), header *[]string) (rows *Rows, b *builder, err error) {
	if err := CheckQuery(q.SQL); err != nil {
		return nil, nil, err
	}
	c, err := q.config()
	if err != nil {
		return nil, nil, err
	}
	// The server ends the statement; this is for one that does not answer any more.
	ctx, cancel := context.WithTimeout(context.Background(), q.timeout()+2*c.ConnectTimeout)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, c)
	if err != nil {
		return nil, nil, q.refused("cannot connect", err)
	}
	defer conn.Close(ctx) // read-only: nothing to lose
	if err := conn.Exec(ctx, q.begin()).Close(); err != nil {
		return nil, nil, q.refused("cannot begin a transaction", err)
	}
	t := &postgresTable{query: q, reader: conn.ExecParams(ctx, q.SQL, nil, nil, nil, []int16{0}), hash: sha256.New()}
	defer t.reader.Close()
	if err := t.begin(); err != nil {
		return nil, nil, err
	}
	if header != nil {
		*header = t.names
	}
	b = newBuilder(q.name(), "row", r.Columns, r.Unit, r.Missing, r.Precision, nil)
	prepare(b)
	if err := t.rows(b); err != nil {
		return nil, nil, err
	}
	if rows, err = b.finish(); err != nil {
		return nil, nil, err
	}
	t.hash.Write(t.pin)
	rows.SHA256 = [32]byte(t.hash.Sum(nil))
	return rows, b, nil
}

// begin is the statements before the query. What the text of values depends on is set, so that
// the pin does not hang on a server's settings; all of it ends with the transaction.
func (q Query) begin() string {
	return fmt.Sprintf(`begin transaction isolation level repeatable read, read only; set local client_encoding = 'UTF8'; set local timezone = 'UTC';
set local datestyle = 'ISO'; set local intervalstyle = 'postgres'; set local extra_float_digits = 1; set local bytea_output = 'hex';
set local statement_timeout = %d`, q.timeout().Milliseconds())
}

// begin reads the names of the columns and the first row.
func (t *postgresTable) begin() error {
	t.first = t.reader.NextRow()
	t.fields = t.reader.FieldDescriptions()
	if len(t.fields) == 0 {
		if _, err := t.reader.Close(); err != nil {
			return t.query.refused("the query failed", err)
		}
		return &Error{File: t.query.name(), Reason: "the query gives no columns"}
	}
	for _, f := range t.fields {
		t.names = append(t.names, trim(f.Name))
	}
	if i, j := twins(t.names); j > 0 {
		return &Error{Schema: SchemaColumns, File: t.query.name(), Column: t.names[i], Reason: "two columns of the query have this name"}
	}
	t.pin = append(t.pin, "covey query 1\n"...)
	t.pin = binary.LittleEndian.AppendUint32(t.pin, uint32(len(t.names)))
	for _, name := range t.names {
		t.value([]byte(name))
	}
	return nil
}

// value adds a value to the pin.
func (t *postgresTable) value(v []byte) {
	length := uint32(1<<32 - 1)
	if v != nil {
		length = uint32(len(v)) // PostgreSQL's values are below 2^30 bytes
	}
	t.pin = binary.LittleEndian.AppendUint32(t.pin, length)
	if t.pin = append(t.pin, v...); len(t.pin) > 64<<10 {
		t.hash.Write(t.pin)
		t.pin = t.pin[:0]
	}
}

func (t *postgresTable) find(name string) (int, error) {
	for i, n := range t.names {
		if n == name {
			return i, nil
		}
	}
	return 0, &Error{Schema: SchemaColumns, File: t.query.name(), Column: name, Reason: fmt.Sprintf("none of the query's %d columns has this name", len(t.names))}
}

// Types of numbers, as pg_type names them by OID.
const (
	oidInt8, oidInt2, oidInt4       = 20, 21, 23
	oidFloat4, oidFloat8, oidNumber = 700, 701, 1700
)

func (t *postgresTable) rows(b *builder) error {
	at := make([]int, len(b.columns))
	for j, c := range b.columns {
		var err error
		if at[j], err = t.find(c.Name); err != nil {
			return err
		}
		switch t.fields[at[j]].DataTypeOID {
		case oidInt2, oidInt4, oidInt8, oidFloat4, oidFloat8, oidNumber:
		default:
			return &Error{Schema: SchemaFormat, File: t.query.name(), Column: c.Name, Reason: "its type is no number; cast it in the query (::double precision)"}
		}
	}
	who := -1
	if b.unit != "" {
		var err error
		if who, err = t.find(b.unit); err != nil {
			return err
		}
	}
	for more := t.first; more; more = t.reader.NextRow() {
		values := t.reader.Values()
		for _, v := range values {
			t.value(v)
		}
		b.begin(b.count + 1)
		for j, i := range at {
			if t.fields[i].DataTypeOID == oidFloat4 {
				b.real(j, values[i])
			} else {
				b.text(j, values[i])
			}
		}
		if who >= 0 {
			b.whose(values[who])
		}
		if err := b.end(); err != nil {
			return err
		}
	}
	if _, err := t.reader.Close(); err != nil {
		return t.query.refused("the query failed", err)
	}
	return nil
}

// real gives a column the float32 that its digits name, not the float64.
func (b *builder) real(j int, field []byte) {
	if v, err := strconv.ParseFloat(string(field), 32); err == nil {
		b.put(j, v)
		return
	}
	b.text(j, field)
}

// refused words a fault of the server by its code: its own text may hold values.
func (q Query) refused(what string, err error) error {
	e := &Error{File: q.name(), Reason: what}
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		e.Reason += ": SQLSTATE " + said.Code
		if words := sqlstates[said.Code]; words != "" {
			e.Reason += " (" + words + ")"
		}
		if said.Code == "57014" {
			e.Reason += fmt.Sprintf("; the limit is %v (query_timeout)", q.timeout())
		}
		return e
	}
	network, isNetwork := errors.AsType[*net.OpError](err)
	lookup, isLookup := errors.AsType[*net.DNSError](err)
	switch {
	case isLookup:
		e.Reason += ": the host's name is not known: " + lookup.Name
	case isNetwork && network.Addr != nil:
		e.Reason += fmt.Sprintf(": %s %s: %v", network.Op, network.Addr, network.Err)
	case errors.Is(err, context.DeadlineExceeded):
		e.Reason += ": no answer in time"
	case errors.Is(err, fs.ErrNotExist):
		e.Reason += ": there is no such socket"
	case strings.Contains(err.Error(), "tls"):
		e.Reason += ": TLS failed (sslmode, sslrootcert)"
	default:
		e.Reason += ": the connection failed"
	}
	return e
}

// sqlstates are the codes that operators meet.
var sqlstates = map[string]string{
	"08006": "the connection broke", "25006": "it writes, and the transaction is read-only", "28000": "the user may not log in from here",
	"28P01": "the password is wrong", "3D000": "no such database", "3F000": "no such schema", "42501": "permission denied", "42601": "a syntax error, or several statements",
	"42703": "no such column", "42704": "no such type or object", "42883": "no such function or operator", "42P01": "no such table", "22P02": "a cast of what is no number",
	"22012": "a division by zero", "53300": "too many connections", "57014": "it took too long", "57P01": "the server is shutting down", "57P03": "the server is starting",
}

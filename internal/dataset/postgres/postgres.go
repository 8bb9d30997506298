// Package postgres runs the queries of package dataset on PostgreSQL servers. A program can once it
// imports this package.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"covey/internal/dataset"
	"covey/internal/dataset/server"
)

// driver asks PostgreSQL servers.
type driver struct{}

func init() { dataset.RegisterQuery(dataset.Postgres, driver{}) }

const (
	connectTimeout = 20 * time.Second
	maxDSN         = dataset.MaxDSN
	// maxMessage bounds a row, as one of a text file is bounded. The server's own bound is 1 GiB.
	maxMessage = 64 << 20
)

// config reads the connection string. Its text is in no error.
func config(q dataset.Query) (*pgconn.Config, error) {
	text, err := q.DSN()
	if err != nil {
		return nil, err
	}
	c, err := pgconn.ParseConfig(text)
	if err != nil {
		return nil, &dataset.Error{File: q.Name(), Reason: `is not a connection string, such as "host=db.example user=covey dbname=clinic sslmode=verify-full"`}
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "covey-agent"
	}
	c.MaxProtocolMessageBodyLen = maxMessage
	return c, nil
}

// Describe adds nothing of a string that cannot be read: the query fails for it.
func (driver) Describe(q dataset.Query, word func(string)) {
	if c, err := config(q); err == nil {
		word(c.Host)
		word(strconv.Itoa(int(c.Port)))
		word(c.Database)
		word(c.User)
	}
}

// postgresTable is the answer to a query, under way.
type postgresTable struct {
	server.Answer
	query  dataset.Query
	conn   *pgconn.PgConn
	end    func() // closes conn
	reader *pgconn.ResultReader
	fields []pgconn.FieldDescription
	first  bool // the first row was read
}

// Ask implements dataset.QueryDriver.
func (driver) Ask(q dataset.Query) (_ dataset.Answer, err error) {
	c, err := config(q)
	if err != nil {
		return nil, err
	}
	// The server ends the statement; this is for one that does not answer any more.
	ctx, cancel := context.WithTimeout(context.Background(), q.Limit()+2*c.ConnectTimeout)
	t := &postgresTable{query: q, end: cancel}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	if t.conn, err = pgconn.ConnectConfig(ctx, c); err != nil {
		return nil, refused(q, "cannot connect", err)
	}
	t.end = func() {
		t.conn.Close(ctx) // read-only: nothing to lose
		cancel()
	}
	if err := t.conn.Exec(ctx, begin(q)).Close(); err != nil {
		return nil, refused(q, "cannot begin a transaction", err)
	}
	t.reader = t.conn.ExecParams(ctx, q.SQL, nil, nil, nil, []int16{0})
	if err := t.begin(); err != nil {
		return nil, err
	}
	return t, nil
}

// Close ends the query, the connection and the wait for both.
func (t *postgresTable) Close() {
	if t.reader != nil {
		t.reader.Close()
	}
	t.end()
}

// begin is the statements before the query. What the text of values depends on is set, so that
// the pin does not hang on a server's settings; all of it ends with the transaction.
func begin(q dataset.Query) string {
	return fmt.Sprintf(`begin transaction isolation level repeatable read, read only; set local client_encoding = 'UTF8'; set local timezone = 'UTC';
set local datestyle = 'ISO'; set local intervalstyle = 'postgres'; set local extra_float_digits = 1; set local bytea_output = 'hex';
set local statement_timeout = %d`, q.Limit().Milliseconds())
}

// begin reads the names of the columns and the first row.
func (t *postgresTable) begin() error {
	t.first = t.reader.NextRow()
	t.fields = t.reader.FieldDescriptions()
	if len(t.fields) == 0 {
		if _, err := t.reader.Close(); err != nil {
			return refused(t.query, "the query failed", err)
		}
	}
	var names []string
	for _, f := range t.fields {
		names = append(names, f.Name)
	}
	if err := t.Begin(t.query, "covey query 1\n", names); err != nil {
		return err
	}
	for _, name := range t.Header() {
		t.Value([]byte(name))
	}
	return nil
}

// Types, as pg_type names them by OID.
const (
	oidBool                         = 16
	oidInt8, oidInt2, oidInt4       = 20, 21, 23
	oidFloat4, oidFloat8, oidNumber = 700, 701, 1700
	oidDate, oidTime, oidTimeTZ     = 1082, 1114, 1184 // without and with a time of day
)

// dated reports whether a type's values are dates, which begin YYYY-MM-DD.
func dated(oid uint32) bool { return oid == oidDate || oid == oidTime || oid == oidTimeTZ }

// Rows implements dataset.Table.
func (t *postgresTable) Rows(b dataset.Builder) error {
	at, who, err := t.Places(b, func(j, i int) string {
		switch t.fields[i].DataTypeOID {
		case oidInt2, oidInt4, oidInt8, oidFloat4, oidFloat8, oidNumber:
			if b.Reading(j).As == dataset.Days {
				return "its type is a number, which cannot hold a date"
			}
		default:
			if !b.Texts(j) {
				return "its type is not a number; cast it in the query (::double precision)"
			}
		}
		return ""
	})
	if err != nil {
		return err
	}
	for more := t.first; more; more = t.reader.NextRow() {
		values := t.reader.Values()
		for _, v := range values {
			t.Value(v)
		}
		b.Begin()
		for j, i := range at {
			switch text := values[i]; {
			case t.fields[i].DataTypeOID == oidFloat4:
				float(b, j, text, 32)
			case t.fields[i].DataTypeOID == oidFloat8 && b.Texts(j):
				float(b, j, text, 64)
			case t.fields[i].DataTypeOID == oidNumber && b.Texts(j):
				b.Text(j, server.Digits(text))
			case t.fields[i].DataTypeOID == oidBool && len(text) == 1: // t or f; nothing is NULL
				b.Text(j, strconv.AppendBool(nil, text[0] == 't'))
			case b.Reading(j).As == dataset.Days && dated(t.fields[i].DataTypeOID):
				b.Date(j, text)
			default:
				b.Text(j, text)
			}
		}
		if who >= 0 {
			b.SetUnit(unit(values[who], t.fields[who].DataTypeOID))
		}
		if err := b.End(); err != nil {
			return err
		}
	}
	if _, err := t.reader.Close(); err != nil {
		return refused(t.query, "the query failed", err)
	}
	return nil
}

// unit is a unit's name. A numeric keeps the zeros that it was written with: 7 and 7.0 are one
// number, and so one unit.
func unit(text []byte, oid uint32) []byte {
	if oid == oidNumber {
		return server.Digits(text)
	}
	return text
}

// float hands a column's number to b: of a float4 the float32 that its digits name, not the
// float64. Its text is without the exponent that the server writes from 10^6 on, and -0 is 0.
func float(b dataset.Builder, j int, field []byte, bits int) {
	switch v, err := strconv.ParseFloat(string(field), bits); {
	case err != nil:
		b.Text(j, field)
	case b.Texts(j):
		b.Text(j, dataset.AppendNumber(nil, v, bits))
	default:
		b.Put(j, v)
	}
}

// refused words a fault of the server by its code: its own text may hold values.
func refused(q dataset.Query, what string, err error) error {
	e := &dataset.Error{File: q.Name(), Reason: what, Remedy: dataset.AskServer}
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		e.Reason += ": SQLSTATE " + said.Code
		if words := sqlstates[said.Code]; words != "" {
			e.Reason += " (" + words + ")"
		}
		if said.Code == "57014" {
			e.Reason += fmt.Sprintf("; the limit is %v (query_timeout)", q.Limit())
		}
		return e
	}
	if _, long := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); long {
		e.Reason += fmt.Sprintf(": a row of more than %d MiB; select what the study needs alone", maxMessage>>20)
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
	"42703": "no such column", "42704": "no such type or object", "42883": "no such function or operator", "42P01": "no such table", "22P02": "a cast of something that is not a number",
	"22012": "a division by zero", "53300": "too many connections", "57014": "it took too long", "57P01": "the server is shutting down", "57P03": "the server is starting",
}

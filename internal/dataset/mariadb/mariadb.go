// Package mariadb runs the queries of package dataset on MariaDB servers. A program can once it
// imports this package.
//
// The pin is SHA-256 over "covey query mariadb 1\n", the number of columns and, in the query's
// order, each column's name and type, then every row's values as the binary protocol has them:
// integers in 64 bits, FLOAT in 32 and DOUBLE in 64, little-endian; decimals, texts, dates (UTC)
// and all else as the server's bytes. Each of them is a length of 32 bits, little-endian, and the
// bytes; NULL is the length 2^32-1.
//
// # Rules
//
// Rules of docs/protocol.md that this package keeps, at length.
//
//   - DATA-21: A database MUST be asked one statement in one read-only snapshot. A server MUST get
//     no file of the site, and its text MUST be in no error. Over TCP, MariaDB's certificate MUST
//     be verified.
package mariadb

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"covey/internal/dataset"
	"covey/internal/dataset/server"
)

// asker asks MariaDB servers.
type asker struct{}

func init() { dataset.RegisterQuery(dataset.MariaDB, asker{}) }

// Describe adds nothing of a string that cannot be read: the query fails for it.
func (asker) Describe(q dataset.Query, word func(string)) {
	if c, err := config(q); err == nil {
		for _, v := range []string{c.Net, c.Addr, c.DBName, c.User} {
			word(v)
		}
	}
}

// conn is what the driver's connection can do. It is used without database/sql's pool: one
// connection, by one goroutine, never asked twice.
type conn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// answer is the answer to a query, under way.
type answer struct {
	server.Answer
	query dataset.Query
	ctx   context.Context
	conn  conn
	end   func()
	rows  driver.Rows
	types []string
}

// Ask implements dataset.QueryDriver.
func (asker) Ask(q dataset.Query) (_ dataset.Answer, err error) {
	c, err := config(q)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, &dataset.Error{File: q.Name(), Reason: example}
	}
	t := &answer{query: q}
	// The server ends the statement; this is for one that does not answer any more.
	t.ctx, t.end = context.WithTimeout(context.Background(), q.Limit()+2*c.Timeout)
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	return t, t.careful("cannot connect", func() error {
		ctx, cancel := context.WithTimeout(t.ctx, c.Timeout)
		defer cancel()
		made, err := connector.Connect(ctx)
		if err != nil {
			return err
		}
		t.conn = made.(conn) // github.com/go-sql-driver/mysql's is all of it
		return t.begin()
	})
}

// careful runs f, which calls the driver, and words its faults. The driver checks much of what a
// server sends and panics at some of the rest.
func (t *answer) careful(what string, f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = refused(t.query, what, errProtocol)
		}
	}()
	err = f()
	if _, ours := errors.AsType[*dataset.Error](err); err == nil || ours {
		return err
	}
	return refused(t.query, what, err)
}

// Close ends the query and the connection: what the server may still send is not read.
func (t *answer) Close() {
	t.end()
	if t.conn != nil {
		t.careful("", func() error { return t.conn.Close() }) // read-only: nothing to lose
	}
}

// settings are what the answer depends on besides the query, so that neither values nor the pin
// hang on a server's: every one is of this session alone.
var settings = []string{
	"set session transaction isolation level repeatable read",
	"set names utf8mb4 collate utf8mb4_bin",
	"set session time_zone = '+00:00', sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_ALL_TABLES,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'," +
		" sql_notes = 0, sql_select_limit = 18446744073709551615, div_precision_increment = 4, default_week_format = 0, lc_time_names = 'en_US', max_error_count = 64",
}

// others are the tables that a snapshot does not hold, of those that the user may see.
const others = "select count(*) from information_schema.tables where table_type in ('BASE TABLE', 'SYSTEM VERSIONED') and coalesce(engine, '') <> 'InnoDB' and table_schema not in ('information_schema', 'performance_schema')"

// begin makes the session ready, asks, and reads the names of the columns.
func (t *answer) begin() error {
	version, err := t.one("select @@version")
	if err != nil {
		return err
	}
	// MySQL's
	limit := fmt.Sprintf("set session max_execution_time = %d", t.query.Limit().Milliseconds())
	if strings.Contains(version, "MariaDB") {
		limit = fmt.Sprintf("set session max_statement_time = %g", t.query.Limit().Seconds())
	}
	for _, sql := range append([]string{limit}, settings...) {
		if _, err := t.conn.ExecContext(t.ctx, sql, nil); err != nil {
			return refused(t.query, "cannot prepare the session", err)
		}
	}
	count, err := t.one(others)
	if err != nil {
		return refused(t.query, "cannot look at the tables' engines", err)
	}
	if count != "0" {
		return &dataset.Error{File: t.query.Name(), Reason: "a table that this user may read is not of the engine InnoDB, so that a snapshot does not hold it; convert it, or grant the user SELECT on no such table"}
	}
	if _, err := t.conn.ExecContext(t.ctx, "start transaction with consistent snapshot, read only", nil); err != nil {
		return refused(t.query, "cannot begin a transaction", err)
	}
	return t.careful("the query failed", t.ask)
}

func (t *answer) ask() error {
	// A prepared statement's answer is binary: FLOAT is not rounded to six digits, as in text.
	statement, err := t.conn.PrepareContext(t.ctx, t.query.SQL)
	if err != nil {
		return err
	}
	asking, ok := statement.(driver.StmtQueryContext)
	if !ok {
		return errProtocol
	}
	if statement.NumInput() != 0 {
		return &dataset.Error{File: t.query.Name(), Reason: "the query has a parameter (?)"}
	}
	if t.rows, err = asking.QueryContext(t.ctx, nil); err != nil {
		return err
	}
	typed, ok := t.rows.(driver.RowsColumnTypeDatabaseTypeName)
	if !ok {
		return errProtocol
	}
	if err := t.Begin(t.query, "covey query mariadb 1\n", t.rows.Columns()); err != nil {
		return err
	}
	for i, name := range t.Header() {
		t.types = append(t.types, strings.ToLower(typed.ColumnTypeDatabaseTypeName(i)))
		t.Value([]byte(name))
		t.Value([]byte(t.types[i]))
	}
	return nil
}

// one is the first value of a statement's first row, as text.
func (t *answer) one(sql string) (string, error) {
	rows, err := t.conn.QueryContext(t.ctx, sql, nil)
	if err != nil {
		return "", err
	}
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); err != nil || len(values) == 0 {
		return "", errors.Join(errProtocol, err)
	}
	if err := rows.Close(); err != nil {
		return "", err
	}
	if text, ok := values[0].([]byte); ok {
		return string(text), nil
	}
	return fmt.Sprint(values[0]), nil
}

// numeric reports whether a type's values are numbers.
func numeric(name string) bool {
	switch strings.TrimPrefix(name, "unsigned ") {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "float", "double", "decimal":
		return true
	}
	return false
}

// dated reports whether a type's values are dates, which begin YYYY-MM-DD.
func dated(name string) bool { return name == "date" || name == "datetime" || name == "timestamp" }

// Rows implements dataset.Table.
func (t *answer) Rows(b dataset.Builder) error {
	return t.careful("the query failed", func() error { return t.read(b) })
}

func (t *answer) read(b dataset.Builder) error {
	at, who, err := t.Places(b, func(j, i int) string {
		switch number := numeric(t.types[i]); {
		case number && b.Reading(j).As == dataset.Days:
			return "its type is a number and no date"
		case !number && !b.Texts(j):
			return "its type is not a number; cast it in the query (cast(... as double))"
		case t.types[i] == "bit":
			return "its type is bits, whose bytes are no text; write it as a number in the query (... + 0)"
		}
		return ""
	})
	if err != nil {
		return err
	}
	values, number := make([]driver.Value, len(t.types)), make([]byte, 0, 32)
	for {
		switch err := t.rows.Next(values); err {
		case nil:
		case io.EOF:
			return t.warned()
		default:
			return err
		}
		b.Begin()
		for i, v := range values {
			raw, err := binaryOf(number, v, t.types[i])
			if err != nil {
				return err
			}
			t.Value(raw)
		}
		for j, i := range at {
			v := values[i]
			switch text, ok := v.([]byte); {
			case ok && t.types[i] == "decimal" && b.Texts(j):
				v = server.Digits(text)
			case ok && b.Reading(j).As == dataset.Days && dated(t.types[i]):
				b.Date(j, text)
				continue
			}
			put(b, j, v, number)
		}
		if who >= 0 {
			b.SetUnit(unit(number, values[who], t.types[who]))
		}
		if err := b.End(); err != nil {
			return err
		}
	}
}

// put hands a column its value: a number where b takes numbers, else its text. number is room for
// that.
func put(b dataset.Builder, j int, v driver.Value, number []byte) {
	switch n := v.(type) {
	case nil:
		b.Put(j, math.NaN())
		return
	case []byte: // a text, a date, a decimal, or an integer beyond int64
		b.Text(j, n)
		return
	}
	if b.Texts(j) {
		b.Text(j, name(number, v))
		return
	}
	switch n := v.(type) {
	case int64:
		b.Put(j, float64(n))
	case float32:
		b.Put(j, float64(n))
	case float64:
		b.Put(j, n)
	}
}

// binaryOf is a value as the pin has it, in out if it needs room.
func binaryOf(out []byte, v driver.Value, kind string) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case int64:
		return binary.LittleEndian.AppendUint64(out, uint64(v)), nil
	case float32:
		return binary.LittleEndian.AppendUint32(out, math.Float32bits(v)), nil
	case float64:
		return binary.LittleEndian.AppendUint64(out, math.Float64bits(v)), nil
	case []byte:
		if kind != "unsigned bigint" {
			if v == nil {
				v = out // an empty text is not NULL
			}
			return v, nil
		}
		n, err := strconv.ParseUint(string(v), 10, 64)
		if err != nil {
			return nil, errProtocol
		}
		return binary.LittleEndian.AppendUint64(out, n), nil
	}
	return nil, errProtocol
}

// unit is a unit's name: a type of bytes says of none that they are text.
func unit(out []byte, v driver.Value, kind string) []byte {
	text, ok := v.([]byte)
	switch kind {
	case "bit": // a number, whose bytes could look like blanks
		if ok && len(text) <= 8 {
			var n [8]byte
			copy(n[8-len(text):], text)
			return strconv.AppendUint(out, binary.BigEndian.Uint64(n[:]), 10)
		}
	case "binary": // of one length
		if ok {
			return dataset.AppendID(out, text, true)
		}
	case "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "geometry":
		if ok {
			return dataset.AppendID(out, text, false)
		}
	}
	return name(out, v)
}

// name is a number's text, and a text itself by its bytes, whatever the server takes for equal.
func name(out []byte, v driver.Value) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(out, v, 10)
	case float32:
		return dataset.AppendNumber(out, float64(v), 32)
	case float64:
		return dataset.AppendNumber(out, v, 64)
	case []byte:
		return v
	}
	return nil
}

// warned refuses an answer that the server warned of: a cast of a text that is no number is 0
// there, and a division by zero NULL.
func (t *answer) warned() error {
	if err := t.rows.Close(); err != nil {
		return err
	}
	count, err := t.one("show count(*) warnings")
	if err != nil || count == "0" {
		return err
	}
	rows, err := t.conn.QueryContext(t.ctx, "show warnings limit 1", nil)
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); err != nil || len(values) < 2 {
		return errors.Join(errProtocol, err)
	}
	code := uint64(0)
	switch v := values[1].(type) {
	case int64:
		code = uint64(v)
	case []byte:
		code, _ = strconv.ParseUint(string(v), 10, 16)
	}
	return &dataset.Error{File: t.query.Name(), Reason: "the server warned about the answer, so values may be wrong: " + word(uint16(code))}
}

// errProtocol is an answer that the protocol does not have.
var errProtocol = errors.New("not the protocol")

// refused words a fault of the server by its code: its own text may hold values.
func refused(q dataset.Query, what string, err error) error {
	if _, ours := errors.AsType[*dataset.Error](err); ours {
		return err
	}
	e := &dataset.Error{File: q.Name(), Reason: what + ": ", Remedy: dataset.AskServer}
	if said, ok := errors.AsType[*mysql.MySQLError](err); ok {
		e.Reason += word(said.Number)
		if said.Number == 1969 || said.Number == 3024 {
			e.Reason += fmt.Sprintf("; the limit is %v (query_timeout)", q.Limit())
		}
		return e
	}
	network, isNetwork := errors.AsType[*net.OpError](err)
	lookup, isLookup := errors.AsType[*net.DNSError](err)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, isAlert := errors.AsType[tls.AlertError](err)
	_, isRecord := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case isLookup:
		e.Reason += "the host's name is not known: " + lookup.Name
	case isCertificate:
		e.Reason += "TLS failed: its certificate is not valid for this host under the CA (ca)"
	case errors.Is(err, mysql.ErrNoTLS):
		e.Reason += "the server has no TLS, which TCP needs"
	case isAlert || isRecord:
		e.Reason += "TLS failed"
	case errors.Is(err, context.DeadlineExceeded):
		e.Reason += "no answer in time"
	case isNetwork && network.Addr != nil && network.Op == "dial":
		e.Reason += fmt.Sprintf("dial %s: %v", network.Addr, network.Err)
	case errors.Is(err, fs.ErrNotExist):
		e.Reason += "there is no such socket"
	case isNetwork, errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Reason += "the connection failed"
	case errors.Is(err, mysql.ErrCleartextPassword), errors.Is(err, mysql.ErrOldPassword), errors.Is(err, mysql.ErrNativePassword), errors.Is(err, mysql.ErrUnknownPlugin):
		e.Reason += "the server asks for the password in a form that the agent refuses"
	default:
		// Such as a request for a file of this machine, which is not read.
		e.Reason += "sql_protocol: the server sent something that is not an answer to a query"
	}
	return e
}

// word is a server's code, and what it means.
func word(code uint16) string {
	out := fmt.Sprintf("error %d", code)
	if words := codes[code]; words != "" {
		out += " (" + words + ")"
	}
	return out
}

// codes are those that operators meet.
var codes = map[uint16]string{
	1040: "too many connections", 1044: "the user may not use this database", 1045: "the user or the password is wrong", 1049: "no such database", 1053: "the server is shutting down",
	1054: "no such column", 1064: "a syntax error, or several statements", 1129: "the server blocks this host", 1130: "the user may not log in from here", 1142: "permission denied",
	1143: "permission denied", 1146: "no such table", 1227: "permission denied", 1292: "a cast or comparison of something that is not a number or a date", 1305: "no such function",
	1317: "it was ended", 1356: "a view that cannot be read", 1365: "a division by zero", 1370: "permission denied", 1690: "a number out of its type's range", 1698: "the user or the password is wrong",
	1792: "it writes, and the transaction is read-only", 1969: "it took too long", 3024: "it took too long", 4031: "the connection was idle for too long",
}

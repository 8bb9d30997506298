//go:build mariadb

package mariadb

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"covey/internal/dataset"
	"covey/internal/rowcache"
	"covey/test/cost"
	"covey/test/mariatest"
)

func TestMariaDB(t *testing.T) {
	server := mariatest.Start(t)
	mariatest.Do(t, server.Admin, `create table t (id bigint primary key, who varchar(20), a double, b decimal(12,3), c float, d smallint, e bigint unsigned, day date, at timestamp(3) null) engine InnoDB;
insert into t select seq, concat('p', seq*7 % 5), case when seq % 11 = 3 then null else seq / 3e0 end, seq * 0.1, seq / 10, cast(seq as signed) - 50, seq * 1000003,
 date_add('2020-01-01', interval seq day), timestampadd(hour, seq, '2020-01-01') from seq_0_to_99;
create table units (id int primary key, who varchar(20) collate utf8mb4_general_ci, a double) engine InnoDB;
insert into units values (1, 'a', 1), (2, 'A', 2), (3, 'á', 3), (4, 'a', 4)`)
	file := cost.File(t, "db.dsn", []byte(server.Socket+"\n"))
	source := func(sql string) dataset.Source {
		return dataset.Source{Query: &dataset.Query{Server: dataset.MariaDB, SQL: sql, DSNFile: file}}
	}
	column := func(names ...string) (out []dataset.Column) {
		for _, name := range names {
			out = append(out, dataset.Column{Name: name, Scale: 1})
		}
		return out
	}
	const all = "select id, who, a, b, c, d, e, day, at from t order by id"

	t.Run("rows", func(t *testing.T) {
		q := dataset.Request{Columns: column("e", "a", "b", "c", "d"), Unit: "who", Missing: dataset.MissingDropRow}
		q.Columns[1] = dataset.Column{Name: "a", Offset: 1, Scale: 2}
		got, err := dataset.Read(source(all), q, dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			b, _ := strconv.ParseFloat(strconv.Itoa(i/10)+"."+strconv.Itoa(i%10), 64)
			want := []float64{float64(i) * 1000003, (float64(i)/3 - 1) / 2, b, float64(float32(float64(i) / 10)), float64(i - 50)}
			if i%11 == 3 {
				want = make([]float64, 5)
			}
			if !slices.Equal(got.Values[i*5:(i+1)*5], want) {
				t.Fatalf("row %d: %v, want %v", i, got.Values[i*5:(i+1)*5], want)
			}
		}
		if got.Rows != 100 || got.Units != 5 || !slices.Equal(got.Unit[:6], []int{0, 1, 2, 3, 4, 0}) || got.Dropped != 9 {
			t.Errorf("%d rows of %d units, %d dropped, %v", got.Rows, got.Units, got.Dropped, got.Unit[:6])
		}
		info, err := dataset.Inspect(source(all), "who", dataset.ReadOptions{})
		if err != nil || info.Rows != 100 || info.Units != 5 || info.SHA256 != got.SHA256 || strings.Join(info.Header, " ") != "id who a b c d e day at" {
			t.Errorf("%+v, %v", info, err)
		}
		c, err := rowcache.Open(filepath.Join(t.TempDir(), "cache"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		stored, err := c.Load(source(all), q, "a", dataset.ReadOptions{})
		if err != nil || stored.SHA256 != got.SHA256 || stored.Units != 5 {
			t.Fatalf("%v", err)
		}
		stored.Close()
		// Found again by its pin alone, though the table has changed since.
		mariatest.Do(t, server.Admin, "update t set a = 7 where id = 1")
		found := c.Find(source(all), q, "a", func(pin [32]byte) bool { return pin == got.SHA256 })
		if found == nil {
			t.Fatal("not found again")
		}
		found.Close()
		now, err := c.Load(source(all), q, "a", dataset.ReadOptions{})
		if err != nil || now.SHA256 == got.SHA256 {
			t.Errorf("a changed table has the same pin, %v", err)
		}
		now.Close()
	})

	// Bits are a number: as bytes, 9 to 13 and 32 would be blanks, and the unit missing.
	t.Run("units of bits", func(t *testing.T) {
		mariatest.Do(t, server.Admin, `create table bits (id int primary key, b8 bit(8), b64 bit(64)) engine InnoDB;
insert into bits select seq, seq, 18446744073709551615 - seq from seq_0_to_255`)
		for _, sql := range []string{"select b8 as who from bits order by id", "select b64 as who from bits order by id"} {
			if info, err := dataset.Inspect(source(sql), "who", dataset.ReadOptions{}); err != nil || info.Units != 256 {
				t.Errorf("%s: %+v, %v", sql, info, err)
			}
		}
	})

	// What the server takes for equal is not what a unit is.
	t.Run("units by bytes", func(t *testing.T) {
		info, err := dataset.Inspect(source("select who, a from units order by id"), "who", dataset.ReadOptions{})
		if err != nil || info.Units != 3 {
			t.Errorf("%+v, %v", info, err)
		}
		info, err = dataset.Inspect(source("select e as who from t order by id"), "who", dataset.ReadOptions{})
		if err != nil || info.Units != 100 {
			t.Errorf("%+v, %v", info, err)
		}
	})

	// The pin is over binary values, NULL apart from the empty string, in the query's order, with
	// the columns' types, and hangs on no setting of the server.
	t.Run("pin", func(t *testing.T) {
		mariatest.Do(t, server.Admin, `create table pins (id int primary key, f float, g double, h decimal(5,2), w varchar(9), u bigint unsigned, n tinyint, day date, at timestamp null) engine InnoDB;
set time_zone = '+00:00'; insert into pins values (1, 0.1, 0.1, 2.5, '', 18446744073709551615, -3, '2020-01-02', '2020-01-02 03:04:05'), (2, null, -1, null, 'é', 7, null, null, null)`)
		info, err := dataset.Inspect(source("select * from pins order by id desc"), "id", dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := append([]byte("covey query mariadb 1\n"), 9, 0, 0, 0)
		word := func(v string) { want = append(binary.LittleEndian.AppendUint32(want, uint32(len(v))), v...) }
		wide := func(v uint64) { word(string(binary.LittleEndian.AppendUint64(nil, v))) }
		null := func() { want = append(want, 255, 255, 255, 255) }
		for _, c := range [][2]string{{"id", "int"}, {"f", "float"}, {"g", "double"}, {"h", "decimal"}, {"w", "varchar"}, {"u", "unsigned bigint"}, {"n", "tinyint"}, {"day", "date"}, {"at", "timestamp"}} {
			word(c[0])
			word(c[1])
		}
		wide(2)
		null()
		wide(math.Float64bits(-1))
		null()
		word("é")
		wide(7)
		null()
		null()
		null()
		wide(1)
		word(string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1))))
		wide(math.Float64bits(0.1))
		word("2.50")
		word("")
		wide(math.MaxUint64)
		wide(1<<64 - 3)
		word("2020-01-02")
		word("2020-01-02 03:04:05")
		if sum := sha256.Sum256(want); info.SHA256 != sum {
			t.Errorf("%s, want %s", hex.EncodeToString(info.SHA256[:]), hex.EncodeToString(sum[:]))
		}
		got, err := dataset.Read(source("select u, f, 1/3 as third from pins order by id"), dataset.Request{Columns: column("u", "f", "third"), Missing: dataset.MissingDropRow}, dataset.ReadOptions{})
		if err != nil || !slices.Equal(got.Values[:3], []float64{1 << 64, float64(float32(0.1)), 0.3333}) {
			t.Errorf("%v, %v", got, err)
		}
	})

	// The answer is of one moment, and nothing is written.
	t.Run("snapshot", func(t *testing.T) {
		q := dataset.Query{Server: dataset.MariaDB, SQL: "select id from t order by id", DSNFile: file}
		a, err := asker{}.Ask(q)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		one := func(sql string) string {
			v, err := a.(*answer).one(sql)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for { // its rows come first
			if err := a.(*answer).rows.Next(make([]driver.Value, 1)); err != nil {
				break
			}
		}
		if err := a.(*answer).rows.Close(); err != nil {
			t.Fatal(err)
		}
		before := one("select count(*) from t")
		mariatest.Do(t, server.Admin, "insert into t (id) values (1000)")
		if now := one("select count(*) from t"); now != before {
			t.Errorf("%s rows, then %s", before, now)
		}
		if _, err := a.(*answer).conn.ExecContext(t.Context(), "delete from t", nil); err == nil {
			t.Error("it can write")
		}
		mariatest.Do(t, server.Admin, "delete from t where id = 1000")
	})

	t.Run("tls", func(t *testing.T) {
		other := cost.File(t, "other.pem", []byte("no certificate"))
		for name, c := range map[string]struct{ dsn, want string }{
			"verified":     {server.TCP + "?ca=" + server.CA, ""},
			"unknown CA":   {server.TCP, "cannot connect: TLS failed: its certificate is not valid for this host under the CA (ca)"},
			"another host": {strings.Replace(server.TCP, "localhost", "127.0.0.1", 1) + "?ca=" + server.CA, "cannot connect: TLS failed: its certificate is not valid for this host under the CA (ca)"},
			"no CA":        {server.TCP + "?ca=" + other, "ca names no file of certificates that can be read"},
			"password":     {strings.Replace(server.Socket, "reader:r", "reader:x", 1), "cannot connect: error 1045 (the user or the password is wrong)"},
			"no database":  {strings.Replace(server.Socket, "/clinic", "/none", 1), "cannot connect: error 1044 (the user may not use this database)"},
		} {
			s := source("select a from t order by id")
			s.Query.DSNFile = cost.File(t, "db.dsn", []byte(c.dsn))
			_, err := dataset.Inspect(s, "", dataset.ReadOptions{})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})

	t.Run("faults", func(t *testing.T) {
		mariatest.Do(t, server.Admin, "create function wrote() returns int begin insert into t (id) values (2000); return 1; end; grant execute on function wrote to reader")
		for name, c := range map[string]struct{ sql, unit, want string }{
			"no order":        {"select 1 as a", "", "the query must end in ORDER BY columns"},
			"no table":        {"select a from none order by 1", "", "the query failed: error 1146 (no such table)"},
			"no column there": {"select none from t order by 1", "", "the query failed: error 1054 (no such column)"},
			"syntax":          {"selec a order by 1", "", "the query failed: error 1064 (a syntax error, or several statements)"},
			"two statements":  {"select 1; select 2 order by 1", "", "the query failed: error 1064 (a syntax error, or several statements)"},
			"writes":          {"insert into t (id) select 1000 order by 1", "", "the query failed: error 1142 (permission denied)"},
			"a function does": {"select wrote() as a order by 1", "", "the query failed: error 1792 (it writes, and the transaction is read-only)"},
			"no permission":   {"select password as a from mysql.user order by 1", "", "the query failed: error 1142 (permission denied)"},
			"a cast":          {"select cast(who as double) as a from t order by id", "", "the server warned about the answer, so values may be wrong: error 1292 (a cast or comparison of something that is not a number or a date)"},
			"by zero":         {"select 1.0 / (99 - id) as a from t order by id", "", "the value is missing"},
			"too slow":        {"select sum(x.id * y.id * z.id) as a from t x join t y join t z join t w order by 1", "", "the query failed: error 1969 (it took too long); the limit is 300ms (query_timeout)"},
			"a parameter":     {"select a from t where id = ? order by id", "", "the query has a parameter (?)"},
			"no rows":         {"select a from t where false order by id", "", "has no rows"},
			"no such column":  {"select b from t order by id", "", `column "a": none of the query's 1 columns has this name`},
			"a column twice":  {"select a, b as a from t order by id", "", `column "a": two columns of the query have this name`},
			"text":            {"select who as a from t order by id", "", `column "a": its type is not a number; cast it in the query (cast(... as double))`},
			"a date":          {"select day as a from t order by id", "", `column "a": its type is not a number; cast it in the query (cast(... as double))`},
			"null":            {"select a from t where id <> 1 order by id", "", `row 3, column "a": the value is missing`},
			"beyond":          {"select 1e155 as a order by 1", "", `row 1, column "a": the value is 2^480 or more`},
			"no unit column":  {"select e as a from t order by id", "who", `column "who": none of the query's 1 columns has this name`},
			"a missing unit":  {"select e as a, nullif(who, 'p2') as who from t order by id", "who", `row 2, column "who": the unit is missing`},
			"into a file":     {"select a from t order by id into outfile '/tmp/p2'", "", "the query failed: error 1227 (permission denied)"},
			"by zero, inside": {"select e as a from t where id < 5 or 1 / (id - 50) > 9 order by id", "", "error 1365 (a division by zero)"},
		} {
			s := source(c.sql)
			if name == "too slow" { // the others end by themselves
				s.Query.Timeout = 300 * time.Millisecond
			}
			missing := dataset.MissingError
			r, err := dataset.Read(s, dataset.Request{Columns: column("a"), Unit: c.unit, Missing: missing}, dataset.ReadOptions{})
			bad, ok := errors.AsType[*dataset.Error](err)
			if !ok || r != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			} else if strings.HasPrefix(c.want, "the query failed") && bad.Remedy != dataset.AskServer {
				t.Errorf("%s: what to do: %q", name, bad.Remedy)
			} else if strings.Contains(err.Error(), "p2") || strings.Contains(err.Error(), "select ") {
				t.Errorf("%s: the error carries a value or the query: %v", name, err)
			}
		}
		var n int
		if err := server.Admin.QueryRow("select count(*) from t").Scan(&n); err != nil || n != 100 {
			t.Errorf("the table has %d rows now, %v", n, err)
		}
	})

	// A table that no snapshot holds is refused, whichever the query reads.
	t.Run("engines", func(t *testing.T) {
		const want = "a table that this user may read is not of the engine InnoDB"
		mariatest.Do(t, server.Admin, "create table old (id int primary key, a double) engine MyISAM; insert into old values (1, 2)")
		if _, err := dataset.Inspect(source("select a from old order by id"), "", dataset.ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
		mariatest.Do(t, server.Admin, "alter table old engine InnoDB")
		if _, err := dataset.Inspect(source("select a from old order by id"), "", dataset.ReadOptions{}); err != nil {
			t.Error(err)
		}
	})
}

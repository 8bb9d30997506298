//go:build postgres

package postgres

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"covey/internal/dataset"
	"covey/internal/rowcache"
	"covey/test/cost"
	"covey/test/pgtest"
	"covey/test/rows"
)

func TestPostgres(t *testing.T) {
	admin, dsn := pgtest.Server(t)
	pgtest.Do(t, admin, `create table t (id bigint primary key, who text, a double precision, b numeric, c real, d smallint, e bigint, day date, at timestamptz);
grant select on t to reader;
insert into t select i, 'p' || (i*7 % 5), case when i % 11 = 3 then null when i = 40 then 'NaN' else i / 3.0 end, i * 0.1::numeric, i / 10.0, i - 50, i * 1000003::bigint,
 date '2020-01-01' + i, timestamptz '2020-01-01 00:00:00+00' + i * interval '1 hour' from generate_series(0, 99) i;
create sequence numbers; grant usage on numbers to reader`)
	file := cost.File(t, "db.dsn", []byte(dsn+"\n"))
	source := func(sql string) dataset.Source { return dataset.Source{Query: &dataset.Query{SQL: sql, DSNFile: file}} }
	const all = "select id, who, a, b, c, d, e, day, at from t order by id"

	t.Run("rows", func(t *testing.T) {
		q := dataset.Request{Columns: []dataset.Column{{Name: "e", Offset: 0, Scale: 1}, {Name: "a", Offset: 1, Scale: 2}, {Name: "b", Offset: 0, Scale: 1}, {Name: "c", Offset: 0, Scale: 1}, {Name: "d", Offset: 0, Scale: 1}}, Unit: "who", Missing: dataset.MissingDropRow}
		got, err := dataset.Read(source(all), q, dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			b, _ := strconv.ParseFloat(strconv.Itoa(i/10)+"."+strconv.Itoa(i%10), 64)
			want := []float64{float64(i) * 1000003, (float64(i)/3 - 1) / 2, b, float64(float32(float64(i) / 10)), float64(i - 50)}
			if i%11 == 3 || i == 40 {
				want = make([]float64, 5)
			}
			if !slices.Equal(got.Values[i*5:(i+1)*5], want) {
				t.Fatalf("row %d: %v, want %v", i, got.Values[i*5:(i+1)*5], want)
			}
		}
		if got.Rows != 100 || got.Units != 5 || !slices.Equal(got.Unit[:6], []int{0, 1, 2, 3, 4, 0}) || got.Dropped != 10 {
			t.Errorf("%d rows of %d units, %d dropped, %v", got.Rows, got.Units, got.Dropped, got.Unit[:6])
		}
		info, err := dataset.Inspect(source(all), "who", dataset.ReadOptions{})
		if err != nil || info.Rows != 100 || info.Units != 5 || info.SHA256 != got.SHA256 || strings.Join(info.Header, " ") != "id who a b c d e day at" {
			t.Errorf("%+v, %v", info, err)
		}
		c := rows.Open(t, rowcache.Open)
		stored := rows.Load(t, c.Load, source(all), q, "a")
		if !slices.Equal(stored.Values, rows.Together(got).Values) {
			t.Error("other rows from the cache")
		}
		// Found again by its pin alone, though the table has changed since.
		pgtest.Do(t, admin, "update t set a = 7 where id = 1")
		found := c.Find(source(all), q, "a", func(pin [32]byte) bool { return pin == got.SHA256 })
		if found == nil || found.Values[1] != stored.Values[1] {
			t.Fatal("not found again")
		}
		found.Close()
		for _, other := range []*rowcache.Stored{c.Find(source(all+" "), q, "a", func([32]byte) bool { return true }), c.Find(source(all), q, "b", func([32]byte) bool { return true }),
			c.Find(source(all), q, "a", func([32]byte) bool { return false })} {
			if other != nil {
				t.Error("found what was not asked for")
			}
		}
		if now := rows.Load(t, c.Load, source(all), q, "a"); now.SHA256 == got.SHA256 {
			t.Error("a changed table has the same pin")
		}
	})

	// The pin is over the text of all values, NULL apart from the empty string, in the query's
	// order, and hangs on no setting of the server.
	t.Run("pin", func(t *testing.T) {
		info, err := dataset.Inspect(source("select a, b, c, day, at from (values (1, null::text, '', date '2020-01-02', timestamptz '2020-01-02 03:04:05+00'), (2, 'é', 'x', null, null)) v(a, b, c, day, at) order by a desc"), "a", dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := append([]byte("covey query 1\n"), 5, 0, 0, 0)
		for _, word := range []string{"a", "b", "c", "day", "at", "2", "é", "x", "\xff", "\xff", "1", "\xff", "", "2020-01-02", "2020-01-02 03:04:05+00"} {
			if word == "\xff" {
				want = append(want, 255, 255, 255, 255)
				continue
			}
			want = append(binary.LittleEndian.AppendUint32(want, uint32(len(word))), word...)
		}
		if sum := sha256.Sum256(want); info.SHA256 != sum {
			t.Errorf("%s, want %s", hex.EncodeToString(info.SHA256[:]), hex.EncodeToString(sum[:]))
		}
	})

	// A unit is a number, however many zeros a server writes behind it.
	t.Run("decimal units", func(t *testing.T) {
		info, err := dataset.Inspect(source("select a from (values (7::numeric), (7.0), (7.00), (70), (0.7)) v(a) order by a"), "a", dataset.ReadOptions{})
		if err != nil || info.Rows != 5 || info.Units != 3 {
			t.Errorf("%+v, %v", info, err)
		}
	})

	// A row is bounded, the first and any other.
	t.Run("long rows", func(t *testing.T) {
		for _, sql := range []string{"select 1 as a, repeat('x', 65 << 20) as who order by 1", "select g as a, repeat('x', (g - 1) * 65 << 20) as who from generate_series(1, 2) g order by 1"} {
			_, err := dataset.Inspect(source(sql), "a", dataset.ReadOptions{})
			if e, ok := errors.AsType[*dataset.Error](err); !ok || e.Reason != "the query failed: a row of more than 64 MiB; select what the study needs alone" {
				t.Errorf("%s: %v", sql, err)
			}
		}
	})

	t.Run("faults", func(t *testing.T) {
		for name, c := range map[string]struct{ sql, unit, want string }{
			"no order":         {"select 1::int as a", "", "the query must end in ORDER BY columns"},
			"no table":         {"select a from none order by 1", "", "the query failed: SQLSTATE 42P01 (no such table)"},
			"no column there":  {"select none from t order by 1", "", "the query failed: SQLSTATE 42703 (no such column)"},
			"syntax":           {"selec a order by 1", "", "the query failed: SQLSTATE 42601 (a syntax error, or several statements)"},
			"two statements":   {"select 1; select 2 order by 1", "", "the query failed: SQLSTATE 42601 (a syntax error, or several statements)"},
			"writes":           {"insert into t (id) select 1000 order by 1", "", "the query failed: SQLSTATE 25006 (it writes, and the transaction is read-only)"},
			"a function does":  {"select nextval('numbers') as a order by 1", "", "the query failed: SQLSTATE 25006 (it writes, and the transaction is read-only)"},
			"no permission":    {"select rolpassword as a from pg_authid order by 1", "", "the query failed: SQLSTATE 42501 (permission denied)"},
			"a cast":           {"select who::int as a from t order by id", "", "the query failed: SQLSTATE 22P02 (a cast of something that is not a number)"},
			"fails late":       {"select 1.0 / (99 - id) as a from t order by id", "", "the query failed: SQLSTATE 22012 (a division by zero)"},
			"too slow":         {"select 1 as a from pg_sleep(30) order by 1", "", "the query failed: SQLSTATE 57014 (it took too long); the limit is 300ms (query_timeout)"},
			"no rows":          {"select a from t where false order by id", "", "has no rows"},
			"no such column":   {"select b from t order by id", "", `column "a": none of the query's 1 columns has this name`},
			"a column twice":   {"select a, b as a from t order by id", "", `column "a": two columns of the query have this name`},
			"text":             {"select who as a from t order by id", "", `column "a": its type is not a number; cast it in the query (::double precision)`},
			"a date":           {"select day as a from t order by id", "", `column "a": its type is not a number; cast it in the query (::double precision)`},
			"null":             {"select a from t where id <> 1 order by id", "", `row 3, column "a": the value is missing`},
			"nan":              {"select a from t where id = 40 order by id", "", `row 1, column "a": the value is missing`},
			"infinity":         {"select '-Infinity'::float8 as a order by 1", "", `row 1, column "a": the value is infinite`},
			"infinite real":    {"select 'Infinity'::real as a order by 1", "", `row 1, column "a": the value is infinite`},
			"beyond float64":   {"select 1e400::numeric as a order by 1", "", `row 1, column "a": the number is beyond float64`},
			"square overflows": {"select 1e155::float8 as a order by 1", "", `row 1, column "a": the value is 2^480 or more`},
			"no unit column":   {"select e as a from t order by id", "who", `column "who": none of the query's 1 columns has this name`},
			"a missing unit":   {"select e as a, nullif(who, 'p2') as who from t order by id", "who", `row 2, column "who": the unit is missing`},
		} {
			s := source(c.sql)
			if name == "too slow" { // the others end by themselves
				s.Query.Timeout = 300 * time.Millisecond
			}
			r, err := dataset.Read(s, dataset.Request{Columns: []dataset.Column{{Name: "a", Offset: 0, Scale: 1}}, Unit: c.unit, Missing: dataset.MissingError}, dataset.ReadOptions{})
			bad, ok := errors.AsType[*dataset.Error](err)
			if !ok || r != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			} else if strings.HasPrefix(c.want, "the query failed") && bad.Remedy != dataset.AskServer {
				t.Errorf("%s: what to do: %q", name, bad.Remedy)
			} else if strings.Contains(err.Error(), "p2") || strings.Contains(err.Error(), "select") {
				t.Errorf("%s: the error carries a value or the query: %v", name, err)
			}
		}
		for name, c := range map[string]struct{ dsn, want string }{
			"password":    {strings.Replace(dsn, "password=r", "password=x", 1), "cannot connect: SQLSTATE 28P01 (the password is wrong)"},
			"no database": {strings.Replace(dsn, "dbname=postgres", "dbname=none", 1), "cannot connect: SQLSTATE 3D000 (no such database)"},
		} {
			s := source(all)
			s.Query.DSNFile = cost.File(t, "db.dsn", []byte(c.dsn))
			if _, err := dataset.Inspect(s, "", dataset.ReadOptions{}); err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		var n string
		if r := admin.ExecParams(t.Context(), "select count(*) from t", nil, nil, nil, nil).Read(); r.Err == nil {
			n = string(r.Rows[0][0])
		}
		if n != "100" {
			t.Errorf("the table has %s rows now", n)
		}
	})
}

package dataset

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestCheckQuery(t *testing.T) {
	for sql, want := range map[string]string{
		"select a, b from t order by id":                           "",
		"SELECT a\nFROM (select * from t) q\nORDER\tBY id -- all":  "",
		"with q as (select 1) select a from q order by id limit 5": "",
		"select a from t order by f(id), (x)":                      "",
		"":                                                         "is empty",
		" -- order by id":                                          "is empty",
		"select a from t":                                          "must end in ORDER BY",
		"select a from t -- order by id":                           "must end in ORDER BY",
		"select a from t /* order /* by */ by id */":               "must end in ORDER BY",
		"select a from (select * from t order by id) q":            "must end in ORDER BY",
		"select a, 'x order by y' from t":                          "must end in ORDER BY",
		"select a as \"order by\" from t":                          "must end in ORDER BY",
		"select $q$ order by $q$ from t":                           "must end in ORDER BY",
		"select row_number() over (order by id) from t":            "must end in ORDER BY",
		"select border, bystander from t":                          "must end in ORDER BY",
		"select a from t where x = 'it''s' order by id":            "",
		"/* never closed order by":                                 "is empty",
		"select 'never closed order by":                            "must end in ORDER BY",
	} {
		err := CheckQuery(sql)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", sql, err, want)
		}
	}
}

// A connection string that cannot be used is refused in words that do not hold it.
func TestBadDSN(t *testing.T) {
	count := 0
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().(*net.TCPAddr)
	listener.Close()
	port := closed.String()[strings.LastIndex(closed.String(), ":")+1:]
	secret := func(text string) string { return writeAs(t, "db.dsn", []byte(text)) }
	open := secret("host=db password=hunter2")
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	t.Setenv("COVEY_TEST_DSN", "host=127.0.0.1 password=hunter2 connect_timeout=5 sslmode=disable port="+port)
	for name, c := range map[string]struct {
		file, env, want string
	}{
		"no file":       {"none.dsn", "", "none.dsn: cannot be read: no such file or directory"},
		"others read":   {open, "", "others may read it (mode 0640); chmod 600 it"},
		"a folder":      {t.TempDir(), "", "is no file"},
		"empty":         {secret(" \n"), "", "no connection string is there"},
		"too long":      {secret(strings.Repeat(" ", maxDSN+1)), "", "is longer than 65536 bytes"},
		"no string":     {secret("hunter2"), "", "is no connection string"},
		"bad key":       {secret("port=hunter2"), "", "is no connection string"},
		"no variable":   {"", "COVEY_TEST_NONE", "$COVEY_TEST_NONE: no connection string is there"},
		"nobody there":  {"", "COVEY_TEST_DSN", "$COVEY_TEST_DSN: cannot connect: dial 127.0.0.1:" + port + ": connect: connection refused"},
		"no socket":     {secret("host=/nonexistent password=hunter2"), "", "cannot connect: dial /nonexistent/.s.PGSQL.5432: connect: no such file or directory"},
		"no such host":  {secret("host=db.invalid password=hunter2 connect_timeout=5"), "", "cannot connect: the host's name is not known: db.invalid"},
		"a URL's fault": {secret("postgres://u:hunter2@127.0.0.1:99999/x"), "", "is no connection string"},
	} {
		count++
		s := Source{Query: &Query{SQL: "select 1 as a order by 1", DSNFile: c.file, DSNEnv: c.env, Timeout: time.Second}}
		_, err := Inspect(s, "", ReadOptions{})
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
		s.recipe(abRequest) // of a string that cannot be read it is a recipe too
	}
	t.Logf("figure: %d bad inputs: connection strings", count)
}

func FuzzOutermost(f *testing.F) {
	for _, s := range []string{"select 'a' order by \"b\"", "/* /* */ */ ( $x$ $x$ ) -- \n $1 $"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if top := outermost(sql); len(top) > len(sql) {
			t.Fatalf("%q of %q", top, sql)
		}
	})
}

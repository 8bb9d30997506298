package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/internal/dataset"
	"covey/test/cost"
	"covey/test/must"
	"covey/test/network"
)

// A connection string that cannot be used is refused in words that do not hold it.
func TestBadDSN(t *testing.T) {
	count := 0
	port := strings.TrimPrefix(must.Get(network.Free(1))(t)[0], "127.0.0.1:")
	secret := func(text string) string { return cost.File(t, "db.dsn", []byte(text)) }
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
		"a folder":      {t.TempDir(), "", "is not a file"},
		"empty":         {secret(" \n"), "", "holds no connection string"},
		"too long":      {secret(strings.Repeat(" ", maxDSN+1)), "", "is longer than 65536 bytes"},
		"no string":     {secret("hunter2"), "", "is not a connection string"},
		"bad key":       {secret("port=hunter2"), "", "is not a connection string"},
		"no variable":   {"", "COVEY_TEST_NONE", "$COVEY_TEST_NONE: holds no connection string"},
		"nobody there":  {"", "COVEY_TEST_DSN", "$COVEY_TEST_DSN: cannot connect: dial 127.0.0.1:" + port + ": connect: connection refused"},
		"no socket":     {secret("host=/nonexistent password=hunter2"), "", "cannot connect: dial /nonexistent/.s.PGSQL.5432: connect: no such file or directory"},
		"no such host":  {secret("host=db.invalid password=hunter2 connect_timeout=5"), "", "cannot connect: the host's name is not known: db.invalid"},
		"a URL's fault": {secret("postgres://u:hunter2@127.0.0.1:99999/x"), "", "is not a connection string"},
	} {
		count++
		s := dataset.Source{Query: &dataset.Query{SQL: "select 1 as a order by 1", DSNFile: c.file, DSNEnv: c.env, Timeout: time.Second}}
		_, err := dataset.Inspect(s, "", dataset.ReadOptions{})
		if _, ok := errors.AsType[*dataset.Error](err); !ok || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
		driver{}.Describe(*s.Query, func(string) {}) // of a string that cannot be read too
	}
	t.Logf("figure: %d bad inputs: connection strings", count)
}

// Whatever the connection string: nothing of it in an error, and no panic.
func FuzzDSN(f *testing.F) {
	for _, s := range []string{"host=db.example user=covey dbname=clinic sslmode=verify-full password=swordfish", "postgres://u:swordfish@h:1/d?sslmode=disable", "postgres://[::1]:x/", "host='a b", "service=x", "  "} {
		f.Add(s)
	}
	for _, name := range []string{"PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGSERVICE", "PGDATABASE", "PGSSLMODE"} {
		f.Setenv(name, "") // a fuzzing machine's own
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "x.dsn")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		q := dataset.Query{DSNFile: path, SQL: "SELECT 1"}
		c, err := config(q)
		if e, ok := errors.AsType[*dataset.Error](err); err != nil && (!ok || e.File != path || c != nil) {
			t.Fatalf("%#v", err)
		}
		if err != nil && err.Error() != (&dataset.Error{File: path, Reason: "holds no connection string"}).Error() &&
			!strings.Contains(err.Error(), "is not a connection string, such as") && !strings.Contains(err.Error(), "is longer than") {
			t.Fatal(err)
		}
		driver{}.Describe(q, func(string) {})
	})
}

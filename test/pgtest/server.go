//go:build postgres

// Package pgtest starts a PostgreSQL server for tests under the build tag postgres. They need
// Debian's postgresql, or any whose initdb and postgres are in PATH or in
// /usr/lib/postgresql/*/bin.
package pgtest

import (
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"covey/test/dbtest"
)

// program finds a program of PostgreSQL's server.
func program(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Fatalf("no %s: install postgresql", name)
	}
	return found[len(found)-1]
}

// Server starts a server of the test's own in a folder of its own, reached by a socket there, and
// gives a superuser's connection and a connection string for a user who may only read.
func Server(t testing.TB) (admin *pgconn.PgConn, dsn string) {
	t.Helper()
	server := dbtest.New(t, "postgres")
	dir := server.Dir
	password := rand.Text()
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(password), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	server.Run(program(t, "initdb"), "-D", data, "-U", "admin", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--no-sync", "--locale", "C")
	server.Serve(syscall.SIGINT, program(t, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "timezone=Asia/Tokyo", "-c", "datestyle=German")
	base := "host=" + dir + " dbname=postgres sslmode=disable "
	server.Await(func(ctx context.Context) (err error) {
		admin, err = pgconn.Connect(ctx, base+"user=admin password="+password)
		return err
	})
	t.Cleanup(func() { admin.Close(context.Background()) })
	Do(t, admin, "create role reader login password 'r"+password+"'")
	return admin, base + "user=reader password=r" + password
}

// Do runs statements.
func Do(t testing.TB, c *pgconn.PgConn, sql string) {
	t.Helper()
	if err := c.Exec(t.Context(), sql).Close(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

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
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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
	dir, err := os.MkdirTemp("", "covey-pg-") // a short name: sockets want one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var as *syscall.SysProcAttr
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		who, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(who.Uid)
		gid, _ := strconv.Atoi(who.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	password := rand.Text()
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(password), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	command := exec.Command(program(t, "initdb"), "-D", data, "-U", "admin", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--no-sync", "--locale", "C")
	command.SysProcAttr, command.Dir = as, dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := exec.Command(program(t, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "timezone=Asia/Tokyo", "-c", "datestyle=German")
	server.SysProcAttr, server.Dir = as, dir
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGINT)
		server.Wait()
		log.Close()
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	base := "host=" + dir + " dbname=postgres sslmode=disable "
	for {
		admin, err = pgconn.Connect(ctx, base+"user=admin password="+password)
		if err == nil {
			break
		}
		select { // no word comes when a server is ready
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("%v\n%s", err, text)
		}
	}
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

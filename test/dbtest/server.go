//go:build postgres || mariadb

// Package dbtest is what tests of databases share: a server's folder, its user and its process.
package dbtest

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Server is a database server of the test's own, in a folder of its own.
type Server struct {
	Dir string
	t   testing.TB
	as  *syscall.SysProcAttr
	log *os.File
}

// New makes the folder of a server that refuses to run as root, and runs as owner then.
func New(t testing.TB, owner string) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "covey-db-") // a short name: sockets want one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{Dir: dir, t: t}
	if os.Getuid() != 0 {
		return s
	}
	who, err := user.Lookup(owner)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	s.as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	s.Own(dir)
	return s
}

// Own makes a file the server's.
func (s *Server) Own(path string) {
	s.t.Helper()
	if s.as == nil {
		return
	}
	if err := os.Chown(path, int(s.as.Credential.Uid), int(s.as.Credential.Gid)); err != nil {
		s.t.Fatal(err)
	}
}

// Run runs a program as the server's user.
func (s *Server) Run(program string, args ...string) {
	s.t.Helper()
	c := s.command(program, args)
	if out, err := c.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
}

func (s *Server) command(program string, args []string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.SysProcAttr, c.Dir = s.as, s.Dir
	return c
}

// Serve starts the server, which ends with the test, by end.
func (s *Server) Serve(end os.Signal, program string, args ...string) {
	s.t.Helper()
	c := s.command(program, args)
	var err error
	if s.log, err = os.Create(filepath.Join(s.Dir, "log")); err == nil {
		c.Stderr = s.log
		err = c.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		c.Process.Signal(end)
		c.Wait()
		s.log.Close()
	})
}

// Await waits until ready reports no error; the test ends with the server's log after a minute.
func (s *Server) Await(ready func(context.Context) error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return
		}
		select { // no word comes when a server is ready
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			text, _ := os.ReadFile(s.log.Name())
			s.t.Fatalf("%v\n%s", err, text)
		}
	}
}

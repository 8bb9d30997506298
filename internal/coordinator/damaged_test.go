//go:build linux

package coordinator

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/replica"
)

// shelves returns paths under which the process can open its files without a name in a folder.
func shelves(t *testing.T, dir string) (out []string) {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		path := "/proc/self/fd/" + e.Name()
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, dir+"/.shelf-") && strings.HasSuffix(to, " (deleted)") {
			out = append(out, path)
		}
	}
	return out
}

// TestDamagedShelf: if the disk changes what is on a shelf, or cuts its file, damaged bytes do not
// pass for the study: its result, its page and a snapshot are refused. The log stays, and a restart
// recovers everything. Entries, lists and other studies' results go on.
func TestDamagedShelf(t *testing.T) {
	s := newStory(t, nil, 4)
	for name, damage := range map[string]func(*os.File, int64) error{
		"a byte":      func(f *os.File, size int64) error { _, err := f.WriteAt([]byte("~"), size-7); return err },
		"zeros":       func(f *os.File, size int64) error { _, err := f.WriteAt(make([]byte, 512), size-512); return err },
		"a shorter":   func(f *os.File, size int64) error { return f.Truncate(size - 1) },
		"one of ends": func(f *os.File, size int64) error { return f.Truncate(size / 2) },
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && (name == "zeros" || name == "a shorter") {
				t.Skip("one byte that is changed and half a file stay")
			}
			dir := t.TempDir()
			var logged bytes.Buffer
			open := func() (*Coordinator, *replica.Node) {
				m, err := NewMachineIn(dir)
				if err != nil {
					t.Fatal(err)
				}
				node, err := replica.Open(dir, m, replica.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return New(Options{Authority: s.auth, Machine: m, Logger: slog.New(slog.NewTextHandler(&logged, nil))}), node
			}
			read := func(c *Coordinator, d proposal.Digest) []byte {
				r, err := c.Result(d)
				if err != nil {
					t.Fatal(err)
				}
				file, err := r.File()
				if err != nil {
					t.Fatal(err)
				}
				return file
			}
			c, node := open()
			apply := func(line []byte) {
				answer, err := node.Apply(context.Background(), line)
				if refused, ok := answer.(error); err != nil || ok {
					t.Fatal(err, refused)
				}
			}
			for _, line := range s.members {
				apply(line)
			}
			first := s.tell(t, 1, -1, apply)
			if err := node.Snapshot(); err != nil {
				t.Fatal(err)
			}
			second := s.tell(t, 2, -1, apply)
			wantFirst, wantSecond := read(c, first), read(c, second)
			write, err := c.ResultFile(second)
			if err != nil {
				t.Fatal(err)
			}

			found := shelves(t, dir)
			if len(found) != 1 {
				t.Fatalf("%d shelves", len(found))
			}
			f, err := os.OpenFile(found[0], os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			at, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(f, at.Size()); err != nil {
				t.Fatal(err)
			}
			f.Close()

			if _, err := c.Result(second); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("study %s cannot be read again", second)) {
				t.Errorf("its result: %v", err)
			}
			logged.Reset()
			if err := write(io.Discard); err == nil {
				t.Error("its result is written")
			}
			if text := logged.String(); strings.Count(text, "a result cannot be put together") != 1 || !strings.Contains(text, "study="+second.String()) {
				t.Errorf("the reader sees a file that is cut off, and the log says %q", text)
			}
			if _, err := c.Body(second); err == nil {
				t.Error("its proposal is returned")
			}
			if _, ok := c.Story(second); ok {
				t.Error("its page is shown")
			}
			if name != "one of ends" && !bytes.Equal(read(c, first), wantFirst) {
				t.Error("another study's result is another one")
			}
			if err := node.Snapshot(); err == nil {
				t.Error("a snapshot is made of it")
			}
			third := s.tell(t, 3, -1, apply)
			wantThird := read(c, third)
			if n := len(c.Views()); n != 3 {
				t.Errorf("%d studies are listed", n)
			}
			c.Close()
			if err := node.Close(); err != nil {
				t.Fatal(err)
			}

			c, node = open()
			defer node.Close()
			defer c.Close()
			if err := node.Barrier(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(read(c, first), wantFirst) || !bytes.Equal(read(c, second), wantSecond) || !bytes.Equal(read(c, third), wantThird) {
				t.Error("a result is another one after a restart")
			}
			if err := node.Snapshot(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestShelvesAreGivenBack: a snapshot that was asked for before the state was replaced is written
// as of then, from a shelf that stays as long as that takes. Once nobody reads it, its file and its
// space are given back.
func TestShelvesAreGivenBack(t *testing.T) {
	s := newStory(t, nil, 4)
	dir := t.TempDir()
	m, err := NewMachineIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	apply := func(line []byte) {
		if refused, ok := m.Apply(line).(error); ok {
			t.Fatal(refused)
		}
	}
	for _, line := range s.members {
		apply(line)
	}
	s.tell(t, 1, -1, apply)
	s.tell(t, 2, -1, apply)
	whole, err := encoded(m)
	if err != nil {
		t.Fatal(err)
	}
	write, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		for _, raw := range [][]byte{whole, whole[:len(whole)-1], whole} {
			if err := restored(m, raw); (err == nil) != bytes.Equal(raw, whole) {
				t.Fatal(err)
			}
		}
	}
	if got, err := encoded(m); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("what was restored is another state: %v", err)
	}
	left := func(most int) (n int) {
		for range 100 { // files are closed behind the collector
			runtime.GC()
			if n = len(shelves(t, dir)); n <= most {
				break
			}
		}
		return n
	}
	if n := left(2); n != 2 {
		t.Errorf("%d shelves while a snapshot waits for its", n)
	}
	var got bytes.Buffer
	if err := write(&got); err != nil || !bytes.Equal(got.Bytes(), whole) {
		t.Errorf("a snapshot that was asked for before a restore is another one: %v", err)
	}
	if write = nil; left(1) != 1 {
		t.Error("a shelf that nobody reads is held")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("the folder holds %v, %v", names, err)
	}
	runtime.KeepAlive(m)
}

package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

// TestNewFileIsWholeOrNone: the file appears only once all of its content is there. A file that
// somebody else made meanwhile is not replaced. Where the content fails, nothing is left.
func TestNewFileIsWholeOrNone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.json")
	left := func(want string) {
		t.Helper()
		files, err := os.ReadDir(dir)
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("the folder has %q, want %q (%v)", got, want, err)
		}
	}
	broken := errors.New("the link broke")
	if err := CopyNew(path, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a part is %v", err)
	}
	left("")
	during := func(see func()) io.Reader {
		return io.MultiReader(strings.NewReader("first "), reader(func([]byte) (int, error) { see(); return 0, io.EOF }), strings.NewReader("last"))
	}
	if err := CopyNew(path, during(func() {
		if _, err := os.Lstat(path); err == nil {
			t.Error("a part has the file's name")
		}
	})); err != nil {
		t.Fatal(err)
	}
	left("result.json")
	if text, err := os.ReadFile(path); err != nil || string(text) != "first last" {
		t.Errorf("%q, %v", text, err)
	}
	if err := CopyNew(path, iotest.ErrReader(broken)); !Is[*InputError](err) {
		t.Errorf("over a file it is %v", err)
	}
	other := filepath.Join(dir, "result.jsonl")
	if err := CopyNew(other, during(func() { os.WriteFile(other, []byte("theirs"), 0o600) })); !Is[*InputError](err) {
		t.Errorf("over a file that was made meanwhile it is %v", err)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "theirs" {
		t.Errorf("%q, %v", text, err)
	}
	left("result.json result.jsonl")
}

// TestNoFileIsCalledMinus: who asks for "-" wants standard output, and finds no file of that name.
func TestNoFileIsCalledMinus(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := WriteNew("-", []byte("a")); !Is[*InputError](err) || !strings.Contains(err.Error(), "standard output") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat("-"); err == nil {
		t.Error("there is a file")
	}
	if err := WriteNew("./-", []byte("a")); err != nil {
		t.Error(err)
	}
}

// TestPipeIsReadTwice: what comes through a pipe can be read from its beginning again, as a file
// can, also where there is no folder for temporary files.
func TestPipeIsReadTwice(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, temporary := range []string{dir, filepath.Join(dir, "none")} {
		t.Setenv("TMPDIR", temporary)
		written := make(chan error)
		go func() { written <- os.WriteFile(path, []byte("text"), 0) }()
		f, err := OpenTwice(path)
		if err := errors.Join(err, <-written); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			text, err := io.ReadAll(f)
			if _, again := f.Seek(0, io.SeekStart); err != nil || again != nil || string(text) != "text" {
				t.Errorf("%s: %q, %v, %v", temporary, text, err, again)
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v stay, %v", names, err)
	}
}

// TestPipeWithoutEnd: of what never ends, no more is kept than the longest that is wanted, on the
// disk or in memory, and none of it stays.
func TestPipeWithoutEnd(t *testing.T) {
	dir := t.TempDir()
	for _, temporary := range []string{dir, filepath.Join(dir, "none")} {
		t.Setenv("TMPDIR", temporary)
		for size, want := range map[int64]bool{99: true, 100: true, 101: false, 1 << 40: false} {
			came := int64(0)
			endless := reader(func(p []byte) (int, error) { came += int64(len(p)); return len(p), nil })
			f, err := spool(io.LimitReader(endless, size), 100)
			if (err == nil) != want || err != nil && !Is[*InputError](err) {
				t.Errorf("%s: %d bytes: %v", temporary, size, err)
			}
			if err == nil {
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}
			if came > 101 {
				t.Errorf("%s: %d of %d bytes were read", temporary, came, size)
			}
		}
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 0 {
		t.Errorf("%v stay, %v", names, err)
	}
}

// TestStudyWithoutEnd: a study file that never ends is refused, and takes no memory.
func TestStudyWithoutEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		for line := []byte(strings.Repeat("#", 1<<16)); err == nil; {
			_, err = f.Write(line)
		}
		written <- errors.Join(err, f.Close())
	}()
	_, err := ReadStudy(path)
	if !Is[*InputError](err) || !strings.Contains(err.Error(), path+": longer than 16 MiB") {
		t.Errorf("it is %v", err)
	}
	if err := <-written; !errors.Is(err, syscall.EPIPE) {
		t.Errorf("writing it: %v", err)
	}
}

type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

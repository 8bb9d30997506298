package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// newFolder makes a folder of four small files, all of one time.
func newFolder(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "icu.parquet")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a.parquet", "B.parquet", "ä.parquet", "b.parquet"} {
		put(t, filepath.Join(dir, name), strings.Repeat("x", i+1))
	}
	return dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	before := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, before, before)); err != nil {
		t.Fatal(err)
	}
}

// The pin is over the files that count, in the order of their names' bytes, and over what they are
// called.
func TestFolderPin(t *testing.T) {
	dir := newFolder(t)
	for _, name := range []string{"_SUCCESS", ".part.crc", "_temporary.parquet"} {
		put(t, filepath.Join(dir, name), "ignored")
	}
	s := Source{Path: dir}
	got, err := s.pin(ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := binary.LittleEndian.AppendUint64([]byte("covey folder 1\n"), 4)
	for _, f := range [][2]string{{"B.parquet", "xx"}, {"a.parquet", "x"}, {"b.parquet", "xxxx"}, {"ä.parquet", "xxx"}} {
		want = append(binary.LittleEndian.AppendUint64(want, uint64(len(f[0]))), f[0]...)
		want = binary.LittleEndian.AppendUint64(want, uint64(len(f[1])))
		sum := sha256.Sum256([]byte(f[1]))
		want = append(want, sum[:]...)
	}
	if got != sha256.Sum256(want) {
		t.Error("another pin")
	}
	for _, change := range []func() error{
		func() error { return os.Rename(filepath.Join(dir, "b.parquet"), filepath.Join(dir, "c.parquet")) },
		func() error { return os.Remove(filepath.Join(dir, "c.parquet")) },
		func() error { return os.WriteFile(filepath.Join(dir, "d.parquet"), nil, 0o600) },
		func() error { return os.WriteFile(filepath.Join(dir, "d.parquet"), []byte("y"), 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		now, err := s.pin(ReadOptions{})
		if err != nil || now == got {
			t.Errorf("the same pin, %v", err)
		}
		got = now
	}
}

// What is not a file of the data set is refused, without a word of any name.
func TestFolderHolds(t *testing.T) {
	for name, c := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"a partition":      {func(dir string) error { return os.Mkdir(filepath.Join(dir, "patient_id=12345"), 0o700) }, "holds folders named KEY=VALUE"},
		"a folder":         {func(dir string) error { return os.Mkdir(filepath.Join(dir, "12345"), 0o700) }, "holds a folder"},
		"delta":            {func(dir string) error { return os.Mkdir(filepath.Join(dir, "_delta_log"), 0o700) }, "is a Delta or Hudi table"},
		"another format":   {func(dir string) error { return os.WriteFile(filepath.Join(dir, "ab12345.csv"), nil, 0o600) }, ": file 3 of 5: its name does not end in .parquet"},
		"symlink out":      {func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "12345.parquet")) }, ": file 1 of 5: cannot be read: path escapes from parent"},
		"symlink up":       {func(dir string) error { return os.Symlink("../x.parquet", filepath.Join(dir, "12345.parquet")) }, ": file 1 of 5: cannot be read: path escapes from parent"},
		"a dead symlink":   {func(dir string) error { return os.Symlink("12345", filepath.Join(dir, "12346.parquet")) }, ": file 1 of 5: cannot be read: no such file"},
		"a folder by link": {func(dir string) error { return os.Symlink(".", filepath.Join(dir, "12345.parquet")) }, ": file 1 of 5: is not a file"},
		"nothing": {func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "_SUCCESS"), nil, 0o600))
		}, "holds no Parquet files"},
		"too many": {func(dir string) error {
			for i := range maxFiles {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.parquet", i)), nil, 0o600); err != nil {
					return err
				}
			}
			return nil
		}, "holds over 10000 files"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "too many" {
				t.Skip("makes 10,000 files")
			}
			if runtime.GOOS == "windows" {
				t.Skip("symlinks need a right there")
			}
			dir := newFolder(t)
			if err := c.make(dir); err != nil {
				t.Fatal(err)
			}
			s := Source{Path: dir}
			_, pin := s.pin(ReadOptions{})
			_, err := Inspect(s, "", ReadOptions{})
			if pin == nil || err == nil || pin.Error() != err.Error() || !strings.Contains(err.Error(), c.want) || strings.Contains(strings.ReplaceAll(err.Error(), dir, ""), "1234") {
				t.Errorf("pin: %v, read: %v", pin, err)
			}
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("%T", err)
			}
		})
	}
}

// A folder that is changed at any step is no data set: before its files are opened, between two of
// them, before it is listed again.
func TestFolderChanges(t *testing.T) {
	at := func(dir, name string) string { return filepath.Join(dir, name) }
	for name, change := range map[string]func(dir string) error{
		"added":      func(dir string) error { return os.WriteFile(at(dir, "Z.parquet"), []byte("x"), 0o600) },
		"added last": func(dir string) error { return os.WriteFile(at(dir, "zz.parquet"), []byte("x"), 0o600) },
		"removed":    func(dir string) error { return os.Remove(at(dir, "b.parquet")) },
		"renamed":    func(dir string) error { return os.Rename(at(dir, "b.parquet"), at(dir, "c.parquet")) },
		"replaced": func(dir string) error { // by one of equal length and time
			put(t, at(dir, ".new"), "yyyy")
			return os.Rename(at(dir, ".new"), at(dir, "b.parquet"))
		},
		"swapped": func(dir string) error {
			return errors.Join(os.Rename(at(dir, "a.parquet"), at(dir, ".t")), os.Rename(at(dir, "b.parquet"), at(dir, "a.parquet")), os.Rename(at(dir, ".t"), at(dir, "b.parquet")))
		},
		"written to": func(dir string) error { return os.WriteFile(at(dir, "B.parquet"), []byte("yy"), 0o600) },
		"longer":     func(dir string) error { return os.WriteFile(at(dir, "ä.parquet"), []byte("xxxxx"), 0o600) },
		"a folder":   func(dir string) error { return os.Mkdir(at(dir, "k=1"), 0o700) },
	} {
		steps := []string{"listed", "opened", "first read", "all read"}
		for step := range steps {
			dir := newFolder(t)
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			f := &folder{path: dir, root: root}
			now := func(at int) {
				if at == step {
					if err := change(dir); err != nil {
						t.Fatal(err)
					}
				}
			}
			err = func() error {
				if f.names, err = f.list(); err != nil {
					return err
				}
				now(0)
				if err := f.open(ReadOptions{}); err != nil {
					return err
				}
				now(1)
				for i, part := range f.parts {
					if err := f.took(part); err != nil {
						return err
					}
					if i == 0 {
						now(2)
					}
				}
				now(3)
				_, err := f.pin()
				return err
			}()
			f.close()
			// What was replaced or written to before it was opened is what was read.
			if step == 0 && (name == "replaced" || name == "swapped" || name == "written to" || name == "longer") {
				if err != nil {
					t.Errorf("%s when %s: %v", name, steps[step], err)
				}
				continue
			}
			if err == nil || step > 0 && !strings.Contains(err.Error(), "changed while it was read") {
				t.Errorf("%s when %s: %v", name, steps[step], err)
			}
		}
	}
}

// A stamp tells every change but one that hides its size and time.
func TestFolderStamp(t *testing.T) {
	dir := newFolder(t)
	s := Source{Path: dir}
	old, err := s.Stamp()
	if err != nil || old.Size != 10 {
		t.Fatal(old, err)
	}
	for _, change := range []func() error{
		func() error { return os.Rename(filepath.Join(dir, "b.parquet"), filepath.Join(dir, "c.parquet")) },
		func() error { return os.Remove(filepath.Join(dir, "c.parquet")) },
		func() error { return os.WriteFile(filepath.Join(dir, "B.parquet"), []byte("yy"), 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		now, err := s.Stamp()
		if err != nil || now.Same(old) || !now.Same(now) {
			t.Errorf("%+v, %v", now, err)
		}
		old = now
	}
}

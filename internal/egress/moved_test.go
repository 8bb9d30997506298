package egress

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMovedRecord: a message is not recorded, and so not sent, while the file was moved, deleted,
// replaced or cut since the agent opened it. Once the file itself is back, the record goes on. A
// copy in its place counts only from the next start.
func TestMovedRecord(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		rotate func(path string) error
		back   bool
		copied bool
	}{
		{"moved", func(path string) error { return os.Rename(path, path+".1") }, true, false},
		{"moved, and a new one made", func(path string) error {
			if err := os.Rename(path, path+".1"); err != nil {
				return err
			}
			return os.WriteFile(path, nil, 0o600)
		}, true, false},
		{"copied, and cut", func(path string) error {
			text, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".1", text, 0o600), os.Truncate(path, 0))
		}, true, true},
		{"deleted", os.Remove, false, false},
		{"cut", func(path string) error { return os.Truncate(path, 0) }, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, File)
			var logged strings.Builder
			e, err := Open(dir, slog.New(slog.NewTextHandler(&logged, nil)))
			must(t, err)
			hello := Line{Kind: "hello", Bytes: 5}.Of([]byte("hello"))
			must(t, e.Record(hello, moment))
			must(t, c.rotate(path))
			for range 2 {
				if err := e.Record(hello, moment); err == nil || !strings.Contains(err.Error(), "put it back, start the agent again") {
					t.Errorf("recorded: %v", err)
				}
			}
			if n := strings.Count(logged.String(), "cannot be written"); n != 1 {
				t.Errorf("logged %d times", n)
			}
			if got := e.Snapshot().Link["hello"].Messages; got != 1 {
				t.Errorf("%d counted", got)
			}
			want := 0
			if c.back {
				want = 2
				must(t, os.Rename(path+".1", path))
				if c.copied {
					must(t, e.Close())
					e, err = Open(dir, slog.New(slog.DiscardHandler))
					must(t, err)
				}
				must(t, e.Record(hello, moment))
			}
			must(t, e.Close())
			e, err = Open(dir, slog.New(slog.DiscardHandler))
			must(t, err)
			if anew := e.Anew(moment); anew == c.back {
				t.Errorf("begun anew: %v", anew)
			}
			must(t, e.Close())
			if got, err := Verify(dir, "", nil); err != nil || got.Messages != want || got.Anew.IsZero() != c.back {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

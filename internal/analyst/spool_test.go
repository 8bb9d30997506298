package analyst

import (
	"os"
	"path/filepath"
	"testing"

	"covey/test/cost"
)

// TestSpool: a result is kept in no folder, whether that can be written to or not.
func TestSpool(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", other)
	for _, in := range []string{dir, cost.File(t, "file", nil)} { // in a file nothing can be made
		f, err := spool(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("a result")); err != nil {
			t.Error(err)
		}
		for _, d := range []string{dir, other} {
			if left, err := os.ReadDir(d); err != nil || len(left) > 0 {
				t.Errorf("%v is left; %v", left, err)
			}
		}
		f.Close()
	}
	t.Setenv("TMPDIR", filepath.Join(other, "none"))
	if f, err := spool(filepath.Join(dir, "none")); err == nil {
		t.Error(f.Name())
	}
}

package memory

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestFree: a machine has memory left, less than a petabyte.
func TestFree(t *testing.T) {
	if n, ok := Free(); !ok || n < 1<<20 || n > 1<<50 {
		t.Errorf("%d bytes are free, %v", n, ok)
	}
}

// TestGroupsLimit: a control group leaves its limit less its use, file cache not counted as used; a
// group without a limit does not count.
func TestGroupsLimit(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("memory.max", "max\n")
	write("memory.current", "600\n")
	write("memory.stat", "anon 300\ninactive_file 200\nactive_file 50\nfile 250\n")
	if n, ok := leftIn(dir); ok {
		t.Errorf("no limit leaves %d", n)
	}
	write("memory.max", "1000\n")
	if n, ok := leftIn(dir); !ok || n != 650 {
		t.Errorf("it leaves %d, %v", n, ok)
	}
	write("memory.max", "300\n")
	if n, ok := leftIn(dir); !ok || n != 0 {
		t.Errorf("it leaves %d, %v", n, ok)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "memory.max"))); err != nil {
		t.Fatal(err)
	}
	if _, ok := leftIn(dir); ok {
		t.Error("what has no file has a limit")
	}
}

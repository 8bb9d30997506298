package fsync

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// TestDir: a directory can be synced, and one that is not there is told.
func TestDir(t *testing.T) {
	dir := t.TempDir()
	if err := Dir(dir); err != nil {
		t.Error(err)
	}
	if err := Dir(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of an absent one: %v", err)
	}
}
